// SPDX-License-Identifier: Apache-2.0

#include "CLibCurl.h"

#include <dlfcn.h>
#include <sys/socket.h>

// The functions of libcurl that are used. `curl_easy_header` exists since 7.84, CURLOPT_PROTOCOLS_STR since 7.85.
#define FUNCTIONS(EACH)                                                                                                \
    EACH(curl_global_init)                                                                                             \
    EACH(curl_easy_init)                                                                                               \
    EACH(curl_easy_cleanup)                                                                                            \
    EACH(curl_easy_setopt)                                                                                             \
    EACH(curl_easy_getinfo)                                                                                            \
    EACH(curl_easy_header)                                                                                             \
    EACH(curl_easy_strerror)                                                                                           \
    EACH(curl_slist_append)                                                                                            \
    EACH(curl_slist_free_all)                                                                                          \
    EACH(curl_multi_init)                                                                                              \
    EACH(curl_multi_cleanup)                                                                                           \
    EACH(curl_multi_add_handle)                                                                                        \
    EACH(curl_multi_remove_handle)                                                                                     \
    EACH(curl_multi_perform)                                                                                           \
    EACH(curl_multi_poll)                                                                                              \
    EACH(curl_multi_wakeup)                                                                                            \
    EACH(curl_multi_info_read)

static struct {
#define FIELD(name) __typeof__(&name) name;
    FUNCTIONS(FIELD)
} lib;

bool clibcurl_load(void) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
#define LOOK_UP(name)                                                                                                  \
    lib.name = (__typeof__(&name))dlsym(library, #name);                                                               \
    if (!lib.name) return false;
    FUNCTIONS(LOOK_UP)
    return lib.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

const char *clibcurl_error_text(CURLcode code) {
    return lib.curl_easy_strerror ? lib.curl_easy_strerror(code) : "libcurl is missing: sudo apt-get install libcurl4";
}

CURLM *clibcurl_multi_init(void) { return lib.curl_multi_init(); }
void clibcurl_multi_cleanup(CURLM *multi) { lib.curl_multi_cleanup(multi); }

// In Debian 12, programs started during a transfer inherit libcurl's sockets, which then stay open as long as they run.
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)context, (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

CURL *clibcurl_easy_init(void) {
    CURL *easy = lib.curl_easy_init();
    if (easy) lib.curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    return easy;
}
void clibcurl_easy_cleanup(CURL *easy) { lib.curl_easy_cleanup(easy); }

struct curl_slist *clibcurl_list(const char *line) { return lib.curl_slist_append(NULL, line); }
void clibcurl_list_free(struct curl_slist *list) { lib.curl_slist_free_all(list); }

CURLcode clibcurl_set_number(CURL *easy, CURLoption option, long value) {
    return lib.curl_easy_setopt(easy, option, value);
}
CURLcode clibcurl_set_text(CURL *easy, CURLoption option, const char *value) {
    return lib.curl_easy_setopt(easy, option, value);
}
CURLcode clibcurl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return lib.curl_easy_setopt(easy, option, value);
}
CURLcode clibcurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return lib.curl_easy_setopt(easy, option, value);
}
CURLcode clibcurl_set_reader(CURL *easy, CURLoption option, clibcurl_reader value) {
    return lib.curl_easy_setopt(easy, option, value);
}

bool clibcurl_add(CURLM *multi, CURL *easy) { return lib.curl_multi_add_handle(multi, easy) == CURLM_OK; }
void clibcurl_remove(CURLM *multi, CURL *easy) { lib.curl_multi_remove_handle(multi, easy); }
bool clibcurl_perform(CURLM *multi, int *running) { return lib.curl_multi_perform(multi, running) == CURLM_OK; }
void clibcurl_poll(CURLM *multi, int milliseconds) { lib.curl_multi_poll(multi, NULL, 0, milliseconds, NULL); }
void clibcurl_wake(CURLM *multi) { lib.curl_multi_wakeup(multi); }

CURLcode clibcurl_result(CURLM *multi) {
    int left = 0;
    const CURLMsg *message = lib.curl_multi_info_read(multi, &left);
    return message && message->msg == CURLMSG_DONE ? message->data.result : CURLE_ABORTED_BY_CALLBACK;
}

long clibcurl_number(CURL *easy, CURLINFO info) {
    long value = 0;
    return lib.curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

const char *clibcurl_field(CURL *easy, const char *name) {
    struct curl_header *field = NULL;
    return lib.curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &field) == CURLHE_OK ? field->value : NULL;
}
