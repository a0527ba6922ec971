// SPDX-License-Identifier: Apache-2.0
//
// Turns org.bluez's objects and properties into events. The type of every value is checked before it is read: libdbus
// has checked that a message is well formed, but not that it has the types that we expect.

#include <stddef.h>
#include <string.h>

#include "bus.h"

// ---------------------------------------------------------------------------------------------------------------------
// Properties
// ---------------------------------------------------------------------------------------------------------------------

static bool take_address(DBusMessageIter *value, cbluez_bus_event *event) {
    const char *text = cdbus_text_of(value);
    return text && cbluez_address_parse(text, &event->address) == 0;
}

static bool take_address_type(DBusMessageIter *value, cbluez_bus_event *event) {
    const char *text = cdbus_text_of(value);
    if (!text || strcmp(text, "random") != 0) return false;
    event->address.kind = CBLUEZ_ADDRESS_RANDOM;
    return true;
}

static bool take_company(DBusMessageIter *entry, cbluez_bus_event *event) {
    DBusMessageIter item;
    DBusMessageIter variant;
    DBusMessageIter array;
    dbus_uint16_t company;
    const uint8_t *bytes = NULL;
    int count = 0;
    dbus_message_iter_recurse(entry, &item);
    dbus_message_iter_get_basic(&item, &company);
    dbus_message_iter_next(&item);
    dbus_message_iter_recurse(&item, &variant);
    if (!cdbus_enter_array(&variant, "ay", &array)) return false;
    dbus_message_iter_get_fixed_array(&array, &bytes, &count);
    size_t kept = count < 0 ? 0 : (size_t)count;
    if (kept > CBLUEZ_MANUFACTURER_DATA) kept = CBLUEZ_MANUFACTURER_DATA;
    event->company = company;
    event->manufacturer_count = (uint8_t)kept;
    if (kept) memcpy(event->manufacturer_data, bytes, kept);
    return true;
}

// If a device sends data of several companies, take that of 0xFFFF (tests and prototypes), which we use; else the
// first.
static bool take_manufacturer(DBusMessageIter *value, cbluez_bus_event *event) {
    DBusMessageIter entries;
    bool is_taken = false;
    if (!cdbus_enter_array(value, "a{qv}", &entries)) return false;
    for (; cdbus_has_type(&entries, DBUS_TYPE_DICT_ENTRY); dbus_message_iter_next(&entries)) {
        DBusMessageIter key;
        dbus_uint16_t company;
        dbus_message_iter_recurse(&entries, &key);
        dbus_message_iter_get_basic(&key, &company);
        if (!is_taken || company == 0xFFFF) is_taken = take_company(&entries, event) || is_taken;
    }
    return is_taken;
}

static bool is_assigned_uuid(const char *uuid) {
    static const char base[] = "-0000-1000-8000-00805f9b34fb";
    return strlen(uuid) == 8 + sizeof base - 1 && strcmp(uuid + 8, base) == 0;
}

static void take_uuids_of(DBusMessageIter array, bool assigned, cbluez_bus_event *event) {
    for (; cdbus_has_type(&array, DBUS_TYPE_STRING); dbus_message_iter_next(&array)) {
        const char *uuid;
        dbus_message_iter_get_basic(&array, &uuid);
        if (event->uuid_count == CBLUEZ_UUIDS) return;
        if (is_assigned_uuid(uuid) != assigned || strlen(uuid) >= CBLUEZ_UUID_TEXT) continue;
        cdbus_copy_text(event->uuids[event->uuid_count++], CBLUEZ_UUID_TEXT, uuid);
    }
}

// A computer lists a dozen assigned services (GATT, audio) that sort before ours. They go last, and are cut first.
static bool take_uuids(DBusMessageIter *value, cbluez_bus_event *event) {
    DBusMessageIter array;
    if (!cdbus_enter_array(value, "as", &array)) return false;
    event->uuid_count = 0;
    take_uuids_of(array, false, event);
    take_uuids_of(array, true, event);
    return true;
}

// Copies a value of a basic D-Bus type into a member of `size` bytes.
static bool take_basic(DBusMessageIter *value, int type, void *member, size_t size) {
    if (!cdbus_has_type(value, type)) return false;
    if (type == DBUS_TYPE_STRING) {
        cdbus_copy_text(member, size, cdbus_text_of(value));
    } else if (type == DBUS_TYPE_BOOLEAN) {
        dbus_bool_t is_true;
        dbus_message_iter_get_basic(value, &is_true);
        *(bool *)member = is_true != 0;
    } else {
        dbus_message_iter_get_basic(value, member);
    }
    return true;
}

// A property that is copied to a member unchanged. The member has the size of the D-Bus type.
#define BASIC(name, field, type, member) \
    {name, field, type, offsetof(cbluez_bus_event, member), sizeof(((cbluez_bus_event *)0)->member), NULL}
#define SPECIAL(name, field, take) {name, field, 0, 0, 0, take}

static void take_property(const char *name, DBusMessageIter *value, cbluez_bus_event *event) {
    static const struct {
        const char *name;
        uint32_t field;
        int type;
        size_t offset, size;
        bool (*take)(DBusMessageIter *value, cbluez_bus_event *event);
    } properties[] = {
        SPECIAL("Address", CBLUEZ_FIELD_ADDRESS, take_address),
        SPECIAL("AddressType", 0, take_address_type),
        BASIC("Powered", CBLUEZ_FIELD_POWERED, DBUS_TYPE_BOOLEAN, powered),
        BASIC("Discovering", CBLUEZ_FIELD_DISCOVERING, DBUS_TYPE_BOOLEAN, discovering),
        BASIC("Connected", CBLUEZ_FIELD_CONNECTED, DBUS_TYPE_BOOLEAN, connected),
        BASIC("Paired", CBLUEZ_FIELD_PAIRED, DBUS_TYPE_BOOLEAN, paired),
        BASIC("Bonded", CBLUEZ_FIELD_BONDED, DBUS_TYPE_BOOLEAN, bonded),
        BASIC("Alias", CBLUEZ_FIELD_ALIAS, DBUS_TYPE_STRING, alias),
        BASIC("RSSI", CBLUEZ_FIELD_RSSI, DBUS_TYPE_INT16, rssi),
        BASIC("Name", CBLUEZ_FIELD_NAME, DBUS_TYPE_STRING, name),
        SPECIAL("ManufacturerData", CBLUEZ_FIELD_MANUFACTURER, take_manufacturer),
        SPECIAL("UUIDs", CBLUEZ_FIELD_UUIDS, take_uuids),
        BASIC("ActiveInstances", CBLUEZ_FIELD_ACTIVE_INSTANCES, DBUS_TYPE_BYTE, active_instances),
        BASIC("SupportedInstances", CBLUEZ_FIELD_FREE_INSTANCES, DBUS_TYPE_BYTE, free_instances),
        BASIC("Icon", CBLUEZ_FIELD_ICON, DBUS_TYPE_STRING, icon),
    };
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        if (strcmp(name, properties[i].name) != 0) continue;
        void *member = (char *)event + properties[i].offset;
        bool is_taken = properties[i].take ? properties[i].take(value, event)
                                           : take_basic(value, properties[i].type, member, properties[i].size);
        if (is_taken) event->fields |= properties[i].field;
        return;
    }
}

// `dictionary` points to an a{sv}.
static void take_properties(DBusMessageIter *dictionary, cbluez_bus_event *event) {
    DBusMessageIter entries;
    // The default without AddressType. A type that another interface of the object has set is kept.
    if (!event->address.kind) event->address.kind = CBLUEZ_ADDRESS_PUBLIC;
    if (!cdbus_enter_array(dictionary, "a{sv}", &entries)) return;
    for (; cdbus_has_type(&entries, DBUS_TYPE_DICT_ENTRY); dbus_message_iter_next(&entries)) {
        DBusMessageIter item;
        DBusMessageIter value;
        const char *name;
        dbus_message_iter_recurse(&entries, &item);
        dbus_message_iter_get_basic(&item, &name);
        dbus_message_iter_next(&item);
        dbus_message_iter_recurse(&item, &value);
        take_property(name, &value, event);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Objects
// ---------------------------------------------------------------------------------------------------------------------

static int kind_of(const char *interface, int adapter, int device) {
    if (strcmp(interface, BLUEZ_ADAPTER) == 0) return adapter;
    return strcmp(interface, BLUEZ_DEVICE) == 0 ? device : 0;
}

// No call could use a path that does not fit, so we ignore that object.
static bool take_path(const char *path, cbluez_bus_event *event) {
    if (!path || strlen(path) >= sizeof event->path) return false;
    cdbus_copy_text(event->path, sizeof event->path, path);
    return true;
}

// `interfaces` points to an a{sa{sv}}. An adapter and its advertising manager become one event.
static bool take_object(const char *path, DBusMessageIter *interfaces, cbluez_bus_event *event) {
    DBusMessageIter entries;
    if (!take_path(path, event) || !cdbus_enter_array(interfaces, "a{sa{sv}}", &entries)) return false;
    for (; cdbus_has_type(&entries, DBUS_TYPE_DICT_ENTRY); dbus_message_iter_next(&entries)) {
        DBusMessageIter item;
        const char *interface;
        dbus_message_iter_recurse(&entries, &item);
        dbus_message_iter_get_basic(&item, &interface);
        int kind = kind_of(interface, CBLUEZ_EVENT_ADAPTER, CBLUEZ_EVENT_DEVICE);
        if (!kind && strcmp(interface, BLUEZ_ADVERTISING_MANAGER) != 0) continue;
        if (kind) event->kind = kind;
        dbus_message_iter_next(&item);
        take_properties(&item, event);
    }
    return event->kind != 0;
}

static bool take_added(DBusMessage *signal, cbluez_bus_event *event) {
    DBusMessageIter arguments;
    const char *path;
    if (!dbus_message_has_signature(signal, "oa{sa{sv}}")) return false;
    dbus_message_iter_init(signal, &arguments);
    dbus_message_iter_get_basic(&arguments, &path);
    dbus_message_iter_next(&arguments);
    return take_object(path, &arguments, event);
}

static bool take_removed(DBusMessage *signal, cbluez_bus_event *event) {
    DBusMessageIter arguments;
    DBusMessageIter interfaces;
    const char *path;
    if (!dbus_message_has_signature(signal, "oas")) return false;
    dbus_message_iter_init(signal, &arguments);
    dbus_message_iter_get_basic(&arguments, &path);
    if (!take_path(path, event)) return false;
    dbus_message_iter_next(&arguments);
    dbus_message_iter_recurse(&arguments, &interfaces);
    for (; cdbus_has_type(&interfaces, DBUS_TYPE_STRING); dbus_message_iter_next(&interfaces)) {
        const char *interface;
        dbus_message_iter_get_basic(&interfaces, &interface);
        event->kind = kind_of(interface, CBLUEZ_EVENT_ADAPTER_REMOVED, CBLUEZ_EVENT_DEVICE_REMOVED);
        if (event->kind) return true;
    }
    return false;
}

static void take_invalidated(DBusMessageIter *names, cbluez_bus_event *event) {
    DBusMessageIter entries;
    if (!cdbus_enter_array(names, "as", &entries)) return;
    for (; cdbus_has_type(&entries, DBUS_TYPE_STRING); dbus_message_iter_next(&entries)) {
        const char *name;
        dbus_message_iter_get_basic(&entries, &name);
        if (strcmp(name, "RSSI") == 0) event->fields |= CBLUEZ_FIELD_RSSI_GONE;
    }
}

static bool take_changed(DBusMessage *signal, cbluez_bus_event *event) {
    DBusMessageIter arguments;
    const char *interface;
    if (!dbus_message_has_signature(signal, "sa{sv}as")) return false;
    dbus_message_iter_init(signal, &arguments);
    dbus_message_iter_get_basic(&arguments, &interface);
    event->kind = kind_of(interface, CBLUEZ_EVENT_ADAPTER, CBLUEZ_EVENT_DEVICE);
    if (!event->kind || !take_path(dbus_message_get_path(signal), event)) return false;
    dbus_message_iter_next(&arguments);
    take_properties(&arguments, event);
    dbus_message_iter_next(&arguments);
    take_invalidated(&arguments, event);
    return event->fields != 0;
}

bool bus_event_from_signal(DBusMessage *signal, cbluez_bus_event *event) {
    bool is_event = false;
    if (dbus_message_is_signal(signal, OBJECT_MANAGER, "InterfacesAdded")) {
        is_event = take_added(signal, event);
    } else if (dbus_message_is_signal(signal, OBJECT_MANAGER, "InterfacesRemoved")) {
        is_event = take_removed(signal, event);
    } else if (dbus_message_is_signal(signal, DBUS_INTERFACE_PROPERTIES, "PropertiesChanged")) {
        is_event = take_changed(signal, event);
    }
    if (!is_event) *event = (cbluez_bus_event){0}; // no partly read values reach the next event
    return is_event;
}

bool bus_objects_begin(cbluez_bus *bus, DBusMessage *reply) {
    DBusMessageIter arguments;
    if (!dbus_message_has_signature(reply, "a{oa{sa{sv}}}")) return false;
    dbus_message_iter_init(reply, &arguments);
    dbus_message_iter_recurse(&arguments, &bus->objects_left);
    bus->objects = dbus_message_ref(reply);
    return true;
}

bool bus_objects_next(cbluez_bus *bus, cbluez_bus_event *event) {
    while (cdbus_has_type(&bus->objects_left, DBUS_TYPE_DICT_ENTRY)) {
        DBusMessageIter item;
        const char *path;
        dbus_message_iter_recurse(&bus->objects_left, &item);
        dbus_message_iter_get_basic(&item, &path);
        dbus_message_iter_next(&item);
        bool is_event = take_object(path, &item, event);
        dbus_message_iter_next(&bus->objects_left);
        if (is_event) return true;
        *event = (cbluez_bus_event){0};
    }
    dbus_message_unref(bus->objects);
    bus->objects = NULL;
    return false;
}
