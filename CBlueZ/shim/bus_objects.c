// SPDX-License-Identifier: Apache-2.0
//
// Finds the object that a method call is for.

#include "bus.h"

bool bus_answer_call(cbluez_bus *bus, DBusMessage *call, cbluez_bus_event *event) {
    // Our objects are for bluetoothd only. We do not rely on the bus's policy to keep other callers out.
    if (bus->owner[0] == '\0' || !dbus_message_has_sender(call, bus->owner)) {
        cdbus_refuse(bus->dbus, call, DBUS_ERROR_ACCESS_DENIED, "only org.bluez may call this");
        return false;
    }
    const char *path = dbus_message_get_path(call);
    if (path && bus_is_agent(bus, path)) return bus_answer_agent_call(bus, call, event);
    bool is_known = false;
    bool is_event = bus_answer_gatt_call(bus, call, event, &is_known);
    if (is_known) return is_event;
    is_event = bus_answer_advertisement_call(bus, call, event, &is_known);
    if (!is_known) cdbus_refuse(bus->dbus, call, DBUS_ERROR_UNKNOWN_OBJECT, "no such object");
    return is_event;
}
