// SPDX-License-Identifier: Apache-2.0
//
// The exported GATT service, as bluetoothd sees it.

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "fake_bluez.h"

#define ADAPTER "/org/bluez/hci0"
#define DEVICE "/org/bluez/hci0/dev_00_00_5E_00_53_01"
#define PATH "/org/roadmesh/gatt"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define CHARACTERISTIC "org.bluez.GattCharacteristic1"
#define OBJECT_MANAGER "org.freedesktop.DBus.ObjectManager"
#define SERVICE "8d62c5f7-572b-5d3e-8633-732afc4236cc"
#define READ "abdd3056-28fa-441d-a470-55a75a52553a"
#define WRITE "edc64e2f-9207-5b62-8b20-0eba080e62f6"
#define NOTIFY "9278e80d-3e26-5f04-ab0d-a9e1fbd54f68"

static const cbluez_characteristic characteristics[] = {
    {READ, CBLUEZ_CHARACTERISTIC_READ, 0},
    {WRITE, CBLUEZ_CHARACTERISTIC_WRITE, 4096},
    {NOTIFY, CBLUEZ_CHARACTERISTIC_NOTIFY, 0},
};

static int64_t begin(world *w) {
    return cbluez_bus_register_application(w->bus, ADAPTER, PATH, SERVICE, characteristics, 3, 5000);
}

static void register_with(world *w, const char *error) {
    char text[256];
    int64_t serial = begin(w);
    DBusMessage *call = expect_call(w, w->bluez, "RegisterApplication");
    CHECK_TEXT(dbus_message_get_path(call), ADAPTER);
    CHECK_TEXT(dbus_message_get_interface(call), "org.bluez.GattManager1");
    CHECK_TEXT(dbus_message_get_signature(call), "oa{sv}");
    format_arguments(call, text, sizeof text);
    CHECK_TEXT(text, PATH " []");
    if (error) {
        answer_error(w->bluez, call, error, "");
    } else {
        answer(w->bluez, call, NULL, NULL);
    }
    CHECK_NUMBER(expect_event(w, CBLUEZ_EVENT_REPLY).serial, serial);
}

// Sends a call that becomes a question, and returns the event.
static cbluez_bus_event ask(world *w, int number, const char *member, const char *options, int kind) {
    char path[] = PATH "/service/characteristic?";
    path[sizeof path - 2] = (char)('0' + number);
    DBusMessage *call = dbus_message_new_method_call(shim_name(w), path, CHARACTERISTIC, member);
    append_text(call, "a{sv}", options);
    dbus_connection_send(w->bluez, call, NULL);
    dbus_message_unref(call);
    cbluez_bus_event event = expect_event(w, kind);
    CHECK_NUMBER(event.characteristic, number);
    return event;
}

// The reply to the latest question.
static DBusMessage *next_answer(world *w) {
    for (int i = 0; i < 1000; i++) {
        DBusMessage *message = dbus_connection_pop_message(w->bluez);
        if (!message) {
            step(w);
            continue;
        }
        int type = dbus_message_get_type(message);
        if (type == DBUS_MESSAGE_TYPE_METHOD_RETURN || type == DBUS_MESSAGE_TYPE_ERROR) return message;
        dbus_message_unref(message);
    }
    CHECK(false);
    return NULL;
}

static void expect_answer(world *w, const char *expected) {
    char actual[4096];
    DBusMessage *reply = next_answer(w);
    if (!reply) return;
    format_arguments(reply, actual, sizeof actual);
    CHECK_TEXT(dbus_message_get_error_name(reply) ? dbus_message_get_error_name(reply) : actual, expected);
    dbus_message_unref(reply);
}

static void test_objects(world *w) {
    check_result(w, w->bluez, PATH, OBJECT_MANAGER, "GetManagedObjects", NULL, NULL,
                 "[" PATH "/service [org.bluez.GattService1 [UUID <s " SERVICE "> Primary <b 1>]] " PATH
                 "/service/characteristic0 [" CHARACTERISTIC " [UUID <s " READ "> Service <o " PATH
                 "/service> Flags <as [read]>]] " PATH "/service/characteristic1 [" CHARACTERISTIC " [UUID <s " WRITE
                 "> Service <o " PATH "/service> Flags <as [write-without-response]>]] " PATH
                 "/service/characteristic2 [" CHARACTERISTIC " [UUID <s " NOTIFY "> Service <o " PATH
                 "/service> Flags <as [notify]> NotifyAcquired <b 0>]]]");
    check_result(w, w->bluez, PATH "/service", PROPERTIES, "Get", "ss", "org.bluez.GattService1 UUID", "<s " SERVICE ">");
    check_result(w, w->bluez, PATH "/service/characteristic2", PROPERTIES, "Get", "ss", CHARACTERISTIC " NotifyAcquired",
                 "<b 0>");
    check_result(w, w->bluez, PATH "/service/characteristic3", PROPERTIES, "GetAll", "s", CHARACTERISTIC,
                 "org.freedesktop.DBus.Error.UnknownObject");
    check_result(w, w->bluez, PATH "/service", "test.Other", "Method", NULL, NULL,
                 "org.freedesktop.DBus.Error.UnknownMethod");
    // A value without a device is dropped.
    check_result(w, w->bluez, PATH "/service/characteristic1", CHARACTERISTIC, "WriteValue", "aya{sv}", "[1 2] []", "");
    check_result(w, w->bluez, PATH "/service/characteristic2", CHARACTERISTIC, "StopNotify", NULL, NULL, "");
    // A read without a device is refused, since the caller could not decide it.
    check_result(w, w->bluez, PATH "/service/characteristic0", CHARACTERISTIC, "ReadValue", "a{sv}", "[]",
                 "org.bluez.Error.Failed");
}

static void test_reads(world *w) {
    static const uint8_t value[] = {0x81, 0};
    cbluez_bus_event event = ask(w, 0, "ReadValue", "[device <o " DEVICE "> mtu <q 185>]", CBLUEZ_EVENT_GATT_READ);
    CHECK_TEXT(event.path, DEVICE);
    CHECK_NUMBER(event.mtu, 185);
    CHECK_NUMBER(cbluez_bus_answer_acquire(w->bus, event.request, 0, 23), -ENOENT);
    CHECK_NUMBER(cbluez_bus_answer_read(w->bus, event.request, value, sizeof value), 0);
    CHECK_NUMBER(cbluez_bus_answer_read(w->bus, event.request, value, sizeof value), -ENOENT);
    expect_answer(w, "[129 0]");
    event = ask(w, 0, "ReadValue", "[device <o " DEVICE "> offset <q 1>]", CBLUEZ_EVENT_GATT_READ);
    CHECK_NUMBER(cbluez_bus_answer_read(w->bus, event.request, value, sizeof value), 0);
    expect_answer(w, "[0]");
    event = ask(w, 0, "ReadValue", "[device <o " DEVICE "> offset <q 3>]", CBLUEZ_EVENT_GATT_READ);
    CHECK_NUMBER(cbluez_bus_answer_read(w->bus, event.request, value, sizeof value), 0);
    expect_answer(w, "org.bluez.Error.InvalidOffset");
    // The offset of a refused read does not carry over to the next one.
    check_result(w, w->bluez, PATH "/service/characteristic0", CHARACTERISTIC, "ReadValue", "a{sv}", "[offset <q 1>]",
                 "org.bluez.Error.Failed");
    event = ask(w, 0, "ReadValue", "[device <o " DEVICE ">]", CBLUEZ_EVENT_GATT_READ);
    CHECK_NUMBER(cbluez_bus_answer_read(w->bus, event.request, value, sizeof value), 0);
    expect_answer(w, "[129 0]");
}

static void test_descriptors(world *w) {
    int ends[2];
    CHECK_NUMBER(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    const char *options = "[device <o " DEVICE "> link <s LE> mtu <q 247>]";
    cbluez_bus_event event = ask(w, 2, "AcquireNotify", options, CBLUEZ_EVENT_GATT_ACQUIRE_NOTIFY);
    CHECK_NUMBER(cbluez_bus_answer_read(w->bus, event.request, NULL, 0), -ENOENT);
    CHECK_NUMBER(cbluez_bus_answer_acquire(w->bus, event.request, ends[1], event.mtu), 0);
    close(ends[1]);
    DBusMessage *reply = next_answer(w);
    int theirs = -1;
    dbus_uint16_t mtu = 0;
    CHECK(reply && dbus_message_get_args(reply, NULL, DBUS_TYPE_UNIX_FD, &theirs, DBUS_TYPE_UINT16, &mtu, DBUS_TYPE_INVALID));
    CHECK_NUMBER(mtu, 247);
    if (reply) dbus_message_unref(reply);
    char text[8] = "";
    CHECK_NUMBER(send(ends[0], "vote", 4, 0), 4);
    CHECK_NUMBER(recv(theirs, text, sizeof text, 0), 4);
    CHECK_TEXT(text, "vote");
    close(theirs);
    close(ends[0]);
    event = ask(w, 2, "AcquireNotify", options, CBLUEZ_EVENT_GATT_ACQUIRE_NOTIFY);
    CHECK_NUMBER(cbluez_bus_refuse_gatt(w->bus, event.request), 0);
    expect_answer(w, "org.bluez.Error.Failed");
    CHECK_NUMBER(cbluez_bus_refuse_gatt(w->bus, event.request), -ENOENT);
}

// Sends a value as bluetoothd passes it on, and waits for the reply.
static void write_value(world *w, const char *device, const char *value) {
    char arguments[256];
    snprintf(arguments, sizeof arguments, "%s [device <o %s> link <s LE> mtu <q 185>]", value, device);
    check_result(w, w->bluez, PATH "/service/characteristic1", CHARACTERISTIC, "WriteValue", "aya{sv}", arguments, "");
}

// Sends a value that asks, and returns the event.
static cbluez_bus_event write_first(world *w, const char *device, const char *value) {
    char arguments[256];
    snprintf(arguments, sizeof arguments, "%s [device <o %s> link <s LE> mtu <q 185>]", value, device);
    DBusMessage *call =
        dbus_message_new_method_call(shim_name(w), PATH "/service/characteristic1", CHARACTERISTIC, "WriteValue");
    append_text(call, "aya{sv}", arguments);
    dbus_connection_send(w->bluez, call, NULL);
    dbus_message_unref(call);
    cbluez_bus_event event = expect_event(w, CBLUEZ_EVENT_GATT_WRITE);
    expect_answer(w, "");
    CHECK_TEXT(event.path, device);
    CHECK_NUMBER(event.characteristic, 1);
    CHECK_NUMBER(event.mtu, 185);
    return event;
}

static void expect_value(int descriptor, const char *expected) {
    char text[600] = "";
    CHECK_NUMBER(recv(descriptor, text, sizeof text - 1, 0), strlen(expected));
    CHECK_TEXT(text, expected);
}

static void test_writes(world *w) {
    const char *other = "/org/bluez/hci0/dev_00_00_5E_00_53_02";
    char text[8];
    // The first value causes a question. Values that follow before the answer wait behind the first one.
    cbluez_bus_event event = write_first(w, DEVICE, "[111 110 101]");
    write_value(w, DEVICE, "[116 119 111]");
    CHECK_NUMBER(cbluez_bus_answer_acquire(w->bus, event.request, 0, 23), -ENOENT);
    int values = cbluez_bus_take_writes(w->bus, event.request);
    CHECK(values >= 0);
    CHECK_NUMBER(cbluez_bus_take_writes(w->bus, event.request), -ENOENT);
    CHECK_NUMBER(cbluez_bus_refuse_gatt(w->bus, event.request), -ENOENT);
    // Another device cannot write into the link, nor end it.
    write_value(w, other, "[1]");
    write_value(w, DEVICE, "[53]");
    expect_value(values, "one");
    expect_value(values, "two");
    expect_value(values, "5");
    CHECK_NUMBER(recv(values, text, sizeof text, 0), -1);
    // Once the link has ended, the next value asks again, whichever device it comes from.
    close(values);
    event = write_first(w, other, "[54]");
    CHECK_NUMBER(cbluez_bus_refuse_gatt(w->bus, event.request), 0);
    CHECK_NUMBER(cbluez_bus_take_writes(w->bus, event.request), -ENOENT);
    event = write_first(w, DEVICE, "[55]");
    values = cbluez_bus_take_writes(w->bus, event.request);
    expect_value(values, "7");
    // Values that find no room are dropped, and block nothing.
    for (int i = 0; i < 200; i++) write_value(w, DEVICE, "[56]");
    int count = 0;
    while (recv(values, text, sizeof text, 0) == 1) count++;
    CHECK(count > 0 && count < 200);
    close(values);
}

static void test_limits(world *w, const bus_daemon *daemon) {
    DBusConnection *stranger = connect_to(daemon);
    check_result(w, stranger, PATH "/service/characteristic0", CHARACTERISTIC, "ReadValue", "a{sv}",
                 "[device <o " DEVICE ">]", "org.freedesktop.DBus.Error.AccessDenied");
    disconnect(stranger);
    CHECK_NUMBER(begin(w), -EBUSY);
    for (int i = 0; i < 16; i++) ask(w, 0, "ReadValue", "[device <o " DEVICE ">]", CBLUEZ_EVENT_GATT_READ);
    check_result(w, w->bluez, PATH "/service/characteristic0", CHARACTERISTIC, "ReadValue", "a{sv}",
                 "[device <o " DEVICE ">]", "org.bluez.Error.Failed");
    // When the application ends, its questions do too.
    cbluez_bus_event last = {.request = 20};
    int64_t gone = cbluez_bus_unregister_application(w->bus, ADAPTER, PATH, 5000);
    answer(w->bluez, expect_call(w, w->bluez, "UnregisterApplication"), NULL, NULL);
    CHECK_NUMBER(expect_event(w, CBLUEZ_EVENT_REPLY).serial, gone);
    CHECK_NUMBER(cbluez_bus_refuse_gatt(w->bus, last.request), -ENOENT);
    check_result(w, w->bluez, PATH, OBJECT_MANAGER, "GetManagedObjects", NULL, NULL,
                 "org.freedesktop.DBus.Error.UnknownObject");
    cbluez_characteristic wrong = {"1800", CBLUEZ_CHARACTERISTIC_READ, 0};
    CHECK_NUMBER(cbluez_bus_register_application(w->bus, ADAPTER, PATH, SERVICE, &wrong, 1, 5000), -EINVAL);
    wrong = (cbluez_characteristic){READ, 0, 0};
    CHECK_NUMBER(cbluez_bus_register_application(w->bus, ADAPTER, PATH, SERVICE, &wrong, 1, 5000), -EINVAL);
    CHECK_NUMBER(cbluez_bus_register_application(w->bus, ADAPTER, PATH, SERVICE, NULL, 17, 5000), -EINVAL);
    CHECK_NUMBER(cbluez_bus_register_application(w->bus, "hci0", PATH, SERVICE, NULL, 0, 5000), -EINVAL);
    CHECK_NUMBER(cbluez_bus_unregister_application(w->bus, ADAPTER, NULL, 5000), -EINVAL);
}

static void test_refusal(world *w, const bus_daemon *daemon) {
    register_with(w, "org.bluez.Error.Failed");
    check_result(w, w->bluez, PATH, OBJECT_MANAGER, "GetManagedObjects", NULL, NULL,
                 "org.freedesktop.DBus.Error.UnknownObject");
    register_with(w, NULL);
    ask(w, 0, "ReadValue", "[device <o " DEVICE ">]", CBLUEZ_EVENT_GATT_READ);
    // When bluetoothd goes, the application goes with it.
    world_stop_bluez(w);
    expect_event(w, CBLUEZ_EVENT_BLUEZ_VANISHED);
    world_start_bluez(w, daemon);
    expect_event(w, CBLUEZ_EVENT_BLUEZ_APPEARED);
    check_result(w, w->bluez, PATH, OBJECT_MANAGER, "GetManagedObjects", NULL, NULL,
                 "org.freedesktop.DBus.Error.UnknownObject");
    register_with(w, NULL);
}

void test_gatt(void) {
    bus_daemon daemon = daemon_start();
    world w = world_open_ready(&daemon);
    register_with(&w, NULL);
    test_objects(&w);
    test_reads(&w);
    test_descriptors(&w);
    test_writes(&w);
    test_limits(&w, &daemon);
    test_refusal(&w, &daemon);
    world_close(&w);
    daemon_stop(&daemon);
}
