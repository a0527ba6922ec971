// SPDX-License-Identifier: Apache-2.0
//
// The advertisement objects that we export, and bluetoothd reads (BlueZ 5.66, doc/advertising-api.txt).

#include <errno.h>
#include <string.h>

#include "bus.h"

#define INTROSPECTION                                                                                                  \
    DBUS_INTROSPECT_1_0_XML_DOCTYPE_DECL_NODE                                                                          \
    "<node><interface name=\"" BLUEZ_ADVERTISEMENT "\"><method name=\"Release\"/>"                                     \
    "<property name=\"Type\" type=\"s\" access=\"read\"/>"                                                             \
    "<property name=\"Discoverable\" type=\"b\" access=\"read\"/>"                                                     \
    "<property name=\"ServiceUUIDs\" type=\"as\" access=\"read\"/>"                                                    \
    "<property name=\"ManufacturerData\" type=\"a{qv}\" access=\"read\"/>"                                             \
    "<property name=\"LocalName\" type=\"s\" access=\"read\"/>"                                                        \
    "<property name=\"MinInterval\" type=\"u\" access=\"read\"/>"                                                      \
    "<property name=\"MaxInterval\" type=\"u\" access=\"read\"/>"                                                      \
    "</interface></node>"

// ---------------------------------------------------------------------------------------------------------------------
// Registering
// ---------------------------------------------------------------------------------------------------------------------

static bus_advertisement *find(cbluez_bus *bus, const char *path) {
    for (size_t i = 0; i < BUS_ADVERTISEMENTS; i++) {
        bus_advertisement *advertisement = &bus->advertisements[i];
        if (advertisement->serial && strcmp(advertisement->path, path) == 0) return advertisement;
    }
    return NULL;
}

static bus_advertisement *find_free(cbluez_bus *bus) {
    for (size_t i = 0; i < BUS_ADVERTISEMENTS; i++) {
        if (!bus->advertisements[i].serial) return &bus->advertisements[i];
    }
    return NULL;
}

void bus_drop_advertisement(cbluez_bus *bus, uint32_t serial) {
    for (size_t i = 0; i < BUS_ADVERTISEMENTS; i++) {
        bus_advertisement *advertisement = &bus->advertisements[i];
        if (serial == 0 || advertisement->serial == serial) *advertisement = (bus_advertisement){0};
    }
}

static bool fits(const char *text, size_t size) {
    return !text || (strlen(text) < size && dbus_validate_utf8(text, NULL));
}

static bool copy_advertisement(const char *path, const cbluez_advertisement *from, bus_advertisement *to) {
    if (!bus_is_path(path) || !fits(path, sizeof to->path)) return false;
    if (!fits(from->uuid, sizeof to->uuid) || !fits(from->local_name, sizeof to->local_name)) return false;
    if (from->manufacturer_count > sizeof to->manufacturer_data) return false;
    *to = (bus_advertisement){
        .company = from->company,
        .manufacturer_count = from->manufacturer_count,
        .min_interval_ms = from->min_interval_ms,
        .max_interval_ms = from->max_interval_ms,
    };
    bus_copy_text(to->path, sizeof to->path, path);
    if (from->uuid) bus_copy_text(to->uuid, sizeof to->uuid, from->uuid);
    if (from->local_name) bus_copy_text(to->local_name, sizeof to->local_name, from->local_name);
    if (from->manufacturer_count) memcpy(to->manufacturer_data, from->manufacturer_data, from->manufacturer_count);
    return true;
}

static bool append_registration(DBusMessage *call, const char *path) {
    DBusMessageIter arguments;
    DBusMessageIter options;
    dbus_message_iter_init_append(call, &arguments);
    return dbus_message_iter_append_basic(&arguments, DBUS_TYPE_OBJECT_PATH, &path) &&
           dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &options) &&
           dbus_message_iter_close_container(&arguments, &options);
}

int64_t cbluez_bus_register_advertisement(cbluez_bus *bus, const char *adapter, const char *path,
                                          const cbluez_advertisement *advertisement, int timeout_ms) {
    bus_advertisement copy;
    if (!bus_is_path(adapter) || !copy_advertisement(path, advertisement, &copy)) return -EINVAL;
    bus_advertisement *place = find(bus, path);
    if (!place) place = find_free(bus);
    if (!place) return -ENOSPC;
    DBusMessage *call = bus_new_call(adapter, BLUEZ_ADVERTISING_MANAGER, "RegisterAdvertisement");
    if (!call) return -ENOMEM;
    int64_t serial = bus_finish_call(bus, call, append_registration(call, path), BUS_CALL_REGISTER, timeout_ms);
    if (serial < 0) return serial;
    copy.serial = (uint32_t)serial;
    *place = copy;
    return serial;
}

int64_t cbluez_bus_unregister_advertisement(cbluez_bus *bus, const char *adapter, const char *path, int timeout_ms) {
    if (!path) return -EINVAL;
    const char *member = "UnregisterAdvertisement";
    int64_t serial = bus_call_object(bus, adapter, BLUEZ_ADVERTISING_MANAGER, member, path, timeout_ms);
    bus_advertisement *place = find(bus, path);
    if (serial > 0 && place) *place = (bus_advertisement){0};
    return serial;
}

// ---------------------------------------------------------------------------------------------------------------------
// Properties
// ---------------------------------------------------------------------------------------------------------------------

static bool append_uuids(DBusMessageIter *variant, const char *uuid) {
    DBusMessageIter array;
    return dbus_message_iter_open_container(variant, DBUS_TYPE_ARRAY, "s", &array) &&
           dbus_message_iter_append_basic(&array, DBUS_TYPE_STRING, &uuid) &&
           dbus_message_iter_close_container(variant, &array);
}

static bool append_manufacturer(DBusMessageIter *variant, const bus_advertisement *advertisement) {
    const uint8_t *bytes = advertisement->manufacturer_data;
    int count = (int)advertisement->manufacturer_count;
    DBusMessageIter companies, company, value, array;
    return dbus_message_iter_open_container(variant, DBUS_TYPE_ARRAY, "{qv}", &companies) &&
           dbus_message_iter_open_container(&companies, DBUS_TYPE_DICT_ENTRY, NULL, &company) &&
           dbus_message_iter_append_basic(&company, DBUS_TYPE_UINT16, &advertisement->company) &&
           dbus_message_iter_open_container(&company, DBUS_TYPE_VARIANT, "ay", &value) &&
           dbus_message_iter_open_container(&value, DBUS_TYPE_ARRAY, "y", &array) &&
           dbus_message_iter_append_fixed_array(&array, DBUS_TYPE_BYTE, &bytes, count) &&
           dbus_message_iter_close_container(&value, &array) && dbus_message_iter_close_container(&company, &value) &&
           dbus_message_iter_close_container(&companies, &company) &&
           dbus_message_iter_close_container(variant, &companies);
}

typedef struct {
    const char *name;
    const char *signature;
    // A text, or what its signature says.
    const void *value;
    bool is_given;
} property;

#define PROPERTIES 7

// With Discoverable bluetoothd itself writes the flags (general discoverable, no BR/EDR), whatever the adapter's own says;
// without it the kernel adds them or not, and the 31 bytes could not be planned.
static void list_properties(const bus_advertisement *advertisement, property properties[PROPERTIES]) {
    static const dbus_bool_t is_discoverable = true;
    const property all[PROPERTIES] = {
        {"Type", "s", "peripheral", true},
        {"Discoverable", "b", &is_discoverable, true},
        {"ServiceUUIDs", "as", advertisement->uuid, advertisement->uuid[0] != '\0'},
        {"ManufacturerData", "a{qv}", advertisement, advertisement->manufacturer_count > 0},
        {"LocalName", "s", advertisement->local_name, advertisement->local_name[0] != '\0'},
        {"MinInterval", "u", &advertisement->min_interval_ms, advertisement->min_interval_ms != 0},
        {"MaxInterval", "u", &advertisement->max_interval_ms, advertisement->max_interval_ms != 0},
    };
    memcpy(properties, all, sizeof all);
}

static bool append_value(DBusMessageIter *variant, const property *one) {
    const char *text = one->value;
    if (strcmp(one->signature, "as") == 0) return append_uuids(variant, text);
    if (strcmp(one->signature, "a{qv}") == 0) return append_manufacturer(variant, one->value);
    const void *value = one->signature[0] == DBUS_TYPE_STRING ? (const void *)&text : one->value;
    return dbus_message_iter_append_basic(variant, one->signature[0], value);
}

static bool append_variant(DBusMessageIter *to, const property *one) {
    DBusMessageIter variant;
    return dbus_message_iter_open_container(to, DBUS_TYPE_VARIANT, one->signature, &variant) &&
           append_value(&variant, one) && dbus_message_iter_close_container(to, &variant);
}

static bool append_all(DBusMessageIter *to, const bus_advertisement *advertisement) {
    property properties[PROPERTIES];
    DBusMessageIter dictionary;
    list_properties(advertisement, properties);
    if (!dbus_message_iter_open_container(to, DBUS_TYPE_ARRAY, "{sv}", &dictionary)) return false;
    for (size_t i = 0; i < PROPERTIES; i++) {
        DBusMessageIter entry;
        if (!properties[i].is_given) continue;
        if (!dbus_message_iter_open_container(&dictionary, DBUS_TYPE_DICT_ENTRY, NULL, &entry) ||
            !dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &properties[i].name) ||
            !append_variant(&entry, &properties[i]) ||
            !dbus_message_iter_close_container(&dictionary, &entry)) {
            return false;
        }
    }
    return dbus_message_iter_close_container(to, &dictionary);
}

// ---------------------------------------------------------------------------------------------------------------------
// Answering
// ---------------------------------------------------------------------------------------------------------------------

// Sends a built answer, or drops one that could not be completed.
static void send_built(cbluez_bus *bus, DBusMessage *call, DBusMessage *answer, bool is_complete) {
    if (is_complete) {
        bus_send_answer(bus, call, answer);
    } else {
        dbus_message_unref(answer);
    }
}

static void answer_get_all(cbluez_bus *bus, DBusMessage *call, const bus_advertisement *advertisement) {
    const char *interface;
    if (!dbus_message_get_args(call, NULL, DBUS_TYPE_STRING, &interface, DBUS_TYPE_INVALID)) {
        bus_refuse(bus, call, DBUS_ERROR_INVALID_ARGS, "GetAll takes an interface");
        return;
    }
    if (strcmp(interface, BLUEZ_ADVERTISEMENT) != 0) {
        bus_refuse(bus, call, DBUS_ERROR_UNKNOWN_INTERFACE, "no such interface");
        return;
    }
    DBusMessage *answer = dbus_message_new_method_return(call);
    if (!answer) return;
    DBusMessageIter arguments;
    dbus_message_iter_init_append(answer, &arguments);
    send_built(bus, call, answer, append_all(&arguments, advertisement));
}

static void answer_get(cbluez_bus *bus, DBusMessage *call, const bus_advertisement *advertisement) {
    const char *interface;
    const char *name;
    if (!dbus_message_get_args(call, NULL, DBUS_TYPE_STRING, &interface, DBUS_TYPE_STRING, &name, DBUS_TYPE_INVALID)) {
        bus_refuse(bus, call, DBUS_ERROR_INVALID_ARGS, "Get takes an interface and a property");
        return;
    }
    property properties[PROPERTIES];
    list_properties(advertisement, properties);
    size_t i = 0;
    while (i < PROPERTIES && (!properties[i].is_given || strcmp(properties[i].name, name) != 0)) i++;
    if (i == PROPERTIES || strcmp(interface, BLUEZ_ADVERTISEMENT) != 0) {
        bus_refuse(bus, call, DBUS_ERROR_UNKNOWN_PROPERTY, "no such property");
        return;
    }
    DBusMessage *answer = dbus_message_new_method_return(call);
    if (!answer) return;
    DBusMessageIter arguments;
    dbus_message_iter_init_append(answer, &arguments);
    send_built(bus, call, answer, append_variant(&arguments, &properties[i]));
}

static bool answer_release(cbluez_bus *bus, DBusMessage *call, bus_advertisement *advertisement,
                           cbluez_bus_event *event) {
    event->kind = CBLUEZ_EVENT_ADVERTISEMENT_RELEASED;
    bus_copy_text(event->path, sizeof event->path, advertisement->path);
    *advertisement = (bus_advertisement){0};
    bus_send_answer(bus, call, dbus_message_new_method_return(call));
    return true;
}

bool bus_answer_advertisement_call(cbluez_bus *bus, DBusMessage *call, cbluez_bus_event *event, bool *is_known) {
    const char *path = dbus_message_get_path(call);
    bus_advertisement *advertisement = path ? find(bus, path) : NULL;
    *is_known = advertisement != NULL;
    if (!advertisement) return false;
    if (dbus_message_is_method_call(call, DBUS_INTERFACE_PROPERTIES, "GetAll")) {
        answer_get_all(bus, call, advertisement);
    } else if (dbus_message_is_method_call(call, DBUS_INTERFACE_PROPERTIES, "Get")) {
        answer_get(bus, call, advertisement);
    } else if (dbus_message_is_method_call(call, DBUS_INTERFACE_PROPERTIES, "Set")) {
        bus_refuse(bus, call, DBUS_ERROR_PROPERTY_READ_ONLY, "all properties are read-only");
    } else if (dbus_message_is_method_call(call, DBUS_INTERFACE_INTROSPECTABLE, "Introspect")) {
        bus_answer_introspect(bus, call, INTROSPECTION);
    } else if (dbus_message_is_method_call(call, BLUEZ_ADVERTISEMENT, "Release")) {
        return answer_release(bus, call, advertisement, event);
    } else {
        bus_refuse(bus, call, DBUS_ERROR_UNKNOWN_METHOD, "no such method");
    }
    return false;
}
