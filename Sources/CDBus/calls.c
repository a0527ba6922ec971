// SPDX-License-Identifier: Apache-2.0
//
// The calls that we make, and the table of pending ones.

#define _GNU_SOURCE // clock_gettime with -std=c11

#include <errno.h>
#include <time.h>

#include "internal.h"

int64_t cdbus_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static cdbus_call *free_call(cdbus *bus) {
    for (size_t i = 0; i < CDBUS_CALLS; i++) {
        if (!bus->calls[i].is_open) return &bus->calls[i];
    }
    return NULL;
}

static int64_t remember_call(cdbus *bus, DBusMessage *message, int tag, int timeout_ms) {
    if (timeout_ms <= 0) return -EINVAL;
    if (!dbus_connection_get_is_connected(bus->connection)) return -ENOTCONN;
    cdbus_call *call = free_call(bus);
    if (!call) return -ENOBUFS;
    dbus_uint32_t serial = 0;
    if (!dbus_connection_send(bus->connection, message, &serial)) return -ENOMEM;
    *call = (cdbus_call){.is_open = true, .tag = tag, .serial = serial, .deadline_ms = cdbus_now_ms() + timeout_ms};
    return serial;
}

int64_t cdbus_send_call(cdbus *bus, DBusMessage *message, int tag, int timeout_ms) {
    if (!message) return -ENOMEM;
    int64_t result = remember_call(bus, message, tag, timeout_ms);
    dbus_message_unref(message);
    return result;
}

int64_t cdbus_finish_call(cdbus *bus, DBusMessage *call, bool is_complete, int tag, int timeout_ms) {
    if (call && is_complete) return cdbus_send_call(bus, call, tag, timeout_ms);
    if (call) dbus_message_unref(call);
    return -ENOMEM;
}

int cdbus_send(cdbus *bus, DBusMessage *message) {
    if (!message) return -ENOMEM;
    bool is_sent = dbus_connection_send(bus->connection, message, NULL);
    dbus_message_unref(message);
    return is_sent ? 0 : -ENOMEM;
}

DBusMessage *cdbus_new_call(const char *service, const char *path, const char *interface, const char *member) {
    DBusMessage *call = dbus_message_new_method_call(service, path, interface, member);
    // The system decides which services run, so a call must not start one.
    if (call) dbus_message_set_auto_start(call, false);
    return call;
}

DBusMessage *cdbus_new_bus_call(const char *member, const char *argument) {
    DBusMessage *call = dbus_message_new_method_call(DBUS_SERVICE_DBUS, DBUS_PATH_DBUS, DBUS_INTERFACE_DBUS, member);
    if (call && argument && !dbus_message_append_args(call, DBUS_TYPE_STRING, &argument, DBUS_TYPE_INVALID)) {
        dbus_message_unref(call);
        return NULL;
    }
    return call;
}

int cdbus_add_match(cdbus *bus, const char *rule) {
    DBusMessage *call = cdbus_new_bus_call("AddMatch", rule);
    if (call) dbus_message_set_no_reply(call, true);
    return cdbus_send(bus, call);
}
