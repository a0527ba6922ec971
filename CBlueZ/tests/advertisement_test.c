// SPDX-License-Identifier: Apache-2.0
//
// The exported advertisement, as bluetoothd sees it.

#include <errno.h>
#include <string.h>

#include "check.h"
#include "fake_bluez.h"

#define ADAPTER "/org/bluez/hci0"
#define PATH "/org/roadmesh/advertisement"
#define INTERFACE "org.bluez.LEAdvertisement1"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define OURS "8e8b2c1e-0000-5000-8000-000000000001"

static const uint8_t data[] = {1, 0, 0x80, 0, 0xAB, 0xCD};

static const cbluez_advertisement full = {
    .uuid = OURS,
    .company = 0xFFFF,
    .manufacturer_data = data,
    .manufacturer_count = sizeof data,
    .local_name = "Box",
    .min_interval_ms = 20,
    .max_interval_ms = 30,
};

static void register_with(world *w, const char *path, const cbluez_advertisement *advertisement, const char *error) {
    char text[256];
    int64_t serial = cbluez_bus_register_advertisement(w->bus, ADAPTER, path, advertisement, 5000);
    DBusMessage *call = expect_call(w, w->bluez, "RegisterAdvertisement");
    CHECK_TEXT(dbus_message_get_path(call), ADAPTER);
    CHECK_TEXT(dbus_message_get_interface(call), "org.bluez.LEAdvertisingManager1");
    CHECK_TEXT(dbus_message_get_signature(call), "oa{sv}");
    format_arguments(call, text, sizeof text);
    CHECK(strncmp(text, path, strlen(path)) == 0 && strcmp(text + strlen(path), " []") == 0);
    if (error) {
        answer_error(w->bluez, call, error, "");
    } else {
        answer(w->bluez, call, NULL, NULL);
    }
    CHECK_NUMBER(expect_event(w, CBLUEZ_EVENT_REPLY).serial, serial);
}

#define NO_METHOD "org.freedesktop.DBus.Error.UnknownMethod"
#define NO_OBJECT "org.freedesktop.DBus.Error.UnknownObject"
#define NO_PROPERTY "org.freedesktop.DBus.Error.UnknownProperty"
#define NO_ACCESS "org.freedesktop.DBus.Error.AccessDenied"
#define BAD_ARGUMENTS "org.freedesktop.DBus.Error.InvalidArgs"

static void test_properties(world *w) {
    register_with(w, PATH, &full, NULL);
    check_result(w, w->bluez, PATH, PROPERTIES, "GetAll", "s", INTERFACE,
                 "[Type <s peripheral> Discoverable <b 1> ServiceUUIDs <as [" OURS "]> "
                 "ManufacturerData <a{qv} [65535 <ay [1 0 128 0 171 205]>]> LocalName <s Box> "
                 "MinInterval <u 20> MaxInterval <u 30>]");
    check_result(w, w->bluez, PATH, PROPERTIES, "Get", "ss", INTERFACE " ManufacturerData",
                 "<a{qv} [65535 <ay [1 0 128 0 171 205]>]>");
    check_result(w, w->bluez, PATH, PROPERTIES, "Get", "ss", INTERFACE " MinInterval", "<u 20>");
    check_result(w, w->bluez, PATH, PROPERTIES, "Get", "ss", INTERFACE " Includes", NO_PROPERTY);
    check_result(w, w->bluez, PATH, PROPERTIES, "Get", "ss", "test.Other Type", NO_PROPERTY);
    check_result(w, w->bluez, PATH, PROPERTIES, "Get", "s", INTERFACE, BAD_ARGUMENTS);
    check_result(w, w->bluez, PATH, PROPERTIES, "GetAll", "s", "test.Other",
                 "org.freedesktop.DBus.Error.UnknownInterface");
    check_result(w, w->bluez, PATH, PROPERTIES, "GetAll", "u", "5", BAD_ARGUMENTS);
    check_result(w, w->bluez, PATH, PROPERTIES, "GetAll", NULL, NULL, BAD_ARGUMENTS);
    check_result(w, w->bluez, PATH, PROPERTIES, "Set", "ssv", INTERFACE " TxPower <n 7>",
                 "org.freedesktop.DBus.Error.PropertyReadOnly");
    check_result(w, w->bluez, PATH, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", NULL, NULL, NO_METHOD);
    check_result(w, w->bluez, PATH, INTERFACE, "GetAll", "s", INTERFACE, NO_METHOD);
    check_result(w, w->bluez, "/", PROPERTIES, "GetAll", "s", INTERFACE, NO_OBJECT);
    DBusMessage *reply = call_shim(w, w->bluez, PATH, DBUS_INTERFACE_INTROSPECTABLE, "Introspect", NULL, NULL);
    const char *xml = "";
    CHECK(dbus_message_get_args(reply, NULL, DBUS_TYPE_STRING, &xml, DBUS_TYPE_INVALID));
    CHECK(strstr(xml, "<interface name=\"" INTERFACE "\">") != NULL);
    dbus_message_unref(reply);
}

static void test_least(world *w) {
    static const cbluez_advertisement least = {.company = 0xFFFF};
    register_with(w, "/least", &least, NULL);
    check_result(w, w->bluez, "/least", PROPERTIES, "GetAll", "s", INTERFACE,
                 "[Type <s peripheral> Discoverable <b 1>]");
    check_result(w, w->bluez, "/least", PROPERTIES, "Get", "ss", INTERFACE " LocalName", NO_PROPERTY);
}

static void test_others(world *w, const bus_daemon *daemon) {
    DBusConnection *stranger = connect_to(daemon);
    check_result(w, stranger, PATH, PROPERTIES, "GetAll", "s", INTERFACE, NO_ACCESS);
    check_result(w, stranger, PATH, INTERFACE, "Release", NULL, NULL, NO_ACCESS);
    check_result(w, stranger, "/nowhere", "test.Interface", "Method", NULL, NULL, NO_ACCESS);
    disconnect(stranger);
    // It is still there.
    check_result(w, w->bluez, PATH, PROPERTIES, "Get", "ss", INTERFACE " LocalName", "<s Box>");
}

static void test_release(world *w) {
    DBusMessage *release = dbus_message_new_method_call(shim_name(w), PATH, INTERFACE, "Release");
    dbus_message_set_no_reply(release, true);
    dbus_connection_send(w->bluez, release, NULL);
    dbus_message_unref(release);
    CHECK_TEXT(expect_event(w, CBLUEZ_EVENT_ADVERTISEMENT_RELEASED).path, PATH);
    check_result(w, w->bluez, PATH, PROPERTIES, "GetAll", "s", INTERFACE, NO_OBJECT);
    check_result(w, w->bluez, PATH, INTERFACE, "Release", NULL, NULL, NO_OBJECT);
}

static void test_refusal(world *w) {
    register_with(w, PATH, &full, "org.bluez.Error.Failed");
    check_result(w, w->bluez, PATH, PROPERTIES, "GetAll", "s", INTERFACE, NO_OBJECT);
    // bluetoothd has the advertisement already, so the object stays.
    register_with(w, PATH, &full, "org.bluez.Error.AlreadyExists");
    check_result(w, w->bluez, PATH, PROPERTIES, "Get", "ss", INTERFACE " LocalName", "<s Box>");
    // The late refusal of an abandoned registration does not affect its successor.
    int64_t first = cbluez_bus_register_advertisement(w->bus, ADAPTER, PATH, &full, 5000);
    DBusMessage *call = expect_call(w, w->bluez, "RegisterAdvertisement");
    int64_t gone = cbluez_bus_unregister_advertisement(w->bus, ADAPTER, PATH, 5000);
    DBusMessage *unregister = expect_call(w, w->bluez, "UnregisterAdvertisement");
    int64_t second = cbluez_bus_register_advertisement(w->bus, ADAPTER, PATH, &full, 5000);
    answer_error(w->bluez, call, "org.bluez.Error.Failed", "");
    answer(w->bluez, unregister, NULL, NULL);
    answer(w->bluez, expect_call(w, w->bluez, "RegisterAdvertisement"), NULL, NULL);
    CHECK_NUMBER(expect_event(w, CBLUEZ_EVENT_REPLY).serial, first);
    CHECK_NUMBER(expect_event(w, CBLUEZ_EVENT_REPLY).serial, gone);
    CHECK_NUMBER(expect_event(w, CBLUEZ_EVENT_REPLY).serial, second);
    check_result(w, w->bluez, PATH, PROPERTIES, "Get", "ss", INTERFACE " LocalName", "<s Box>");
    // An unregistered advertisement is gone at once.
    gone = cbluez_bus_unregister_advertisement(w->bus, ADAPTER, PATH, 5000);
    unregister = expect_call(w, w->bluez, "UnregisterAdvertisement");
    char text[256];
    format_arguments(unregister, text, sizeof text);
    CHECK_TEXT(text, PATH);
    answer(w->bluez, unregister, NULL, NULL);
    CHECK_NUMBER(expect_event(w, CBLUEZ_EVENT_REPLY).serial, gone);
    check_result(w, w->bluez, PATH, PROPERTIES, "GetAll", "s", INTERFACE, NO_OBJECT);
}

static void test_limits(world *w, const bus_daemon *daemon) {
    static const uint8_t bytes[40];
    char name[CBLUEZ_NAME_TEXT + 1];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    cbluez_advertisement wrong = {.manufacturer_data = bytes, .manufacturer_count = 30};
    CHECK_NUMBER(cbluez_bus_register_advertisement(w->bus, ADAPTER, PATH, &wrong, 5000), -EINVAL);
    wrong = (cbluez_advertisement){.local_name = name};
    CHECK_NUMBER(cbluez_bus_register_advertisement(w->bus, ADAPTER, PATH, &wrong, 5000), -EINVAL);
    wrong = (cbluez_advertisement){.local_name = "\xC3"};
    CHECK_NUMBER(cbluez_bus_register_advertisement(w->bus, ADAPTER, PATH, &wrong, 5000), -EINVAL);
    wrong = (cbluez_advertisement){.uuid = OURS "0"};
    CHECK_NUMBER(cbluez_bus_register_advertisement(w->bus, ADAPTER, PATH, &wrong, 5000), -EINVAL);
    CHECK_NUMBER(cbluez_bus_register_advertisement(w->bus, "hci0", PATH, &full, 5000), -EINVAL);
    CHECK_NUMBER(cbluez_bus_register_advertisement(w->bus, ADAPTER, "x", &full, 5000), -EINVAL);
    CHECK_NUMBER(cbluez_bus_unregister_advertisement(w->bus, ADAPTER, NULL, 5000), -EINVAL);
    // After the limit of eight ("/least" is one) no more are accepted. When org.bluez goes, there is room again.
    for (char digit = '2'; digit <= '8'; digit++) {
        char path[] = "/n?";
        path[2] = digit;
        register_with(w, path, &full, NULL);
    }
    CHECK_NUMBER(cbluez_bus_register_advertisement(w->bus, ADAPTER, "/n9", &full, 5000), -ENOSPC);
    world_stop_bluez(w);
    expect_event(w, CBLUEZ_EVENT_BLUEZ_VANISHED);
    world_start_bluez(w, daemon);
    expect_event(w, CBLUEZ_EVENT_BLUEZ_APPEARED);
    check_result(w, w->bluez, "/n8", PROPERTIES, "GetAll", "s", INTERFACE, NO_OBJECT);
    register_with(w, "/n9", &full, NULL);
}

void test_advertisements(void) {
    bus_daemon daemon = daemon_start();
    world w = world_open_ready(&daemon);
    test_properties(&w);
    test_least(&w);
    test_others(&w, &daemon);
    test_release(&w);
    test_refusal(&w);
    test_limits(&w, &daemon);
    world_close(&w);
    daemon_stop(&daemon);
}
