// SPDX-License-Identifier: Apache-2.0
//
// libcurl, loaded when the first cover is requested. With its thirty libraries it would take a third of the start time
// of every command. Functions with variable arguments appear here once for each type that CoverArt uses. If
// clibcurl_load fails, only clibcurl_load and clibcurl_error_text may be called.

#ifndef CLIBCURL_H
#define CLIBCURL_H

#if !__has_include(<curl/curl.h>)
#error "RoadMesh needs the package libcurl4-openssl-dev: sudo apt-get install libcurl4-openssl-dev"
#endif

// The type-checking macros accept constants only.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <stdbool.h>

/// libcurl calls this with a part of a response. A result below `size * count` ends the transfer.
typedef size_t (*clibcurl_reader)(char *bytes, size_t size, size_t count, void *context);

/// Loads and initialises libcurl. Call it once, on one thread. Returns false if the system has no libcurl 4 of 7.85 or
/// later.
bool clibcurl_load(void);

/// libcurl's text for a code.
const char *clibcurl_error_text(CURLcode code);

CURLM *clibcurl_multi_init(void);
void clibcurl_multi_cleanup(CURLM *multi);
CURL *clibcurl_easy_init(void);
void clibcurl_easy_cleanup(CURL *easy);

/// A list of one line; NULL if out of memory.
struct curl_slist *clibcurl_list(const char *line);
void clibcurl_list_free(struct curl_slist *list);

/// Sets an option that is a number.
CURLcode clibcurl_set_number(CURL *easy, CURLoption option, long value);
/// Sets an option that is a text; libcurl copies it.
CURLcode clibcurl_set_text(CURL *easy, CURLoption option, const char *value);
/// Sets an option that is a pointer: the context of a reader.
CURLcode clibcurl_set_pointer(CURL *easy, CURLoption option, void *value);
/// Sets an option that is a list of lines. The list must outlive the transfer.
CURLcode clibcurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value);
/// Sets an option that is a reader.
CURLcode clibcurl_set_reader(CURL *easy, CURLoption option, clibcurl_reader value);

bool clibcurl_add(CURLM *multi, CURL *easy);
void clibcurl_remove(CURLM *multi, CURL *easy);
/// Continues the transfers, and reports how many are running.
bool clibcurl_perform(CURLM *multi, int *running);
/// Waits for data, for libcurl's own deadlines, for clibcurl_wake, or for this many milliseconds.
void clibcurl_poll(CURLM *multi, int milliseconds);
/// Ends a wait. Safe from any thread.
void clibcurl_wake(CURLM *multi);
/// The result of the only transfer; CURLE_ABORTED_BY_CALLBACK while it runs.
CURLcode clibcurl_result(CURLM *multi);

/// A number that libcurl has about a transfer; 0 if unknown.
long clibcurl_number(CURL *easy, CURLINFO info);
/// A header field of the latest response, valid until the next call. NULL without that field.
const char *clibcurl_field(CURL *easy, const char *name);

#endif
