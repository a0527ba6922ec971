// SPDX-License-Identifier: Apache-2.0
//
// The connection to the bus, and the way from its messages to events.
//
// libdbus's own dispatch, its pending calls and its timeouts are left alone: they need a main loop. Messages are taken
// off the connection one at a time, replies are matched by serial here, and deadlines are ours. Its locks and caches
// need no dbus_threads_init_default: since 1.7 every connection sees to that by itself.

#define _GNU_SOURCE // POLLRDHUP and strnlen with -std=c11

#include "bus.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// bluetoothd has this advertisement already, so that the object must stay.
#define ALREADY_EXISTS "org.bluez.Error.AlreadyExists"
#define SYSTEM_BUS "unix:path=/run/dbus/system_bus_socket"
/// libdbus reads 2 KB at a time; one `cbluez_bus_process` reads as many times at most.
#define READS 16

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

static int fail_open(cbluez_bus *bus, int code, const char *text, char *error) {
    if (error) bus_copy_text(error, CBLUEZ_ERROR_TEXT, text);
    cbluez_bus_close(bus);
    return code;
}

int cbluez_bus_open(const char *address, cbluez_bus **out, char *error) {
    cbluez_bus *bus = calloc(1, sizeof *bus);
    if (!bus) return fail_open(NULL, -ENOMEM, "out of memory", error);
    bus->descriptor = -1;
    if (!address) address = getenv("DBUS_SYSTEM_BUS_ADDRESS");
    if (!address) address = SYSTEM_BUS;
    // libdbus would have the whole process ignore SIGPIPE; its writes carry MSG_NOSIGNAL, so it need not.
    dbus_connection_set_change_sigpipe(false);
    DBusError failure = DBUS_ERROR_INIT;
    bus->connection = dbus_connection_open_private(address, &failure);
    if (!bus->connection) {
        int code = fail_open(bus, errno_of(&failure), failure.message, error);
        dbus_error_free(&failure);
        return code;
    }
    dbus_connection_set_exit_on_disconnect(bus->connection, false);
    dbus_connection_set_max_received_size(bus->connection, BUS_RECEIVED_BYTES);
    dbus_connection_set_max_message_size(bus->connection, BUS_MESSAGE_BYTES);
    int descriptor;
    if (!dbus_connection_get_unix_fd(bus->connection, &descriptor)) {
        return fail_open(bus, -ENOTSUP, "the bus has no descriptor", error);
    }
    bus->descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (bus->descriptor < 0) return fail_open(bus, -errno, "no more descriptors", error);
    int result = bus_send_greeting(bus);
    if (result < 0) return fail_open(bus, result, "the greeting could not be queued", error);
    // The authentication's first bytes are ours; without them the descriptor would never become readable.
    cbluez_bus_process(bus);
    *out = bus;
    return 0;
}

void cbluez_bus_close(cbluez_bus *bus) {
    if (!bus) return;
    if (bus->objects) dbus_message_unref(bus->objects);
    bus_drop_agent(bus, 0);
    if (bus->connection) {
        dbus_connection_close(bus->connection);
        dbus_connection_unref(bus->connection);
    }
    if (bus->descriptor >= 0) close(bus->descriptor);
    free(bus);
}

int cbluez_bus_descriptor(const cbluez_bus *bus) {
    return bus->descriptor;
}

bool cbluez_bus_wants_write(const cbluez_bus *bus) {
    // What has been read and not been asked for makes no descriptor readable, but this one is all but always writable.
    if (dbus_connection_get_dispatch_status(bus->connection) == DBUS_DISPATCH_DATA_REMAINS) return true;
    // Until the bus has let us in, everything waits for its answers; asking for POLLOUT then would only spin.
    return dbus_connection_get_is_authenticated(bus->connection) &&
           dbus_connection_has_messages_to_send(bus->connection);
}

// How soon a turn of the authentication is looked for that no readable descriptor announced: it is written at once then.
enum { AUTHENTICATION_TURN_MS = 5 };

int cbluez_bus_process(cbluez_bus *bus) {
    for (int i = 0; i < READS && dbus_connection_read_write(bus->connection, 0); i++) {
        // The authentication takes turns, and one call reads the bus's line or writes ours: a side that has read a line
        // has one to write, and nothing else would ask for that. Where the line came just now, in the second call, the
        // next deadline does.
        if (!dbus_connection_get_is_authenticated(bus->connection)) dbus_connection_read_write(bus->connection, 0);
        struct pollfd state = {.fd = bus->descriptor, .events = POLLIN};
        if (cbluez_bus_wants_write(bus)) state.events |= POLLOUT;
        if (poll(&state, 1, 0) <= 0) break;
    }
    return dbus_connection_get_is_connected(bus->connection) ? 0 : -ENOTCONN;
}

int cbluez_bus_next_deadline_ms(const cbluez_bus *bus) {
    int64_t nearest = INT64_MAX;
    for (size_t i = 0; i < BUS_CALLS; i++) {
        const bus_call *call = &bus->calls[i];
        if (call->kind != BUS_CALL_NONE && call->deadline_ms < nearest) nearest = call->deadline_ms;
    }
    if (bus->is_closed || nearest == INT64_MAX) return -1;
    int64_t left = nearest - bus_now_ms();
    if (!dbus_connection_get_is_authenticated(bus->connection) && left > AUTHENTICATION_TURN_MS) {
        left = AUTHENTICATION_TURN_MS;
    }
    return left < 0 ? 0 : (int)left;
}

// ---------------------------------------------------------------------------------------------------------------------
// Who is org.bluez
// ---------------------------------------------------------------------------------------------------------------------

static void tell_vanished(cbluez_bus *bus, cbluez_bus_event *event) {
    // Its successor knows nothing of our objects.
    bus_drop_advertisement(bus, 0);
    bus_drop_agent(bus, 0);
    event->kind = CBLUEZ_EVENT_BLUEZ_VANISHED;
}

static bool set_owner(cbluez_bus *bus, const char *owner, cbluez_bus_event *event) {
    if (bus->knows_owner && strcmp(bus->owner, owner) == 0) return false;
    bool had_owner = bus->knows_owner && bus->owner[0] != '\0';
    bool has_owner = owner[0] != '\0';
    bus_copy_text(bus->owner, sizeof bus->owner, owner);
    bus->knows_owner = true;
    if (has_owner && !had_owner) {
        event->kind = CBLUEZ_EVENT_BLUEZ_APPEARED;
    } else {
        bus->owes_appeared = has_owner;
        tell_vanished(bus, event);
    }
    return true;
}

static bool owner_changed(cbluez_bus *bus, DBusMessage *signal, cbluez_bus_event *event) {
    const char *name;
    const char *old_owner;
    const char *new_owner;
    if (!dbus_message_get_args(signal, NULL, DBUS_TYPE_STRING, &name, DBUS_TYPE_STRING, &old_owner, DBUS_TYPE_STRING,
                               &new_owner, DBUS_TYPE_INVALID)) {
        return false;
    }
    return strcmp(name, BLUEZ) == 0 && set_owner(bus, new_owner, event);
}

// ---------------------------------------------------------------------------------------------------------------------
// Messages
// ---------------------------------------------------------------------------------------------------------------------

static bool tell_reply(cbluez_bus_event *event, uint32_t serial, const char *error_name, const char *error_text) {
    event->kind = CBLUEZ_EVENT_REPLY;
    event->serial = serial;
    if (error_name) bus_copy_text(event->error_name, sizeof event->error_name, error_name);
    if (error_text) bus_copy_text(event->error_text, sizeof event->error_text, error_text);
    return true;
}

static bool tell_ready(cbluez_bus *bus, DBusMessage *reply, cbluez_bus_event *event) {
    const char *name;
    if (!dbus_message_get_args(reply, NULL, DBUS_TYPE_STRING, &name, DBUS_TYPE_INVALID) ||
        !dbus_bus_set_unique_name(bus->connection, name)) {
        dbus_connection_close(bus->connection); // no bus: CLOSED follows
        return false;
    }
    event->kind = CBLUEZ_EVENT_READY;
    return true;
}

static const char *error_text(DBusMessage *error) {
    const char *text;
    return dbus_message_get_args(error, NULL, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID) ? text : "";
}

// `error_name` is NULL after a success, and then there is a `reply`.
static bool end_call(cbluez_bus *bus, bus_call *ended, DBusMessage *reply, const char *error_name,
                     const char *text, cbluez_bus_event *event) {
    bus_call call = *ended;
    ended->kind = BUS_CALL_NONE;
    switch (call.kind) {
    case BUS_CALL_NONE:
        return false;
    case BUS_CALL_HELLO:
        if (!error_name) return tell_ready(bus, reply, event);
        dbus_connection_close(bus->connection); // the bus does not want us: CLOSED follows
        return false;
    case BUS_CALL_OWNER: {
        const char *owner = "";
        if (!error_name) dbus_message_get_args(reply, NULL, DBUS_TYPE_STRING, &owner, DBUS_TYPE_INVALID);
        return set_owner(bus, owner, event);
    }
    case BUS_CALL_OBJECTS:
        if (error_name) break;
        if (!bus_objects_begin(bus, reply)) return tell_reply(event, call.serial, DBUS_ERROR_INVALID_SIGNATURE, "");
        return bus_objects_next(bus, event) || tell_reply(event, call.serial, NULL, NULL);
    case BUS_CALL_REGISTER:
        // A timeout (no reply) leaves open whether bluetoothd has it; then the object stays until it is unregistered.
        if (error_name && reply && strcmp(error_name, ALREADY_EXISTS) != 0) bus_drop_advertisement(bus, call.serial);
        break;
    case BUS_CALL_REGISTER_AGENT:
        if (error_name && reply && strcmp(error_name, ALREADY_EXISTS) != 0) bus_drop_agent(bus, call.serial);
        break;
    case BUS_CALL_PLAIN:
        break;
    }
    return tell_reply(event, call.serial, error_name, text);
}

static bool take_reply(cbluez_bus *bus, DBusMessage *reply, cbluez_bus_event *event) {
    uint32_t serial = dbus_message_get_reply_serial(reply);
    for (size_t i = 0; i < BUS_CALLS; i++) {
        bus_call *call = &bus->calls[i];
        if (call->kind == BUS_CALL_NONE || call->serial != serial) continue;
        if (dbus_message_get_type(reply) == DBUS_MESSAGE_TYPE_METHOD_RETURN) {
            return end_call(bus, call, reply, NULL, NULL, event);
        }
        return end_call(bus, call, reply, dbus_message_get_error_name(reply), error_text(reply), event);
    }
    return false; // it came after its deadline
}

// Match rules do not stop anybody from sending a signal to us directly, so the sender is looked at.
static bool take_signal(cbluez_bus *bus, DBusMessage *signal, cbluez_bus_event *event) {
    if (dbus_message_has_sender(signal, DBUS_SERVICE_DBUS)) {
        return dbus_message_is_signal(signal, DBUS_INTERFACE_DBUS, "NameOwnerChanged") &&
               owner_changed(bus, signal, event);
    }
    if (bus->owner[0] == '\0' || !dbus_message_has_sender(signal, bus->owner)) return false;
    return bus_event_from_signal(signal, event);
}

static bool take_message(cbluez_bus *bus, DBusMessage *message, cbluez_bus_event *event) {
    switch (dbus_message_get_type(message)) {
    case DBUS_MESSAGE_TYPE_METHOD_RETURN:
    case DBUS_MESSAGE_TYPE_ERROR:
        return take_reply(bus, message, event);
    case DBUS_MESSAGE_TYPE_SIGNAL:
        return take_signal(bus, message, event);
    case DBUS_MESSAGE_TYPE_METHOD_CALL:
        return bus_answer_call(bus, message, event);
    default:
        return false;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Events
// ---------------------------------------------------------------------------------------------------------------------

// None while too much waits to be written: a message may ask for an answer.
static DBusMessage *next_message(cbluez_bus *bus) {
    if (dbus_connection_get_outgoing_size(bus->connection) > BUS_OUTGOING_BYTES) return NULL;
    return dbus_connection_pop_message(bus->connection);
}

static bool next_expired(cbluez_bus *bus, cbluez_bus_event *event) {
    int64_t now = bus_now_ms();
    for (size_t i = 0; i < BUS_CALLS; i++) {
        bus_call *call = &bus->calls[i];
        if (call->kind == BUS_CALL_NONE || call->deadline_ms > now) continue;
        if (end_call(bus, call, NULL, DBUS_ERROR_NO_REPLY, "no reply in time", event)) return true;
    }
    return false;
}

// The connection is gone: the calls that nobody will answer, then CLOSED.
static bool next_farewell(cbluez_bus *bus, cbluez_bus_event *event) {
    for (size_t i = 0; i < BUS_CALLS; i++) {
        bus_call *call = &bus->calls[i];
        bool is_own = call->kind == BUS_CALL_HELLO || call->kind == BUS_CALL_OWNER;
        uint32_t serial = call->serial;
        if (call->kind == BUS_CALL_NONE) continue;
        call->kind = BUS_CALL_NONE;
        if (!is_own) return tell_reply(event, serial, DBUS_ERROR_DISCONNECTED, "the message bus has gone");
    }
    bus->is_closed = true;
    event->kind = CBLUEZ_EVENT_CLOSED;
    return true;
}

static bool next_object(cbluez_bus *bus, cbluez_bus_event *event) {
    uint32_t serial = dbus_message_get_reply_serial(bus->objects);
    return bus_objects_next(bus, event) || tell_reply(event, serial, NULL, NULL);
}

int cbluez_bus_next(cbluez_bus *bus, cbluez_bus_event *event) {
    if (bus->is_closed) return -ENOTCONN;
    *event = (cbluez_bus_event){0};
    if (bus->owes_appeared) {
        bus->owes_appeared = false;
        event->kind = CBLUEZ_EVENT_BLUEZ_APPEARED;
        return 1;
    }
    if (bus->objects) return next_object(bus, event);
    for (DBusMessage *message = next_message(bus); message; message = next_message(bus)) {
        bool is_event = take_message(bus, message, event);
        dbus_message_unref(message);
        if (is_event) return 1;
    }
    if (next_expired(bus, event)) return 1;
    return dbus_connection_get_is_connected(bus->connection) ? 0 : next_farewell(bus, event);
}
