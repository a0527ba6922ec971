// SPDX-License-Identifier: Apache-2.0
//
// The calls that we make, and the table of those unanswered.

#define _GNU_SOURCE // clock_gettime with -std=c11

#include <errno.h>
#include <string.h>
#include <time.h>

#include "bus.h"

int64_t bus_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bus_call *free_call(cbluez_bus *bus) {
    for (size_t i = 0; i < BUS_CALLS; i++) {
        if (bus->calls[i].kind == BUS_CALL_NONE) return &bus->calls[i];
    }
    return NULL;
}

static int64_t remember_call(cbluez_bus *bus, DBusMessage *message, bus_call_kind kind, int timeout_ms) {
    if (timeout_ms <= 0) return -EINVAL;
    if (!dbus_connection_get_is_connected(bus->connection)) return -ENOTCONN;
    bus_call *call = free_call(bus);
    if (!call) return -ENOBUFS;
    dbus_uint32_t serial = 0;
    if (!dbus_connection_send(bus->connection, message, &serial)) return -ENOMEM;
    *call = (bus_call){.kind = kind, .serial = serial, .deadline_ms = bus_now_ms() + timeout_ms};
    return serial;
}

int64_t bus_send_call(cbluez_bus *bus, DBusMessage *message, bus_call_kind kind, int timeout_ms) {
    if (!message) return -ENOMEM;
    int64_t result = remember_call(bus, message, kind, timeout_ms);
    dbus_message_unref(message);
    return result;
}

DBusMessage *bus_new_call(const char *path, const char *interface, const char *member) {
    DBusMessage *call = dbus_message_new_method_call(BLUEZ, path, interface, member);
    // Whether bluetoothd runs is the system's matter: a call must not start it behind the system's back.
    if (call) dbus_message_set_auto_start(call, false);
    return call;
}

// ---------------------------------------------------------------------------------------------------------------------
// Arguments
// ---------------------------------------------------------------------------------------------------------------------

static bool append_entry(DBusMessageIter *dictionary, const char *key, const char *text) {
    DBusMessageIter entry;
    DBusMessageIter variant;
    return dbus_message_iter_open_container(dictionary, DBUS_TYPE_DICT_ENTRY, NULL, &entry) &&
           dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &key) &&
           dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "s", &variant) &&
           dbus_message_iter_append_basic(&variant, DBUS_TYPE_STRING, &text) &&
           dbus_message_iter_close_container(&entry, &variant) &&
           dbus_message_iter_close_container(dictionary, &entry);
}

static bool append_texts(DBusMessageIter *dictionary, const char *key, const char *const *texts, size_t count) {
    DBusMessageIter entry;
    DBusMessageIter variant;
    DBusMessageIter array;
    bool is_good = dbus_message_iter_open_container(dictionary, DBUS_TYPE_DICT_ENTRY, NULL, &entry) &&
                   dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &key) &&
                   dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "as", &variant) &&
                   dbus_message_iter_open_container(&variant, DBUS_TYPE_ARRAY, "s", &array);
    for (size_t i = 0; is_good && i < count; i++) {
        is_good = dbus_message_iter_append_basic(&array, DBUS_TYPE_STRING, &texts[i]);
    }
    return is_good && dbus_message_iter_close_container(&variant, &array) &&
           dbus_message_iter_close_container(&entry, &variant) && dbus_message_iter_close_container(dictionary, &entry);
}

static bool append_filter(DBusMessage *call, const char *const *uuids, size_t count) {
    DBusMessageIter arguments;
    DBusMessageIter filter;
    dbus_message_iter_init_append(call, &arguments);
    return dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &filter) &&
           append_entry(&filter, "Transport", "le") &&
           (count == 0 || append_texts(&filter, "UUIDs", uuids, count)) &&
           dbus_message_iter_close_container(&arguments, &filter);
}

// ---------------------------------------------------------------------------------------------------------------------
// Greeting the bus
// ---------------------------------------------------------------------------------------------------------------------

static DBusMessage *new_bus_call(const char *member, const char *argument) {
    DBusMessage *call = dbus_message_new_method_call(DBUS_SERVICE_DBUS, DBUS_PATH_DBUS, DBUS_INTERFACE_DBUS, member);
    if (call && argument && !dbus_message_append_args(call, DBUS_TYPE_STRING, &argument, DBUS_TYPE_INVALID)) {
        dbus_message_unref(call);
        return NULL;
    }
    return call;
}

static int send_match(cbluez_bus *bus, const char *rule) {
    DBusMessage *call = new_bus_call("AddMatch", rule);
    if (!call) return -ENOMEM;
    dbus_message_set_no_reply(call, true);
    bool is_sent = dbus_connection_send(bus->connection, call, NULL);
    dbus_message_unref(call);
    return is_sent ? 0 : -ENOMEM;
}

int bus_send_greeting(cbluez_bus *bus) {
    // The properties of two interfaces only: a remote device's GATT objects would be chatter.
    static const char *const rules[] = {
        "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='org.bluez'",
        "type='signal',sender='org.bluez',interface='org.freedesktop.DBus.ObjectManager'",
        "type='signal',sender='org.bluez',member='PropertiesChanged',arg0='org.bluez.Adapter1'",
        "type='signal',sender='org.bluez',member='PropertiesChanged',arg0='org.bluez.Device1'",
    };
    int64_t result = bus_send_call(bus, new_bus_call("Hello", NULL), BUS_CALL_HELLO, BUS_OWN_CALL_MS);
    for (size_t i = 0; result >= 0 && i < sizeof rules / sizeof rules[0]; i++) result = send_match(bus, rules[i]);
    if (result < 0) return (int)result;
    // The bus works in order, so that no coming or going can fall between the rules and this answer.
    result = bus_send_call(bus, new_bus_call("GetNameOwner", BLUEZ), BUS_CALL_OWNER, BUS_OWN_CALL_MS);
    return result < 0 ? (int)result : 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// The public calls
// ---------------------------------------------------------------------------------------------------------------------

bool bus_is_path(const char *path) {
    return path && dbus_validate_path(path, NULL);
}

int64_t bus_finish_call(cbluez_bus *bus, DBusMessage *call, bool is_complete, bus_call_kind kind, int timeout_ms) {
    if (is_complete) return bus_send_call(bus, call, kind, timeout_ms);
    dbus_message_unref(call);
    return -ENOMEM;
}

int64_t bus_call_object(cbluez_bus *bus, const char *object, const char *interface, const char *member,
                        const char *argument, int timeout_ms) {
    if (!bus_is_path(object) || (argument && !bus_is_path(argument))) return -EINVAL;
    DBusMessage *call = bus_new_call(object, interface, member);
    if (!call) return -ENOMEM;
    bool is_complete =
        !argument || dbus_message_append_args(call, DBUS_TYPE_OBJECT_PATH, &argument, DBUS_TYPE_INVALID);
    return bus_finish_call(bus, call, is_complete, BUS_CALL_PLAIN, timeout_ms);
}

// `type` is a basic type's, and `value` points to one of it.
static int64_t set_property(cbluez_bus *bus, const char *object, const char *interface, const char *name, char type,
                            const void *value, int timeout_ms) {
    if (!bus_is_path(object)) return -EINVAL;
    DBusMessage *call = bus_new_call(object, DBUS_INTERFACE_PROPERTIES, "Set");
    if (!call) return -ENOMEM;
    const char signature[] = {type, '\0'};
    DBusMessageIter arguments;
    DBusMessageIter variant;
    dbus_message_iter_init_append(call, &arguments);
    bool is_complete = dbus_message_iter_append_basic(&arguments, DBUS_TYPE_STRING, &interface) &&
                       dbus_message_iter_append_basic(&arguments, DBUS_TYPE_STRING, &name) &&
                       dbus_message_iter_open_container(&arguments, DBUS_TYPE_VARIANT, signature, &variant) &&
                       dbus_message_iter_append_basic(&variant, type, value) &&
                       dbus_message_iter_close_container(&arguments, &variant);
    return bus_finish_call(bus, call, is_complete, BUS_CALL_PLAIN, timeout_ms);
}

int64_t cbluez_bus_list_objects(cbluez_bus *bus, int timeout_ms) {
    DBusMessage *call = bus_new_call("/", OBJECT_MANAGER, "GetManagedObjects");
    return bus_send_call(bus, call, BUS_CALL_OBJECTS, timeout_ms);
}

int64_t cbluez_bus_set_discovery_filter(cbluez_bus *bus, const char *adapter, const char *const *uuids, size_t count,
                                        int timeout_ms) {
    if (!bus_is_path(adapter)) return -EINVAL;
    for (size_t i = 0; i < count; i++) {
        if (!uuids[i] || !dbus_validate_utf8(uuids[i], NULL)) return -EINVAL;
    }
    DBusMessage *call = bus_new_call(adapter, BLUEZ_ADAPTER, "SetDiscoveryFilter");
    if (!call) return -ENOMEM;
    return bus_finish_call(bus, call, append_filter(call, uuids, count), BUS_CALL_PLAIN, timeout_ms);
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
