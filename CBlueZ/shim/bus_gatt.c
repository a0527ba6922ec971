// SPDX-License-Identifier: Apache-2.0
//
// The GATT service that we export and bluetoothd uses (BlueZ 5.66, doc/gatt-api.txt): an application with one service
// object, and an object for each characteristic. The caller supplies the values that are read and the descriptors that
// carry data.

#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus.h"

#define SERVICE_SUFFIX "/service"
#define CHARACTERISTIC_SUFFIX SERVICE_SUFFIX "/characteristic"
#define MANAGER "org.bluez.GattManager1"
#define SERVICE "org.bluez.GattService1"
#define CHARACTERISTIC "org.bluez.GattCharacteristic1"
#define FAILED "org.bluez.Error.Failed"
#define INVALID_OFFSET "org.bluez.Error.InvalidOffset"

/// A characteristic, in the form that the functions for its properties need.
typedef struct {
    const bus_application *application;
    const bus_characteristic *characteristic;
} object;

// ---------------------------------------------------------------------------------------------------------------------
// Registering
// ---------------------------------------------------------------------------------------------------------------------

static void drop_question(bus_question *question) {
    if (question->call) dbus_message_unref(question->call);
    *question = (bus_question){0};
}

static void drop_writer(bus_writer *writer) {
    if (writer->device[0] != '\0') {
        close(writer->ours);
        if (writer->theirs >= 0) close(writer->theirs);
    }
    *writer = (bus_writer){0};
}

void bus_drop_application(cbluez_bus *bus, uint32_t serial) {
    if (serial != 0 && bus->application.serial != serial) return;
    uint32_t requests = bus->application.requests;
    for (size_t i = 0; i < BUS_QUESTIONS; i++) drop_question(&bus->application.questions[i]);
    for (size_t i = 0; i < CBLUEZ_CHARACTERISTICS; i++) drop_writer(&bus->application.writers[i]);
    // Request numbers are not reused.
    bus->application = (bus_application){.requests = requests};
}

static bool is_uuid(const char *text) {
    return text && strlen(text) == CBLUEZ_UUID_TEXT - 1 && dbus_validate_utf8(text, NULL);
}

static bool copy_characteristic(const cbluez_characteristic *from, bus_characteristic *to) {
    if (!is_uuid(from->uuid)) return false;
    if (from->kind < CBLUEZ_CHARACTERISTIC_READ || from->kind > CBLUEZ_CHARACTERISTIC_NOTIFY) return false;
    cdbus_copy_text(to->uuid, sizeof to->uuid, from->uuid);
    to->kind = from->kind;
    to->buffer = from->buffer;
    return true;
}

int64_t cbluez_bus_register_application(cbluez_bus *bus, const char *adapter, const char *path, const char *service,
                                        const cbluez_characteristic *characteristics, size_t count, int timeout_ms) {
    bus_application copy = {.count = count, .requests = bus->application.requests};
    if (!cdbus_is_path(adapter) || !cdbus_is_path(path) || strlen(path) >= BUS_APPLICATION_PATH) return -EINVAL;
    if (!is_uuid(service) || count > CBLUEZ_CHARACTERISTICS) return -EINVAL;
    for (size_t i = 0; i < count; i++) {
        if (!copy_characteristic(&characteristics[i], &copy.characteristics[i])) return -EINVAL;
    }
    if (bus->application.serial) return -EBUSY;
    cdbus_copy_text(copy.path, sizeof copy.path, path);
    cdbus_copy_text(copy.service, sizeof copy.service, service);
    int64_t serial = bus_call_register(bus, adapter, MANAGER, "RegisterApplication", path,
                                       BUS_CALL_REGISTER_APPLICATION, timeout_ms);
    if (serial < 0) return serial;
    copy.serial = (uint32_t)serial;
    bus->application = copy;
    return serial;
}

int64_t cbluez_bus_unregister_application(cbluez_bus *bus, const char *adapter, const char *path, int timeout_ms) {
    if (!path) return -EINVAL;
    int64_t serial = bus_call_object(bus, adapter, MANAGER, "UnregisterApplication", path, timeout_ms);
    if (serial > 0 && strcmp(bus->application.path, path) == 0) bus_drop_application(bus, 0);
    return serial;
}

// ---------------------------------------------------------------------------------------------------------------------
// Properties
// ---------------------------------------------------------------------------------------------------------------------

static bool append_service_uuid(DBusMessageIter *variant, const void *application) {
    const char *uuid = ((const bus_application *)application)->service;
    return dbus_message_iter_append_basic(variant, DBUS_TYPE_STRING, &uuid);
}

static bool append_primary(DBusMessageIter *variant, const void *application) {
    static const dbus_bool_t is_primary = true;
    (void)application;
    return dbus_message_iter_append_basic(variant, DBUS_TYPE_BOOLEAN, &is_primary);
}

static bool append_uuid(DBusMessageIter *variant, const void *one) {
    const char *uuid = ((const object *)one)->characteristic->uuid;
    return dbus_message_iter_append_basic(variant, DBUS_TYPE_STRING, &uuid);
}

static bool append_service(DBusMessageIter *variant, const void *one) {
    char text[CBLUEZ_PATH_TEXT];
    const char *path = text;
    snprintf(text, sizeof text, "%s" SERVICE_SUFFIX, ((const object *)one)->application->path);
    return dbus_message_iter_append_basic(variant, DBUS_TYPE_OBJECT_PATH, &path);
}

static bool append_flags(DBusMessageIter *variant, const void *one) {
    static const char *const flags[] = {
        [CBLUEZ_CHARACTERISTIC_READ] = "read",
        [CBLUEZ_CHARACTERISTIC_WRITE] = "write-without-response",
        [CBLUEZ_CHARACTERISTIC_NOTIFY] = "notify",
    };
    return cdbus_append_texts(variant, &flags[((const object *)one)->characteristic->kind], 1);
}

static bool is_notified(const void *one) {
    return ((const object *)one)->characteristic->kind == CBLUEZ_CHARACTERISTIC_NOTIFY;
}

// bluetoothd asks for a descriptor because this property exists. It does not read the value. There is no WriteAcquired: until
// bluetoothd has the descriptor of a write, it keeps a pointer into the buffer that the next packet overwrites (5.50 to 5.87,
// src/gatt-database.c, pending_write_new).
static bool append_acquired(DBusMessageIter *variant, const void *one) {
    static const dbus_bool_t is_acquired = false;
    (void)one;
    return dbus_message_iter_append_basic(variant, DBUS_TYPE_BOOLEAN, &is_acquired);
}

static const cdbus_property service_properties[] = {
    {"UUID", "s", append_service_uuid, NULL},
    {"Primary", "b", append_primary, NULL},
};
static const cdbus_property characteristic_properties[] = {
    {"UUID", "s", append_uuid, NULL},
    {"Service", "o", append_service, NULL},
    {"Flags", "as", append_flags, NULL},
    {"NotifyAcquired", "b", append_acquired, is_notified},
};

static const cdbus_interface service_interface = {SERVICE, service_properties,
                                                  sizeof service_properties / sizeof service_properties[0]};
static const cdbus_interface characteristic_interface = {
    CHARACTERISTIC, characteristic_properties, sizeof characteristic_properties / sizeof characteristic_properties[0]};

static bool append_object(DBusMessageIter *objects, const char *path, const cdbus_interface *interface,
                          const void *of) {
    DBusMessageIter entry, interfaces, one;
    return dbus_message_iter_open_container(objects, DBUS_TYPE_DICT_ENTRY, NULL, &entry) &&
           dbus_message_iter_append_basic(&entry, DBUS_TYPE_OBJECT_PATH, &path) &&
           dbus_message_iter_open_container(&entry, DBUS_TYPE_ARRAY, "{sa{sv}}", &interfaces) &&
           dbus_message_iter_open_container(&interfaces, DBUS_TYPE_DICT_ENTRY, NULL, &one) &&
           dbus_message_iter_append_basic(&one, DBUS_TYPE_STRING, &interface->name) &&
           cdbus_append_properties(&one, interface, of) && dbus_message_iter_close_container(&interfaces, &one) &&
           dbus_message_iter_close_container(&entry, &interfaces) && dbus_message_iter_close_container(objects, &entry);
}

static bool append_objects(DBusMessageIter *arguments, const bus_application *application) {
    char path[CBLUEZ_PATH_TEXT];
    DBusMessageIter objects;
    snprintf(path, sizeof path, "%s" SERVICE_SUFFIX, application->path);
    if (!dbus_message_iter_open_container(arguments, DBUS_TYPE_ARRAY, "{oa{sa{sv}}}", &objects)) return false;
    if (!append_object(&objects, path, &service_interface, application)) return false;
    for (size_t i = 0; i < application->count; i++) {
        object one = {application, &application->characteristics[i]};
        snprintf(path, sizeof path, "%s" CHARACTERISTIC_SUFFIX "%zu", application->path, i);
        if (!append_object(&objects, path, &characteristic_interface, &one)) return false;
    }
    return dbus_message_iter_close_container(arguments, &objects);
}

static void answer_objects(cbluez_bus *bus, DBusMessage *call) {
    DBusMessage *answer = dbus_message_new_method_return(call);
    if (!answer) return;
    DBusMessageIter arguments;
    dbus_message_iter_init_append(answer, &arguments);
    if (append_objects(&arguments, &bus->application)) {
        cdbus_send_answer(bus->dbus, call, answer);
    } else {
        dbus_message_unref(answer);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Questions
// ---------------------------------------------------------------------------------------------------------------------

static void take_option(const char *name, DBusMessageIter *value, cbluez_bus_event *event, bus_question *question) {
    if (strcmp(name, "device") == 0 && cdbus_has_type(value, DBUS_TYPE_OBJECT_PATH)) {
        const char *path;
        dbus_message_iter_get_basic(value, &path);
        if (strlen(path) < sizeof event->path) cdbus_copy_text(event->path, sizeof event->path, path);
    } else if (strcmp(name, "mtu") == 0 && cdbus_has_type(value, DBUS_TYPE_UINT16)) {
        dbus_message_iter_get_basic(value, &event->mtu);
    } else if (strcmp(name, "offset") == 0 && cdbus_has_type(value, DBUS_TYPE_UINT16)) {
        dbus_message_iter_get_basic(value, &question->offset);
    }
}

static void take_options(DBusMessageIter *options, cbluez_bus_event *event, bus_question *question) {
    DBusMessageIter entries;
    if (!cdbus_enter_array(options, "a{sv}", &entries)) return;
    for (; cdbus_has_type(&entries, DBUS_TYPE_DICT_ENTRY); dbus_message_iter_next(&entries)) {
        DBusMessageIter item, value;
        const char *name;
        dbus_message_iter_recurse(&entries, &item);
        dbus_message_iter_get_basic(&item, &name);
        dbus_message_iter_next(&item);
        dbus_message_iter_recurse(&item, &value);
        take_option(name, &value, event, question);
    }
}

static bool refuse(cbluez_bus *bus, DBusMessage *call) {
    return cdbus_refuse(bus->dbus, call, FAILED, "not for this device now");
}

static bool ask(cbluez_bus *bus, DBusMessage *call, int kind, size_t number, cbluez_bus_event *event) {
    for (size_t i = 0; i < BUS_QUESTIONS; i++) {
        bus_question *question = &bus->application.questions[i];
        if (question->call) continue;
        *question = (bus_question){0};
        DBusMessageIter options;
        if (!dbus_message_has_signature(call, "a{sv}")) break;
        dbus_message_iter_init(call, &options);
        take_options(&options, event, question);
        if (event->path[0] == '\0') break;
        question->call = dbus_message_ref(call);
        question->request = ++bus->application.requests;
        event->kind = kind;
        event->characteristic = (uint8_t)number;
        event->request = question->request;
        return true;
    }
    *event = (cbluez_bus_event){0};
    refuse(bus, call);
    return false;
}

// Whether the caller still reads what this writer sends.
static bool is_read(const bus_writer *writer) {
    char byte;
    if (writer->device[0] == '\0') return false;
    return recv(writer->ours, &byte, sizeof byte, MSG_DONTWAIT | MSG_PEEK) < 0 && (errno == EAGAIN || errno == EINTR);
}

// A full socket drops the value. The caller notices the gap, as it numbers the values.
static void send_value(const bus_writer *writer, const uint8_t *bytes, int count) {
    if (count > 0) (void)send(writer->ours, bytes, (size_t)count, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static bool open_writer(bus_writer *writer, const char *device, int buffer) {
    int ends[2];
    drop_writer(writer);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) return false;
    if (buffer > 0) setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    *writer = (bus_writer){.ours = ends[0], .theirs = ends[1]};
    cdbus_copy_text(writer->device, sizeof writer->device, device);
    return true;
}

// A value that a device writes: sends it to the caller, and asks whether the caller takes the first one.
static bool take_value(cbluez_bus *bus, DBusMessage *call, size_t number, cbluez_bus_event *event) {
    DBusMessageIter arguments, value;
    bus_question options = {0};
    const uint8_t *bytes = NULL;
    int count = 0;
    if (!dbus_message_has_signature(call, "aya{sv}")) return false;
    dbus_message_iter_init(call, &arguments);
    dbus_message_iter_recurse(&arguments, &value);
    dbus_message_iter_get_fixed_array(&value, &bytes, &count);
    dbus_message_iter_next(&arguments);
    take_options(&arguments, event, &options);
    bus_writer *writer = &bus->application.writers[number];
    bool has_device = event->path[0] != '\0';
    bool is_open = is_read(writer);
    bool is_its = has_device && strcmp(writer->device, event->path) == 0;
    if (is_open && is_its) send_value(writer, bytes, count);
    // Another device writes where one is heard already, or the value has no writer that could be asked for.
    if (is_open || !has_device || !open_writer(writer, event->path, bus->application.characteristics[number].buffer)) {
        *event = (cbluez_bus_event){0};
        return false;
    }
    send_value(writer, bytes, count);
    writer->request = ++bus->application.requests;
    event->kind = CBLUEZ_EVENT_GATT_WRITE;
    event->characteristic = (uint8_t)number;
    event->request = writer->request;
    return true;
}

static bool answer_characteristic(cbluez_bus *bus, DBusMessage *call, size_t number, cbluez_bus_event *event) {
    static const struct {
        const char *member;
        int of;
        int kind;
    } questions[] = {
        {"ReadValue", CBLUEZ_CHARACTERISTIC_READ, CBLUEZ_EVENT_GATT_READ},
        {"AcquireNotify", CBLUEZ_CHARACTERISTIC_NOTIFY, CBLUEZ_EVENT_GATT_ACQUIRE_NOTIFY},
    };
    const bus_application *application = &bus->application;
    object one = {application, &application->characteristics[number]};
    if (cdbus_answer_properties(bus->dbus, call, &characteristic_interface, 1, &one)) return false;
    if (!dbus_message_has_interface(call, CHARACTERISTIC)) {
        cdbus_refuse(bus->dbus, call, DBUS_ERROR_UNKNOWN_METHOD, "no such method");
        return false;
    }
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        if (questions[i].of == one.characteristic->kind && dbus_message_has_member(call, questions[i].member)) {
            return ask(bus, call, questions[i].kind, number, event);
        }
    }
    // Answers subscriptions without a descriptor as well.
    cdbus_answer_done(bus->dbus, call);
    bool is_value = one.characteristic->kind == CBLUEZ_CHARACTERISTIC_WRITE && dbus_message_has_member(call, "WriteValue");
    return is_value && take_value(bus, call, number, event);
}

// The number of the characteristic at a path, or -1.
static int number_of(const bus_application *application, const char *path) {
    char other[CBLUEZ_PATH_TEXT];
    for (size_t i = 0; i < application->count; i++) {
        snprintf(other, sizeof other, "%s" CHARACTERISTIC_SUFFIX "%zu", application->path, i);
        if (strcmp(other, path) == 0) return (int)i;
    }
    return -1;
}

bool bus_answer_gatt_call(cbluez_bus *bus, DBusMessage *call, cbluez_bus_event *event, bool *is_known) {
    const bus_application *application = &bus->application;
    const char *path = dbus_message_get_path(call);
    size_t length = strlen(application->path);
    *is_known = application->serial && path && strncmp(path, application->path, length) == 0;
    if (!*is_known) return false;
    int number = number_of(application, path);
    if (number >= 0) return answer_characteristic(bus, call, (size_t)number, event);
    if (path[length] == '\0' && dbus_message_is_method_call(call, OBJECT_MANAGER, "GetManagedObjects")) {
        answer_objects(bus, call);
    } else if (strcmp(path + length, SERVICE_SUFFIX) != 0) {
        *is_known = path[length] == '\0';
        if (*is_known) cdbus_refuse(bus->dbus, call, DBUS_ERROR_UNKNOWN_METHOD, "no such method");
    } else if (!cdbus_answer_properties(bus->dbus, call, &service_interface, 1, application)) {
        cdbus_refuse(bus->dbus, call, DBUS_ERROR_UNKNOWN_METHOD, "no such method");
    }
    return false;
}

// ---------------------------------------------------------------------------------------------------------------------
// Answers
// ---------------------------------------------------------------------------------------------------------------------

static bus_question *find_question(cbluez_bus *bus, uint32_t request) {
    for (size_t i = 0; i < BUS_QUESTIONS; i++) {
        bus_question *question = &bus->application.questions[i];
        if (question->call && question->request == request) return question;
    }
    return NULL;
}

int cbluez_bus_answer_read(cbluez_bus *bus, uint32_t request, const uint8_t *bytes, size_t count) {
    bus_question *question = find_question(bus, request);
    if (!question || !dbus_message_has_member(question->call, "ReadValue")) return -ENOENT;
    bool is_sent = false;
    if (question->offset > count) {
        is_sent = cdbus_refuse(bus->dbus, question->call, INVALID_OFFSET, "beyond the value");
    } else {
        DBusMessage *answer = dbus_message_new_method_return(question->call);
        const uint8_t *rest = bytes + question->offset;
        int left = (int)(count - question->offset);
        if (answer && dbus_message_append_args(answer, DBUS_TYPE_ARRAY, DBUS_TYPE_BYTE, &rest, left, DBUS_TYPE_INVALID)) {
            is_sent = cdbus_send_answer(bus->dbus, question->call, answer);
        } else if (answer) {
            dbus_message_unref(answer);
        }
    }
    drop_question(question);
    return is_sent ? 0 : -ENOMEM;
}

int cbluez_bus_answer_acquire(cbluez_bus *bus, uint32_t request, int descriptor, uint16_t mtu) {
    bus_question *question = find_question(bus, request);
    if (!question || dbus_message_has_member(question->call, "ReadValue")) return -ENOENT;
    DBusMessage *answer = dbus_message_new_method_return(question->call);
    bool is_sent = false;
    // libdbus duplicates the descriptor.
    if (answer && dbus_message_append_args(answer, DBUS_TYPE_UNIX_FD, &descriptor, DBUS_TYPE_UINT16, &mtu,
                                           DBUS_TYPE_INVALID)) {
        is_sent = cdbus_send_answer(bus->dbus, question->call, answer);
    } else if (answer) {
        dbus_message_unref(answer);
    }
    drop_question(question);
    return is_sent ? 0 : -ENOMEM;
}

// The writer whose question is open. Its number is that of the question until the caller takes it.
static bus_writer *find_writer(cbluez_bus *bus, uint32_t request) {
    for (size_t i = 0; i < CBLUEZ_CHARACTERISTICS; i++) {
        bus_writer *writer = &bus->application.writers[i];
        if (writer->device[0] != '\0' && writer->theirs >= 0 && writer->request == request) return writer;
    }
    return NULL;
}

int cbluez_bus_take_writes(cbluez_bus *bus, uint32_t request) {
    bus_writer *writer = find_writer(bus, request);
    if (!writer) return -ENOENT;
    int descriptor = writer->theirs;
    writer->theirs = -1;
    return descriptor;
}

int cbluez_bus_refuse_gatt(cbluez_bus *bus, uint32_t request) {
    bus_writer *writer = find_writer(bus, request);
    if (writer) {
        drop_writer(writer);
        return 0;
    }
    bus_question *question = find_question(bus, request);
    if (!question) return -ENOENT;
    bool is_sent = refuse(bus, question->call);
    drop_question(question);
    return is_sent ? 0 : -ENOMEM;
}
