// SPDX-License-Identifier: Apache-2.0
//
// libcurl, loaded when the first cover is asked for: with the thirty libraries that it brings, it would take a third of the
// time in which every command starts. Functions with variable arguments are here once for each type that CoverArt uses.
// Nothing but clibcurl_load and clibcurl_error_text may be called where clibcurl_load has failed.

#ifndef CLIBCURL_H
#define CLIBCURL_H

#if !__has_include(<curl/curl.h>)
#error "RoadMesh needs the package libcurl4-openssl-dev: sudo apt-get install libcurl4-openssl-dev"
#endif

// The macros that check types need to see constants.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <stdbool.h>

/// What libcurl calls with a part of a response; less than `size * count` back ends the transfer.
typedef size_t (*clibcurl_reader)(char *bytes, size_t size, size_t count, void *context);

/// Loads libcurl and makes it ready. Once, on one thread. False where the system has no libcurl 4 of 7.85 or later.
bool clibcurl_load(void);

/// libcurl's words for a code.
const char *clibcurl_error_text(CURLcode code);

CURLM *clibcurl_multi_init(void);
void clibcurl_multi_cleanup(CURLM *multi);
CURL *clibcurl_easy_init(void);
void clibcurl_easy_cleanup(CURL *easy);

/// A list of one line; nil where there is no memory.
struct curl_slist *clibcurl_list(const char *line);
void clibcurl_list_free(struct curl_slist *list);

/// Sets an option that is a number.
CURLcode clibcurl_set_number(CURL *easy, CURLoption option, long value);
/// Sets an option that is a text; libcurl copies it.
CURLcode clibcurl_set_text(CURL *easy, CURLoption option, const char *value);
/// Sets an option that is a pointer: the context of a reader.
CURLcode clibcurl_set_pointer(CURL *easy, CURLoption option, void *value);
/// Sets an option that is a list of lines, which has to outlive the transfer.
CURLcode clibcurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value);
/// Sets an option that is a reader.
CURLcode clibcurl_set_reader(CURL *easy, CURLoption option, clibcurl_reader value);

bool clibcurl_add(CURLM *multi, CURL *easy);
void clibcurl_remove(CURLM *multi, CURL *easy);
/// Goes on with what is there, and says how many transfers run.
bool clibcurl_perform(CURLM *multi, int *running);
/// Returns with what comes, with libcurl's own deadlines, with clibcurl_wake, or after so many milliseconds.
void clibcurl_poll(CURLM *multi, int milliseconds);
/// From any thread.
void clibcurl_wake(CURLM *multi);
/// How the only transfer has ended; CURLE_ABORTED_BY_CALLBACK where it has not.
CURLcode clibcurl_result(CURLM *multi);

/// A number that libcurl knows of a transfer; 0 where it knows none.
long clibcurl_number(CURL *easy, CURLINFO info);
/// A field of a response's last head, valid until the next call; nil where there is none.
const char *clibcurl_field(CURL *easy, const char *name);

#endif
