// SPDX-License-Identifier: Apache-2.0
//
// The advertisement objects that we export and bluetoothd reads (BlueZ 5.66, doc/advertising-api.txt).

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
    if (!cdbus_is_path(path) || !fits(path, sizeof to->path)) return false;
    if (!fits(from->uuid, sizeof to->uuid) || !fits(from->local_name, sizeof to->local_name)) return false;
    if (from->manufacturer_count > sizeof to->manufacturer_data) return false;
    *to = (bus_advertisement){
        .company = from->company,
        .manufacturer_count = from->manufacturer_count,
        .min_interval_ms = from->min_interval_ms,
        .max_interval_ms = from->max_interval_ms,
    };
    cdbus_copy_text(to->path, sizeof to->path, path);
    if (from->uuid) cdbus_copy_text(to->uuid, sizeof to->uuid, from->uuid);
    if (from->local_name) cdbus_copy_text(to->local_name, sizeof to->local_name, from->local_name);
    if (from->manufacturer_count) memcpy(to->manufacturer_data, from->manufacturer_data, from->manufacturer_count);
    return true;
}

int64_t cbluez_bus_register_advertisement(cbluez_bus *bus, const char *adapter, const char *path,
                                          const cbluez_advertisement *advertisement, int timeout_ms) {
    bus_advertisement copy;
    if (!cdbus_is_path(adapter) || !copy_advertisement(path, advertisement, &copy)) return -EINVAL;
    bus_advertisement *place = find(bus, path);
    if (!place) place = find_free(bus);
    if (!place) return -ENOSPC;
    int64_t serial = bus_call_register(bus, adapter, BLUEZ_ADVERTISING_MANAGER, "RegisterAdvertisement", path,
                                       BUS_CALL_REGISTER, timeout_ms);
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

#define ADVERTISEMENT(object) ((const bus_advertisement *)(object))

static bool append_type(DBusMessageIter *variant, const void *object) {
    static const char *const type = "peripheral";
    (void)object;
    return dbus_message_iter_append_basic(variant, DBUS_TYPE_STRING, &type);
}

// With Discoverable, bluetoothd writes the flags itself (general discoverable, no BR/EDR), whatever the adapter's own
// setting is. Without it, the kernel may or may not add them, so we could not plan the 31 bytes.
static bool append_discoverable(DBusMessageIter *variant, const void *object) {
    static const dbus_bool_t is_discoverable = true;
    (void)object;
    return dbus_message_iter_append_basic(variant, DBUS_TYPE_BOOLEAN, &is_discoverable);
}

static bool has_uuid(const void *object) {
    return ADVERTISEMENT(object)->uuid[0] != '\0';
}

static bool append_uuids(DBusMessageIter *variant, const void *object) {
    const char *uuid = ADVERTISEMENT(object)->uuid;
    return cdbus_append_texts(variant, &uuid, 1);
}

static bool has_manufacturer(const void *object) {
    return ADVERTISEMENT(object)->manufacturer_count > 0;
}

static bool append_manufacturer(DBusMessageIter *variant, const void *object) {
    const bus_advertisement *advertisement = object;
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

static bool has_name(const void *object) {
    return ADVERTISEMENT(object)->local_name[0] != '\0';
}

static bool append_name(DBusMessageIter *variant, const void *object) {
    const char *name = ADVERTISEMENT(object)->local_name;
    return dbus_message_iter_append_basic(variant, DBUS_TYPE_STRING, &name);
}

static bool has_min_interval(const void *object) {
    return ADVERTISEMENT(object)->min_interval_ms != 0;
}

static bool append_min_interval(DBusMessageIter *variant, const void *object) {
    return dbus_message_iter_append_basic(variant, DBUS_TYPE_UINT32, &ADVERTISEMENT(object)->min_interval_ms);
}

static bool has_max_interval(const void *object) {
    return ADVERTISEMENT(object)->max_interval_ms != 0;
}

static bool append_max_interval(DBusMessageIter *variant, const void *object) {
    return dbus_message_iter_append_basic(variant, DBUS_TYPE_UINT32, &ADVERTISEMENT(object)->max_interval_ms);
}

static const cdbus_property properties[] = {
    {"Type", "s", append_type, NULL},
    {"Discoverable", "b", append_discoverable, NULL},
    {"ServiceUUIDs", "as", append_uuids, has_uuid},
    {"ManufacturerData", "a{qv}", append_manufacturer, has_manufacturer},
    {"LocalName", "s", append_name, has_name},
    {"MinInterval", "u", append_min_interval, has_min_interval},
    {"MaxInterval", "u", append_max_interval, has_max_interval},
};

static const cdbus_interface interface = {BLUEZ_ADVERTISEMENT, properties, sizeof properties / sizeof properties[0]};

// ---------------------------------------------------------------------------------------------------------------------
// Answering
// ---------------------------------------------------------------------------------------------------------------------

static bool answer_release(cbluez_bus *bus, DBusMessage *call, bus_advertisement *advertisement,
                           cbluez_bus_event *event) {
    event->kind = CBLUEZ_EVENT_ADVERTISEMENT_RELEASED;
    cdbus_copy_text(event->path, sizeof event->path, advertisement->path);
    *advertisement = (bus_advertisement){0};
    cdbus_answer_done(bus->dbus, call);
    return true;
}

bool bus_answer_advertisement_call(cbluez_bus *bus, DBusMessage *call, cbluez_bus_event *event, bool *is_known) {
    const char *path = dbus_message_get_path(call);
    bus_advertisement *advertisement = path ? find(bus, path) : NULL;
    *is_known = advertisement != NULL;
    if (!advertisement) return false;
    if (cdbus_answer_properties(bus->dbus, call, &interface, 1, advertisement)) return false;
    if (dbus_message_is_method_call(call, DBUS_INTERFACE_INTROSPECTABLE, "Introspect")) {
        cdbus_answer_introspect(bus->dbus, call, INTROSPECTION);
    } else if (dbus_message_is_method_call(call, BLUEZ_ADVERTISEMENT, "Release")) {
        return answer_release(bus, call, advertisement, event);
    } else {
        cdbus_refuse(bus->dbus, call, DBUS_ERROR_UNKNOWN_METHOD, "no such method");
    }
    return false;
}
