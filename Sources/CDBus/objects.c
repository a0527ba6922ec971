// SPDX-License-Identifier: Apache-2.0
//
// Answers that all our objects share.

#include <errno.h>
#include <string.h>

#include "internal.h"

bool cdbus_send_answer(cdbus *bus, DBusMessage *call, DBusMessage *answer) {
    if (!answer) return false;
    bool is_sent = dbus_message_get_no_reply(call) || dbus_connection_send(bus->connection, answer, NULL);
    dbus_message_unref(answer);
    return is_sent;
}

bool cdbus_answer_done(cdbus *bus, DBusMessage *call) {
    return cdbus_send_answer(bus, call, dbus_message_new_method_return(call));
}

bool cdbus_refuse(cdbus *bus, DBusMessage *call, const char *error, const char *text) {
    return cdbus_send_answer(bus, call, dbus_message_new_error(call, error, text));
}

// Sends a built answer, or drops one that could not be completed.
static void send_built(cdbus *bus, DBusMessage *call, DBusMessage *answer, bool is_complete) {
    if (is_complete) {
        cdbus_send_answer(bus, call, answer);
    } else {
        dbus_message_unref(answer);
    }
}

void cdbus_answer_introspect(cdbus *bus, DBusMessage *call, const char *xml) {
    DBusMessage *answer = dbus_message_new_method_return(call);
    if (!answer) return;
    send_built(bus, call, answer, dbus_message_append_args(answer, DBUS_TYPE_STRING, &xml, DBUS_TYPE_INVALID));
}

// ---------------------------------------------------------------------------------------------------------------------
// Properties
// ---------------------------------------------------------------------------------------------------------------------

static const cdbus_interface *find_interface(const cdbus_interface *interfaces, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(interfaces[i].name, name) == 0) return &interfaces[i];
    }
    return NULL;
}

static const cdbus_property *find_property(const cdbus_interface *interface, const char *name, const void *object) {
    for (size_t i = 0; i < interface->count; i++) {
        const cdbus_property *one = &interface->properties[i];
        if (strcmp(one->name, name) == 0) return !one->is_given || one->is_given(object) ? one : NULL;
    }
    return NULL;
}

static bool append_value(DBusMessageIter *to, const cdbus_property *property, const void *object) {
    DBusMessageIter variant;
    return dbus_message_iter_open_container(to, DBUS_TYPE_VARIANT, property->signature, &variant) &&
           property->append(&variant, object) && dbus_message_iter_close_container(to, &variant);
}

static bool append_property(DBusMessageIter *dictionary, const cdbus_property *property, const void *object) {
    DBusMessageIter entry;
    return dbus_message_iter_open_container(dictionary, DBUS_TYPE_DICT_ENTRY, NULL, &entry) &&
           dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &property->name) &&
           append_value(&entry, property, object) && dbus_message_iter_close_container(dictionary, &entry);
}

bool cdbus_append_properties(DBusMessageIter *to, const cdbus_interface *interface, const void *object) {
    DBusMessageIter dictionary;
    if (!dbus_message_iter_open_container(to, DBUS_TYPE_ARRAY, "{sv}", &dictionary)) return false;
    for (size_t i = 0; i < interface->count; i++) {
        const cdbus_property *property = &interface->properties[i];
        if (property->is_given && !property->is_given(object)) continue;
        if (!append_property(&dictionary, property, object)) return false;
    }
    return dbus_message_iter_close_container(to, &dictionary);
}

static void answer_get_all(cdbus *bus, DBusMessage *call, const cdbus_interface *interfaces, size_t count,
                           const void *object) {
    const char *name;
    if (!dbus_message_get_args(call, NULL, DBUS_TYPE_STRING, &name, DBUS_TYPE_INVALID)) {
        cdbus_refuse(bus, call, DBUS_ERROR_INVALID_ARGS, "GetAll takes an interface");
        return;
    }
    const cdbus_interface *interface = find_interface(interfaces, count, name);
    if (!interface) {
        cdbus_refuse(bus, call, DBUS_ERROR_UNKNOWN_INTERFACE, "no such interface");
        return;
    }
    DBusMessage *answer = dbus_message_new_method_return(call);
    if (!answer) return;
    DBusMessageIter arguments;
    dbus_message_iter_init_append(answer, &arguments);
    send_built(bus, call, answer, cdbus_append_properties(&arguments, interface, object));
}

static void answer_get(cdbus *bus, DBusMessage *call, const cdbus_interface *interfaces, size_t count,
                       const void *object) {
    const char *interface_name;
    const char *name;
    if (!dbus_message_get_args(call, NULL, DBUS_TYPE_STRING, &interface_name, DBUS_TYPE_STRING, &name,
                               DBUS_TYPE_INVALID)) {
        cdbus_refuse(bus, call, DBUS_ERROR_INVALID_ARGS, "Get takes an interface and a property");
        return;
    }
    const cdbus_interface *interface = find_interface(interfaces, count, interface_name);
    const cdbus_property *property = interface ? find_property(interface, name, object) : NULL;
    if (!property) {
        cdbus_refuse(bus, call, DBUS_ERROR_UNKNOWN_PROPERTY, "no such property");
        return;
    }
    DBusMessage *answer = dbus_message_new_method_return(call);
    if (!answer) return;
    DBusMessageIter arguments;
    dbus_message_iter_init_append(answer, &arguments);
    send_built(bus, call, answer, append_value(&arguments, property, object));
}

bool cdbus_answer_properties(cdbus *bus, DBusMessage *call, const cdbus_interface *interfaces, size_t count,
                             const void *object) {
    if (dbus_message_is_method_call(call, DBUS_INTERFACE_PROPERTIES, "GetAll")) {
        answer_get_all(bus, call, interfaces, count, object);
    } else if (dbus_message_is_method_call(call, DBUS_INTERFACE_PROPERTIES, "Get")) {
        answer_get(bus, call, interfaces, count, object);
    } else if (dbus_message_is_method_call(call, DBUS_INTERFACE_PROPERTIES, "Set")) {
        cdbus_refuse(bus, call, DBUS_ERROR_PROPERTY_READ_ONLY, "all properties are read-only");
    } else {
        return false;
    }
    return true;
}

static bool append_changed(DBusMessage *signal, const cdbus_interface *interface, const char *const *names,
                           size_t count, const void *object) {
    DBusMessageIter arguments;
    DBusMessageIter dictionary;
    dbus_message_iter_init_append(signal, &arguments);
    bool is_complete = dbus_message_iter_append_basic(&arguments, DBUS_TYPE_STRING, &interface->name) &&
                       dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &dictionary);
    for (size_t i = 0; is_complete && i < count; i++) {
        const cdbus_property *property = find_property(interface, names[i], object);
        if (property) is_complete = append_property(&dictionary, property, object);
    }
    return is_complete && dbus_message_iter_close_container(&arguments, &dictionary) &&
           cdbus_append_texts(&arguments, NULL, 0);
}

int cdbus_tell_changed(cdbus *bus, const char *path, const cdbus_interface *interface, const char *const *names,
                       size_t count, const void *object) {
    DBusMessage *signal = dbus_message_new_signal(path, DBUS_INTERFACE_PROPERTIES, "PropertiesChanged");
    if (!signal) return -ENOMEM;
    if (append_changed(signal, interface, names, count, object)) return cdbus_send(bus, signal);
    dbus_message_unref(signal);
    return -ENOMEM;
}
