// SPDX-License-Identifier: Apache-2.0
//
// libcurl, and its functions with variable arguments once for each type that CoverArt uses: Swift cannot call those.

#ifndef CLIBCURL_SHIM_H
#define CLIBCURL_SHIM_H

#if !__has_include(<curl/curl.h>)
#error "RoadMesh needs the package libcurl4-openssl-dev: sudo apt-get install libcurl4-openssl-dev"
#endif

// The macros that check types need to see constants.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

/// What libcurl calls with a part of a response; less than `size * count` back ends the transfer.
typedef size_t (*clibcurl_reader)(char *bytes, size_t size, size_t count, void *context);

/// Sets an option that is a number.
static inline CURLcode clibcurl_set_number(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

/// Sets an option that is a text; libcurl copies it.
static inline CURLcode clibcurl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

/// Sets an option that is a pointer: the context of a reader.
static inline CURLcode clibcurl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

/// Sets an option that is a list of lines, which has to outlive the transfer.
static inline CURLcode clibcurl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

/// Sets an option that is a reader.
static inline CURLcode clibcurl_set_reader(CURL *handle, CURLoption option, clibcurl_reader value) {
    return curl_easy_setopt(handle, option, value);
}

/// Gives a number that libcurl knows of a transfer; 0 where it knows none.
static inline long clibcurl_number(CURL *handle, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}

#endif
