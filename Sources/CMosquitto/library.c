// SPDX-License-Identifier: Apache-2.0

#include "CMosquitto.h"

#include <dlfcn.h>

// The functions of libmosquitto that this program uses: result type, name, parameters, arguments.
#define FUNCTIONS(EACH)                                                                                                \
    EACH(int, lib_init, (void), ())                                                                                    \
    EACH(struct mosquitto *, new, (const char *id, bool clean, void *owner), (id, clean, owner))                       \
    EACH(void, destroy, (struct mosquitto *m), (m))                                                                    \
    EACH(int, threaded_set, (struct mosquitto *m, bool on), (m, on))                                                   \
    EACH(int, int_option, (struct mosquitto *m, enum mosq_opt_t option, int value), (m, option, value))                \
    EACH(int, max_inflight_messages_set, (struct mosquitto *m, unsigned int count), (m, count))                        \
    EACH(int, will_set,                                                                                                \
         (struct mosquitto *m, const char *topic, int count, const void *bytes, int quality, bool retain),             \
         (m, topic, count, bytes, quality, retain))                                                                    \
    EACH(int, username_pw_set, (struct mosquitto *m, const char *user, const char *password), (m, user, password))     \
    EACH(int, tls_set,                                                                                                 \
         (struct mosquitto *m, const char *file, const char *path, const char *certificate, const char *key,           \
          int (*password)(char *bytes, int size, int flag, void *owner)),                                              \
         (m, file, path, certificate, key, password))                                                                  \
    EACH(int, connect_async, (struct mosquitto *m, const char *host, int port, int seconds),                           \
         (m, host, port, seconds))                                                                                     \
    EACH(int, disconnect, (struct mosquitto *m), (m))                                                                  \
    EACH(int, loop, (struct mosquitto *m, int milliseconds, int packets), (m, milliseconds, packets))                  \
    EACH(int, socket, (struct mosquitto *m), (m))                                                                      \
    EACH(int, subscribe, (struct mosquitto *m, int *number, const char *filter, int quality),                          \
         (m, number, filter, quality))                                                                                 \
    EACH(int, publish,                                                                                                 \
         (struct mosquitto *m, int *number, const char *topic, int count, const void *bytes, int quality,              \
          bool retain),                                                                                                \
         (m, number, topic, count, bytes, quality, retain))                                                            \
    EACH(void, connect_callback_set,                                                                                   \
         (struct mosquitto *m, void (*callback)(struct mosquitto *, void *, int)), (m, callback))                      \
    EACH(void, subscribe_callback_set,                                                                                 \
         (struct mosquitto *m, void (*callback)(struct mosquitto *, void *, int, int, const int *)),                   \
         (m, callback))                                                                                                \
    EACH(void, publish_callback_set,                                                                                   \
         (struct mosquitto *m, void (*callback)(struct mosquitto *, void *, int)), (m, callback))                      \
    EACH(void, message_callback_set,                                                                                   \
         (struct mosquitto *m,                                                                                         \
          void (*callback)(struct mosquitto *, void *, const struct mosquitto_message *)),                             \
         (m, callback))                                                                                                \
    EACH(void, log_callback_set,                                                                                       \
         (struct mosquitto *m, void (*callback)(struct mosquitto *, void *, int, const char *)), (m, callback))        \
    EACH(const char *, strerror, (int code), (code))                                                                   \
    EACH(const char *, connack_string, (int code), (code))

/// OpenSSL's result of a certificate check (SSL_get_verify_result(3)). libmosquitto loads this library.
typedef long verify_result(const void *connection);

static void *(*ssl_of)(struct mosquitto *m);
static verify_result *result_of;

static struct {
#define FIELD(result, name, parameters, arguments) __typeof__(&mosquitto_##name) name;
    FUNCTIONS(FIELD)
} lib;

bool cmosquitto_load(void) {
    void *library = dlopen("libmosquitto.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
#define LOOK_UP(result, name, parameters, arguments) \
    lib.name = (__typeof__(&mosquitto_##name))dlsym(library, "mosquitto_" #name); \
    if (!lib.name) return false;
    FUNCTIONS(LOOK_UP)
    // Without these two functions, errors are reported less precisely.
    ssl_of = (__typeof__(ssl_of))dlsym(library, "mosquitto_ssl_get");
    result_of = (verify_result *)dlsym(library, "SSL_get_verify_result");
    return lib.lib_init() == MOSQ_ERR_SUCCESS;
}

// The wrappers have libmosquitto's own names: its header declares them, and its manual documents them.
#define DEFINE(result, name, parameters, arguments) \
    result mosquitto_##name parameters { return lib.name arguments; }
FUNCTIONS(DEFINE)

// OpenSSL's X509_V_ERR_CERT_NOT_YET_VALID, _CERT_HAS_EXPIRED, _CRL_NOT_YET_VALID and _CRL_HAS_EXPIRED.
enum { FIRST_FAULT_OF_TIME = 9, LAST_FAULT_OF_TIME = 12 };

bool cmosquitto_is_out_of_time(struct mosquitto *m) {
    const void *connection = ssl_of && result_of ? ssl_of(m) : NULL;
    if (!connection) return false;
    long result = result_of(connection);
    return result >= FIRST_FAULT_OF_TIME && result <= LAST_FAULT_OF_TIME;
}
