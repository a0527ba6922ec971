// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE // eventfd's flags with -std=c11

#include "CAvahi.h"

#include <CDBus.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SERVICE "org.freedesktop.Avahi"
#define SERVER "org.freedesktop.Avahi.Server"
#define GROUP "org.freedesktop.Avahi.EntryGroup"
#define BROWSER "org.freedesktop.Avahi.ServiceBrowser"
#define RESOLVER "org.freedesktop.Avahi.ServiceResolver"
#define NO_ERROR "org.freedesktop.Avahi.Success"
/// All interfaces, all protocols.
#define ANY (-1)
/// The daemon answers at once. It does not wait for other devices on the network.
#define CALL_MS 5000

/// Tags of calls. Tags of resolvers start after these.
enum { ASK_STATE, NEW_GROUP, PUT, IGNORED, NEW_BROWSER, NEW_RESOLVER };

struct cavahi {
    cdbus *bus;
    int wake;
    char owner[64];
};

// ---------------------------------------------------------------------------------------------------------------------
// Calls
// ---------------------------------------------------------------------------------------------------------------------

static bool is_text(const char *text) {
    return text && dbus_validate_utf8(text, NULL);
}

static int call(cavahi *avahi, DBusMessage *message, bool is_complete, int tag) {
    int64_t serial = cdbus_finish_call(avahi->bus, message, is_complete, tag, CALL_MS);
    return serial < 0 ? (int)serial : 0;
}

static DBusMessage *server_call(const char *member) {
    return cdbus_new_call(SERVICE, "/", SERVER, member);
}

static int call_object(cavahi *avahi, const char *path, const char *interface, const char *member, int tag) {
    if (!cdbus_is_path(path)) return -EINVAL;
    return call(avahi, cdbus_new_call(SERVICE, path, interface, member), true, tag);
}

int cavahi_ask_state(cavahi *avahi) {
    return call(avahi, server_call("GetState"), true, ASK_STATE);
}

int cavahi_new_group(cavahi *avahi) {
    return call(avahi, server_call("EntryGroupNew"), true, NEW_GROUP);
}

static bool append_place(DBusMessage *message, int interface, int protocol) {
    dbus_int32_t numbers[] = {interface, protocol};
    return message && dbus_message_append_args(message, DBUS_TYPE_INT32, &numbers[0], DBUS_TYPE_INT32, &numbers[1],
                                               DBUS_TYPE_INVALID);
}

static bool append_flags(DBusMessage *message) {
    dbus_uint32_t flags = 0;
    return dbus_message_append_args(message, DBUS_TYPE_UINT32, &flags, DBUS_TYPE_INVALID);
}

static bool append_service(DBusMessage *message, const char *name, const char *type, const char *domain) {
    return dbus_message_append_args(message, DBUS_TYPE_STRING, &name, DBUS_TYPE_STRING, &type, DBUS_TYPE_STRING, &domain,
                                    DBUS_TYPE_INVALID);
}

static bool append_string(DBusMessageIter *strings, const uint8_t *bytes, int count) {
    DBusMessageIter string;
    return dbus_message_iter_open_container(strings, DBUS_TYPE_ARRAY, "y", &string) &&
           dbus_message_iter_append_fixed_array(&string, DBUS_TYPE_BYTE, &bytes, count) &&
           dbus_message_iter_close_container(strings, &string);
}

static bool append_strings(DBusMessage *message, const uint8_t *txt, size_t txt_bytes) {
    DBusMessageIter arguments;
    DBusMessageIter strings;
    dbus_message_iter_init_append(message, &arguments);
    if (!dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "ay", &strings)) return false;
    for (size_t at = 0; at < txt_bytes; at += 1 + (size_t)txt[at]) {
        if (at + 1 + txt[at] > txt_bytes || !append_string(&strings, txt + at + 1, txt[at])) return false;
    }
    return dbus_message_iter_close_container(&arguments, &strings);
}

int cavahi_register(cavahi *avahi, const char *group, const char *name, const char *type, uint16_t port,
                    const uint8_t *txt, uint16_t txt_bytes) {
    if (!cdbus_is_path(group) || !is_text(name) || !is_text(type)) return -EINVAL;
    DBusMessage *message = cdbus_new_call(SERVICE, group, GROUP, "AddService");
    const char *host = "";
    bool is_complete = append_place(message, ANY, ANY) && append_flags(message) &&
                       append_service(message, name, type, "") &&
                       dbus_message_append_args(message, DBUS_TYPE_STRING, &host, DBUS_TYPE_UINT16, &port,
                                                DBUS_TYPE_INVALID) &&
                       append_strings(message, txt, txt_bytes);
    int status = call(avahi, message, is_complete, PUT);
    return status < 0 ? status : call_object(avahi, group, GROUP, "Commit", PUT);
}

int cavahi_update(cavahi *avahi, const char *group, const char *name, const char *type, const uint8_t *txt,
                  uint16_t txt_bytes) {
    if (!cdbus_is_path(group) || !is_text(name) || !is_text(type)) return -EINVAL;
    DBusMessage *message = cdbus_new_call(SERVICE, group, GROUP, "UpdateServiceTxt");
    bool is_complete = append_place(message, ANY, ANY) && append_flags(message) &&
                       append_service(message, name, type, "") && append_strings(message, txt, txt_bytes);
    return call(avahi, message, is_complete, PUT);
}

int cavahi_reset(cavahi *avahi, const char *group) {
    return call_object(avahi, group, GROUP, "Reset", IGNORED);
}

int cavahi_browse(cavahi *avahi, const char *type) {
    if (!is_text(type)) return -EINVAL;
    const char *domain = "";
    DBusMessage *message = server_call("ServiceBrowserNew");
    bool is_complete = append_place(message, ANY, ANY) &&
                       dbus_message_append_args(message, DBUS_TYPE_STRING, &type, DBUS_TYPE_STRING, &domain,
                                                DBUS_TYPE_INVALID) &&
                       append_flags(message);
    return call(avahi, message, is_complete, NEW_BROWSER);
}

int cavahi_resolve(cavahi *avahi, int tag, int interface, int protocol, const char *name, const char *type,
                   const char *domain) {
    if (tag < 0 || !is_text(name) || !is_text(type) || !is_text(domain)) return -EINVAL;
    dbus_int32_t address_protocol = protocol;
    DBusMessage *message = server_call("ServiceResolverNew");
    bool is_complete = append_place(message, interface, protocol) && append_service(message, name, type, domain) &&
                       dbus_message_append_args(message, DBUS_TYPE_INT32, &address_protocol, DBUS_TYPE_INVALID) &&
                       append_flags(message);
    return call(avahi, message, is_complete, NEW_RESOLVER + tag);
}

int cavahi_free_browser(cavahi *avahi, const char *path) {
    return call_object(avahi, path, BROWSER, "Free", IGNORED);
}

int cavahi_free_resolver(cavahi *avahi, const char *path) {
    return call_object(avahi, path, RESOLVER, "Free", IGNORED);
}

// ---------------------------------------------------------------------------------------------------------------------
// Events
// ---------------------------------------------------------------------------------------------------------------------

static bool read_number(DBusMessageIter *from, int *number) {
    dbus_int32_t value;
    if (!cdbus_has_type(from, DBUS_TYPE_INT32)) return false;
    dbus_message_iter_get_basic(from, &value);
    *number = value;
    dbus_message_iter_next(from);
    return true;
}

// Returns false if the text does not fit: a cut name would be another name.
static bool read_text(DBusMessageIter *from, char *out, size_t size) {
    const char *text = cdbus_text_of(from);
    if (!text || strlen(text) >= size) return false;
    cdbus_copy_text(out, size, text);
    dbus_message_iter_next(from);
    return true;
}

static bool skip_text(DBusMessageIter *from) {
    if (!cdbus_text_of(from)) return false;
    dbus_message_iter_next(from);
    return true;
}

static bool read_port(DBusMessageIter *from, uint16_t *port) {
    if (!cdbus_has_type(from, DBUS_TYPE_UINT16)) return false;
    dbus_message_iter_get_basic(from, port);
    dbus_message_iter_next(from);
    return true;
}

static bool read_strings(DBusMessageIter *from, cavahi_event *event) {
    DBusMessageIter strings;
    if (!cdbus_enter_array(from, "aay", &strings)) return false;
    for (; cdbus_has_type(&strings, DBUS_TYPE_ARRAY); dbus_message_iter_next(&strings)) {
        DBusMessageIter string;
        const uint8_t *bytes;
        int count;
        dbus_message_iter_recurse(&strings, &string);
        dbus_message_iter_get_fixed_array(&string, &bytes, &count);
        if (count > UINT8_MAX || event->txt_bytes + 1 + count > CAVAHI_TXT) return false;
        event->txt[event->txt_bytes++] = (uint8_t)count;
        if (count > 0) memcpy(event->txt + event->txt_bytes, bytes, (size_t)count);
        event->txt_bytes += (uint16_t)count;
    }
    return true;
}

static bool read_service(DBusMessageIter *from, cavahi_event *event) {
    return read_number(from, &event->interface) && read_number(from, &event->protocol) &&
           read_text(from, event->name, sizeof event->name) && skip_text(from) &&
           read_text(from, event->domain, sizeof event->domain);
}

static bool take_found(DBusMessage *signal, cavahi_event *event) {
    if (!dbus_message_has_signature(signal, "iissssisqaayu")) return false;
    DBusMessageIter arguments;
    dbus_message_iter_init(signal, &arguments);
    int protocol;
    return read_service(&arguments, event) && skip_text(&arguments) && read_number(&arguments, &protocol) &&
           read_text(&arguments, event->address, sizeof event->address) && read_port(&arguments, &event->port) &&
           read_strings(&arguments, event);
}

static bool take_service(DBusMessage *signal, cavahi_event *event) {
    if (!dbus_message_has_signature(signal, "iisssu")) return false;
    DBusMessageIter arguments;
    dbus_message_iter_init(signal, &arguments);
    return read_service(&arguments, event);
}

// Avahi also sends an error name on success.
static bool take_state(DBusMessage *signal, cavahi_event *event) {
    DBusMessageIter arguments;
    if (!dbus_message_iter_init(signal, &arguments) || !read_number(&arguments, &event->state) ||
        !read_text(&arguments, event->error, sizeof event->error)) {
        return false;
    }
    if (strcmp(event->error, NO_ERROR) == 0) event->error[0] = '\0';
    return true;
}

static bool take_failure(DBusMessage *signal, cavahi_event *event) {
    DBusMessageIter arguments;
    return dbus_message_iter_init(signal, &arguments) && read_text(&arguments, event->error, sizeof event->error);
}

static bool take_owner(DBusMessage *signal, cavahi_event *event) {
    const char *name;
    const char *old;
    const char *new;
    if (!dbus_message_get_args(signal, NULL, DBUS_TYPE_STRING, &name, DBUS_TYPE_STRING, &old, DBUS_TYPE_STRING, &new,
                               DBUS_TYPE_INVALID)) {
        return false;
    }
    event->state = new[0] != '\0';
    return strcmp(name, SERVICE) == 0;
}

static const struct {
    const char *interface, *member;
    int kind;
    bool (*take)(DBusMessage *signal, cavahi_event *event);
} signals[] = {
    {DBUS_INTERFACE_DBUS, "NameOwnerChanged", CAVAHI_OWNER, take_owner},
    {SERVER, "StateChanged", CAVAHI_STATE, take_state},
    {GROUP, "StateChanged", CAVAHI_GROUP_STATE, take_state},
    {BROWSER, "ItemNew", CAVAHI_NEW, take_service},
    {BROWSER, "ItemRemove", CAVAHI_REMOVED, take_service},
    {BROWSER, "Failure", CAVAHI_BROWSER_FAILED, take_failure},
    {RESOLVER, "Found", CAVAHI_FOUND, take_found},
    {RESOLVER, "Failure", CAVAHI_RESOLVER_FAILED, take_failure},
};

static bool take_signal(DBusMessage *signal, cavahi_event *event) {
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        if (!dbus_message_is_signal(signal, signals[i].interface, signals[i].member)) continue;
        event->kind = signals[i].kind;
        const char *path = dbus_message_get_path(signal);
        if (path) cdbus_copy_text(event->path, sizeof event->path, path);
        return signals[i].take(signal, event);
    }
    return false;
}

static bool take_reply(const cdbus_item *item, cavahi_event *event) {
    static const int kinds[] = {CAVAHI_STATE, CAVAHI_GROUP, CAVAHI_DONE, 0, CAVAHI_BROWSER, CAVAHI_RESOLVER};
    event->kind = kinds[item->tag < NEW_RESOLVER ? item->tag : NEW_RESOLVER];
    event->tag = item->tag - NEW_RESOLVER;
    if (event->kind == 0) return false;
    if (item->error_name) {
        cdbus_copy_text(event->error, sizeof event->error, item->error_name);
        return true;
    }
    DBusMessageIter arguments;
    if (event->kind == CAVAHI_DONE) return true;
    if (!dbus_message_iter_init(item->message, &arguments)) return false;
    if (event->kind == CAVAHI_STATE) return read_number(&arguments, &event->state);
    const char *path = NULL;
    if (cdbus_has_type(&arguments, DBUS_TYPE_OBJECT_PATH)) dbus_message_iter_get_basic(&arguments, &path);
    if (!path || strlen(path) >= sizeof event->path) return false;
    cdbus_copy_text(event->path, sizeof event->path, path);
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// The connection
// ---------------------------------------------------------------------------------------------------------------------

int cavahi_open(cavahi **result) {
    cavahi *avahi = calloc(1, sizeof *avahi);
    if (!avahi) return -ENOMEM;
    avahi->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int status = avahi->wake < 0 ? -errno : cdbus_open(cdbus_system_address(), &avahi->bus, NULL);
    // Avahi sends its own signals only to the client that asked. NameOwnerChanged goes to all clients.
    if (status >= 0) {
        status = cdbus_add_match(avahi->bus, "type='signal',sender='" DBUS_SERVICE_DBUS "',member='NameOwnerChanged',"
                                             "arg0='" SERVICE "'");
    }
    if (status >= 0) {
        status = cdbus_add_match(avahi->bus, "type='signal',sender='" SERVICE "',interface='" SERVER "'");
    }
    if (status < 0) {
        cavahi_close(avahi);
        return status;
    }
    *result = avahi;
    return 0;
}

void cavahi_close(cavahi *avahi) {
    cdbus_close(avahi->bus);
    if (avahi->wake >= 0) close(avahi->wake);
    free(avahi);
}

int cavahi_process(cavahi *avahi) {
    // `cavahi_next` reports what came before the bus ended.
    cdbus_process(avahi->bus);
    return 0;
}

// Match rules do not keep other clients from sending a signal to us. The client that answers our calls owns the name.
static bool is_trusted(const cavahi *avahi, DBusMessage *signal) {
    const char *sender = dbus_message_get_sender(signal);
    return sender && (strcmp(sender, DBUS_SERVICE_DBUS) == 0 || strcmp(sender, avahi->owner) == 0);
}

// Learns the daemon's unique name from its replies.
static void learn_owner(cavahi *avahi, const cdbus_item *reply) {
    const char *sender = reply->message ? dbus_message_get_sender(reply->message) : NULL;
    if (sender && !reply->error_name) cdbus_copy_text(avahi->owner, sizeof avahi->owner, sender);
}

int cavahi_next(cavahi *avahi, cavahi_event *event) {
    cdbus_item item;
    int status;
    while ((status = cdbus_next(avahi->bus, &item)) == 1) {
        memset(event, 0, sizeof *event);
        if (item.kind == CDBUS_CLOSED) return -ECONNRESET;
        if (item.kind == CDBUS_REPLY) learn_owner(avahi, &item);
        if (item.kind == CDBUS_REPLY && take_reply(&item, event)) return 1;
        if (item.kind == CDBUS_SIGNAL && is_trusted(avahi, item.message) && take_signal(item.message, event)) return 1;
        if (item.kind == CDBUS_CALL) cdbus_refuse(avahi->bus, item.message, DBUS_ERROR_UNKNOWN_OBJECT, "no such object");
    }
    return status < 0 ? -ECONNRESET : 0;
}

int cavahi_wait(cavahi *avahi) {
    struct pollfd polled[2] = {
        {.fd = cdbus_descriptor(avahi->bus), .events = POLLIN},
        {.fd = avahi->wake, .events = POLLIN},
    };
    if (cdbus_wants_write(avahi->bus)) polled[0].events |= POLLOUT;
    if (poll(polled, 2, cdbus_next_deadline_ms(avahi->bus)) < 0 && errno != EINTR) return -errno;
    uint64_t wakes;
    while (read(avahi->wake, &wakes, sizeof wakes) > 0) {}
    return 0;
}

void cavahi_wake(cavahi *avahi) {
    uint64_t one = 1;
    while (write(avahi->wake, &one, sizeof one) < 0 && errno == EINTR) {}
}
