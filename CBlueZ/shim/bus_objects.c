// SPDX-License-Identifier: Apache-2.0
//
// Calls to the objects that we export: whose they are, and the answers that all objects share.

#include "bus.h"

bool bus_send_answer(cbluez_bus *bus, DBusMessage *call, DBusMessage *answer) {
    if (!answer) return false;
    bool is_sent = dbus_message_get_no_reply(call) || dbus_connection_send(bus->connection, answer, NULL);
    dbus_message_unref(answer);
    return is_sent;
}

bool bus_refuse(cbluez_bus *bus, DBusMessage *call, const char *error, const char *text) {
    return bus_send_answer(bus, call, dbus_message_new_error(call, error, text));
}

void bus_answer_introspect(cbluez_bus *bus, DBusMessage *call, const char *xml) {
    DBusMessage *answer = dbus_message_new_method_return(call);
    if (!answer) return;
    if (dbus_message_append_args(answer, DBUS_TYPE_STRING, &xml, DBUS_TYPE_INVALID)) {
        bus_send_answer(bus, call, answer);
    } else {
        dbus_message_unref(answer);
    }
}

bool bus_answer_call(cbluez_bus *bus, DBusMessage *call, cbluez_bus_event *event) {
    // Our objects are for bluetoothd. Whom else the bus lets through is the bus's policy, not ours to rely on.
    if (bus->owner[0] == '\0' || !dbus_message_has_sender(call, bus->owner)) {
        bus_refuse(bus, call, DBUS_ERROR_ACCESS_DENIED, "only org.bluez may call this");
        return false;
    }
    const char *path = dbus_message_get_path(call);
    if (path && bus_is_agent(bus, path)) return bus_answer_agent_call(bus, call, event);
    bool is_known = false;
    bool is_event = bus_answer_advertisement_call(bus, call, event, &is_known);
    if (!is_known) bus_refuse(bus, call, DBUS_ERROR_UNKNOWN_OBJECT, "no such object");
    return is_event;
}
