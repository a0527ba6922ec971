// SPDX-License-Identifier: Apache-2.0
//
// libdbus's own dispatch, pending calls and timeouts need a main loop, so they are not used. Messages are taken off the
// connection one at a time, replies are matched by serial here, and deadlines are ours. dbus_threads_init_default is
// not needed for libdbus's locks and caches: since 1.7 every connection calls it.

#define _GNU_SOURCE // POLLRDHUP with -std=c11

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

#define SYSTEM_BUS "unix:path=/run/dbus/system_bus_socket"
/// libdbus reads 2 KB at a time. One `cdbus_process` reads at most this often.
#define READS 16

const char *cdbus_system_address(void) {
    // A program with file capabilities must not trust its caller's environment.
    const char *address = secure_getenv("DBUS_SYSTEM_BUS_ADDRESS");
    return address ? address : SYSTEM_BUS;
}

static int errno_of(const DBusError *error) {
    static const struct {
        const char *name;
        int code;
    } codes[] = {
        {DBUS_ERROR_FILE_NOT_FOUND, -ENOENT}, {DBUS_ERROR_NO_SERVER, -ECONNREFUSED},
        {DBUS_ERROR_ACCESS_DENIED, -EACCES},  {DBUS_ERROR_AUTH_FAILED, -EACCES},
        {DBUS_ERROR_BAD_ADDRESS, -EINVAL},    {DBUS_ERROR_NO_MEMORY, -ENOMEM},
        {DBUS_ERROR_LIMITS_EXCEEDED, -ENFILE},
    };
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (dbus_error_has_name(error, codes[i].name)) return codes[i].code;
    }
    return -EIO;
}

static int fail_open(cdbus *bus, int code, const char *text, char *error) {
    if (error) cdbus_copy_text(error, CDBUS_ERROR_TEXT, text);
    cdbus_close(bus);
    return code;
}

int cdbus_open(const char *address, cdbus **out, char *error) {
    cdbus *bus = calloc(1, sizeof *bus);
    if (!bus) return fail_open(NULL, -ENOMEM, "out of memory", error);
    bus->descriptor = -1;
    // By default libdbus makes the entire process ignore SIGPIPE. That is not needed, since its writes use
    // MSG_NOSIGNAL.
    dbus_connection_set_change_sigpipe(false);
    DBusError failure = DBUS_ERROR_INIT;
    bus->connection = dbus_connection_open_private(address, &failure);
    if (!bus->connection) {
        int code = fail_open(bus, errno_of(&failure), failure.message, error);
        dbus_error_free(&failure);
        return code;
    }
    dbus_connection_set_exit_on_disconnect(bus->connection, false);
    dbus_connection_set_max_received_size(bus->connection, CDBUS_RECEIVED_BYTES);
    dbus_connection_set_max_message_size(bus->connection, CDBUS_MESSAGE_BYTES);
    int descriptor;
    if (!dbus_connection_get_unix_fd(bus->connection, &descriptor)) {
        return fail_open(bus, -ENOTSUP, "the bus has no descriptor", error);
    }
    bus->descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (bus->descriptor < 0) return fail_open(bus, -errno, "no more descriptors", error);
    int64_t result = cdbus_send_call(bus, cdbus_new_bus_call("Hello", NULL), CDBUS_HELLO, CDBUS_OWN_CALL_MS);
    if (result < 0) return fail_open(bus, (int)result, "the greeting could not be queued", error);
    // We send the first bytes of the authentication. Without them the descriptor would never become readable.
    cdbus_process(bus);
    *out = bus;
    return 0;
}

void cdbus_close(cdbus *bus) {
    if (!bus) return;
    if (bus->current) dbus_message_unref(bus->current);
    if (bus->connection) {
        dbus_connection_close(bus->connection);
        dbus_connection_unref(bus->connection);
    }
    if (bus->descriptor >= 0) close(bus->descriptor);
    free(bus);
}

int cdbus_descriptor(const cdbus *bus) {
    return bus->descriptor;
}

static bool has_output(const cdbus *bus) {
    // During authentication all output waits for the bus. Polling for POLLOUT then would return at once, again and
    // again.
    return dbus_connection_get_is_authenticated(bus->connection) &&
           dbus_connection_has_messages_to_send(bus->connection);
}

bool cdbus_wants_write(const cdbus *bus) {
    // Messages that were read but not taken do not make the descriptor readable. It is almost always writable, though.
    return dbus_connection_get_dispatch_status(bus->connection) == DBUS_DISPATCH_DATA_REMAINS || has_output(bus);
}

// Longest wait for an authentication step that no readable descriptor announces. The step is then written at once.
enum { AUTHENTICATION_TURN_MS = 5 };

int cdbus_process(cdbus *bus) {
    for (int i = 0; i < READS && dbus_connection_read_write(bus->connection, 0); i++) {
        // The authentication takes turns, and one call reads a line of the bus or writes one of ours. After reading a
        // line we must write one, and no event would trigger that. If the second call reads the line, the next deadline
        // triggers the write.
        if (!dbus_connection_get_is_authenticated(bus->connection)) dbus_connection_read_write(bus->connection, 0);
        struct pollfd state = {.fd = bus->descriptor, .events = POLLIN};
        if (has_output(bus)) state.events |= POLLOUT;
        if (poll(&state, 1, 0) <= 0) break;
    }
    return dbus_connection_get_is_connected(bus->connection) ? 0 : -ENOTCONN;
}

int cdbus_next_deadline_ms(const cdbus *bus) {
    int64_t nearest = INT64_MAX;
    for (size_t i = 0; i < CDBUS_CALLS; i++) {
        const cdbus_call *call = &bus->calls[i];
        if (call->is_open && call->deadline_ms < nearest) nearest = call->deadline_ms;
    }
    if (bus->is_closed || nearest == INT64_MAX) return -1;
    int64_t left = nearest - cdbus_now_ms();
    if (!dbus_connection_get_is_authenticated(bus->connection) && left > AUTHENTICATION_TURN_MS) {
        left = AUTHENTICATION_TURN_MS;
    }
    return left < 0 ? 0 : (int)left;
}

// ---------------------------------------------------------------------------------------------------------------------
// Items
// ---------------------------------------------------------------------------------------------------------------------

static bool tell_ready(cdbus *bus, DBusMessage *reply, cdbus_item *item) {
    const char *name;
    if (!reply || dbus_message_get_type(reply) != DBUS_MESSAGE_TYPE_METHOD_RETURN ||
        !dbus_message_get_args(reply, NULL, DBUS_TYPE_STRING, &name, DBUS_TYPE_INVALID) ||
        !dbus_bus_set_unique_name(bus->connection, name)) {
        dbus_connection_close(bus->connection); // the bus refuses us, or it is not a bus: CLOSED follows
        return false;
    }
    item->kind = CDBUS_READY;
    return true;
}

// `reply` is NULL if no reply came; then `error_name` is set.
static bool end_call(cdbus *bus, cdbus_call *ended, DBusMessage *reply, const char *error_name, const char *text,
                     cdbus_item *item) {
    cdbus_call call = *ended;
    ended->is_open = false;
    if (call.tag == CDBUS_HELLO) return tell_ready(bus, reply, item);
    *item = (cdbus_item){
        .kind = CDBUS_REPLY,
        .tag = call.tag,
        .serial = call.serial,
        .message = reply,
        .error_name = error_name,
        .error_text = text,
    };
    return true;
}

static bool take_reply(cdbus *bus, DBusMessage *reply, cdbus_item *item) {
    uint32_t serial = dbus_message_get_reply_serial(reply);
    for (size_t i = 0; i < CDBUS_CALLS; i++) {
        cdbus_call *call = &bus->calls[i];
        if (!call->is_open || call->serial != serial) continue;
        if (dbus_message_get_type(reply) == DBUS_MESSAGE_TYPE_METHOD_RETURN) {
            return end_call(bus, call, reply, NULL, NULL, item);
        }
        return end_call(bus, call, reply, dbus_message_get_error_name(reply), cdbus_error_text(reply), item);
    }
    return false; // the reply came after its deadline
}

static bool take_message(cdbus *bus, DBusMessage *message, cdbus_item *item) {
    switch (dbus_message_get_type(message)) {
    case DBUS_MESSAGE_TYPE_METHOD_RETURN:
    case DBUS_MESSAGE_TYPE_ERROR:
        return take_reply(bus, message, item);
    case DBUS_MESSAGE_TYPE_SIGNAL:
        *item = (cdbus_item){.kind = CDBUS_SIGNAL, .message = message};
        return true;
    case DBUS_MESSAGE_TYPE_METHOD_CALL:
        *item = (cdbus_item){.kind = CDBUS_CALL, .message = message};
        return true;
    default:
        return false;
    }
}

// Returns NULL while too much output is queued, because a message may need an answer.
static DBusMessage *next_message(cdbus *bus) {
    if (dbus_connection_get_outgoing_size(bus->connection) > CDBUS_OUTGOING_BYTES) return NULL;
    return dbus_connection_pop_message(bus->connection);
}

static bool next_expired(cdbus *bus, cdbus_item *item) {
    int64_t now = cdbus_now_ms();
    for (size_t i = 0; i < CDBUS_CALLS; i++) {
        cdbus_call *call = &bus->calls[i];
        if (!call->is_open || call->deadline_ms > now) continue;
        if (end_call(bus, call, NULL, DBUS_ERROR_NO_REPLY, "no reply in time", item)) return true;
    }
    return false;
}

// After the connection has ended: reports the pending calls, then CLOSED.
static bool next_farewell(cdbus *bus, cdbus_item *item) {
    for (size_t i = 0; i < CDBUS_CALLS; i++) {
        cdbus_call *call = &bus->calls[i];
        if (!call->is_open) continue;
        call->is_open = false;
        if (call->tag == CDBUS_HELLO) continue;
        return end_call(bus, call, NULL, DBUS_ERROR_DISCONNECTED, "the message bus has gone", item);
    }
    bus->is_closed = true;
    item->kind = CDBUS_CLOSED;
    return true;
}

int cdbus_next(cdbus *bus, cdbus_item *item) {
    if (bus->is_closed) return -ENOTCONN;
    *item = (cdbus_item){0};
    if (bus->current) dbus_message_unref(bus->current);
    while ((bus->current = next_message(bus))) {
        if (take_message(bus, bus->current, item)) return 1;
        dbus_message_unref(bus->current);
    }
    if (next_expired(bus, item)) return 1;
    return dbus_connection_get_is_connected(bus->connection) ? 0 : next_farewell(bus, item);
}
