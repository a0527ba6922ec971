// SPDX-License-Identifier: Apache-2.0
//
// Calls to org.bluez.

#include <errno.h>
#include <string.h>

#include "bus.h"

DBusMessage *bus_new_call(const char *path, const char *interface, const char *member) {
    return cdbus_new_call(BLUEZ, path, interface, member);
}

static bool append_filter(DBusMessage *call) {
    static const char *const transport = "le";
    DBusMessageIter arguments;
    DBusMessageIter filter;
    dbus_message_iter_init_append(call, &arguments);
    return dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &filter) &&
           cdbus_append_entry(&filter, "Transport", DBUS_TYPE_STRING, &transport) &&
           dbus_message_iter_close_container(&arguments, &filter);
}

int bus_subscribe(cbluez_bus *bus) {
    // Only the properties of these two interfaces: those of a remote device's GATT objects would be noise.
    static const char *const rules[] = {
        "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='org.bluez'",
        "type='signal',sender='org.bluez',interface='org.freedesktop.DBus.ObjectManager'",
        "type='signal',sender='org.bluez',member='PropertiesChanged',arg0='org.bluez.Adapter1'",
        "type='signal',sender='org.bluez',member='PropertiesChanged',arg0='org.bluez.Device1'",
    };
    int result = 0;
    for (size_t i = 0; result >= 0 && i < sizeof rules / sizeof rules[0]; i++) {
        result = cdbus_add_match(bus->dbus, rules[i]);
    }
    if (result < 0) return result;
    // The bus keeps messages in order, so no change of owner is missed between the rules and this reply.
    int64_t serial = cdbus_send_call(bus->dbus, cdbus_new_bus_call("GetNameOwner", BLUEZ), BUS_CALL_OWNER,
                                     CDBUS_OWN_CALL_MS);
    return serial < 0 ? (int)serial : 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// The public calls
// ---------------------------------------------------------------------------------------------------------------------

int64_t bus_call_object(cbluez_bus *bus, const char *object, const char *interface, const char *member,
                        const char *argument, int timeout_ms) {
    if (!cdbus_is_path(object) || (argument && !cdbus_is_path(argument))) return -EINVAL;
    DBusMessage *call = bus_new_call(object, interface, member);
    if (!call) return -ENOMEM;
    bool is_complete =
        !argument || dbus_message_append_args(call, DBUS_TYPE_OBJECT_PATH, &argument, DBUS_TYPE_INVALID);
    return cdbus_finish_call(bus->dbus, call, is_complete, BUS_CALL_PLAIN, timeout_ms);
}

static bool append_registration(DBusMessage *call, const char *path) {
    DBusMessageIter arguments;
    DBusMessageIter options;
    dbus_message_iter_init_append(call, &arguments);
    return dbus_message_iter_append_basic(&arguments, DBUS_TYPE_OBJECT_PATH, &path) &&
           dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &options) &&
           dbus_message_iter_close_container(&arguments, &options);
}

int64_t bus_call_register(cbluez_bus *bus, const char *adapter, const char *interface, const char *member,
                          const char *path, bus_call_kind kind, int timeout_ms) {
    DBusMessage *call = bus_new_call(adapter, interface, member);
    if (!call) return -ENOMEM;
    return cdbus_finish_call(bus->dbus, call, append_registration(call, path), (int)kind, timeout_ms);
}

// `type` is a basic D-Bus type. `value` points to a value of that type.
static int64_t set_property(cbluez_bus *bus, const char *object, const char *interface, const char *name, int type,
                            const void *value, int timeout_ms) {
    if (!cdbus_is_path(object)) return -EINVAL;
    DBusMessage *call = bus_new_call(object, DBUS_INTERFACE_PROPERTIES, "Set");
    if (!call) return -ENOMEM;
    DBusMessageIter arguments;
    dbus_message_iter_init_append(call, &arguments);
    bool is_complete = dbus_message_iter_append_basic(&arguments, DBUS_TYPE_STRING, &interface) &&
                       dbus_message_iter_append_basic(&arguments, DBUS_TYPE_STRING, &name) &&
                       cdbus_append_variant(&arguments, type, value);
    return cdbus_finish_call(bus->dbus, call, is_complete, BUS_CALL_PLAIN, timeout_ms);
}

int64_t cbluez_bus_list_objects(cbluez_bus *bus, int timeout_ms) {
    DBusMessage *call = bus_new_call("/", OBJECT_MANAGER, "GetManagedObjects");
    return cdbus_send_call(bus->dbus, call, BUS_CALL_OBJECTS, timeout_ms);
}

int64_t cbluez_bus_set_discovery_filter(cbluez_bus *bus, const char *adapter, int timeout_ms) {
    if (!cdbus_is_path(adapter)) return -EINVAL;
    DBusMessage *call = bus_new_call(adapter, BLUEZ_ADAPTER, "SetDiscoveryFilter");
    if (!call) return -ENOMEM;
    return cdbus_finish_call(bus->dbus, call, append_filter(call), BUS_CALL_PLAIN, timeout_ms);
}

int64_t cbluez_bus_start_discovery(cbluez_bus *bus, const char *adapter, int timeout_ms) {
    return bus_call_object(bus, adapter, BLUEZ_ADAPTER, "StartDiscovery", NULL, timeout_ms);
}

int64_t cbluez_bus_stop_discovery(cbluez_bus *bus, const char *adapter, int timeout_ms) {
    return bus_call_object(bus, adapter, BLUEZ_ADAPTER, "StopDiscovery", NULL, timeout_ms);
}

int64_t cbluez_bus_set_powered(cbluez_bus *bus, const char *adapter, bool powered, int timeout_ms) {
    dbus_bool_t value = powered;
    return set_property(bus, adapter, BLUEZ_ADAPTER, "Powered", DBUS_TYPE_BOOLEAN, &value, timeout_ms);
}

int64_t cbluez_bus_remove_device(cbluez_bus *bus, const char *adapter, const char *device, int timeout_ms) {
    if (!device) return -EINVAL;
    return bus_call_object(bus, adapter, BLUEZ_ADAPTER, "RemoveDevice", device, timeout_ms);
}

int64_t cbluez_bus_pair_device(cbluez_bus *bus, const char *device, int timeout_ms) {
    return bus_call_object(bus, device, BLUEZ_DEVICE, "Pair", NULL, timeout_ms);
}

int64_t cbluez_bus_disconnect_device(cbluez_bus *bus, const char *device, int timeout_ms) {
    return bus_call_object(bus, device, BLUEZ_DEVICE, "Disconnect", NULL, timeout_ms);
}

int64_t cbluez_bus_set_alias(cbluez_bus *bus, const char *device, const char *alias, int timeout_ms) {
    if (!alias || strlen(alias) >= CBLUEZ_NAME_TEXT || !dbus_validate_utf8(alias, NULL)) return -EINVAL;
    return set_property(bus, device, BLUEZ_DEVICE, "Alias", DBUS_TYPE_STRING, &alias, timeout_ms);
}
