// SPDX-License-Identifier: Apache-2.0
//
// Signals and replies of org.bluez, expected and malformed.

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "fake_bluez.h"

#define ADAPTER "/org/bluez/hci0"
#define DEVICE ADAPTER "/dev_C0_11_22_33_44_55"
#define MANAGER "org.freedesktop.DBus.ObjectManager"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define OURS "8e8b2c1e-0000-5000-8000-000000000001"
#define BASE "-0000-1000-8000-00805f9b34fb"

static void add(world *w, const char *text) {
    emit(w->bluez, NULL, "/", MANAGER, "InterfacesAdded", "oa{sa{sv}}", text);
}

static void change(world *w, const char *text) {
    emit(w->bluez, NULL, DEVICE, PROPERTIES, "PropertiesChanged", "sa{sv}as", text);
}

static void test_objects(world *w) {
    int64_t serial = cbluez_bus_list_objects(w->bus, 5000);
    DBusMessage *call = expect_call(w, w->bluez, "GetManagedObjects");
    CHECK_TEXT(dbus_message_get_path(call), "/");
    answer(w->bluez, call, "a{oa{sa{sv}}}",
           "[/org/bluez [org.bluez.AgentManager1 []] " ADAPTER " [org.freedesktop.DBus.Introspectable [] "
           "org.bluez.Adapter1 [Address <s 00:AA:01:00:00:42> AddressType <s public> Name <s box> Alias <s box> "
           "Class <u 7> Powered <b 1> Discovering <b 0>] org.bluez.GattManager1 []] " DEVICE
           " [org.bluez.Device1 [Address <s C0:11:22:33:44:55> AddressType <s random> Name <s Ada> Paired <b 0> "
           "Connected <b 1> RSSI <n -71> UUIDs <as [" OURS "]> ManufacturerData <a{qv} [65535 <ay [1 2 3 4 5 6]>]>]] "
           "/org/bluez/test []]");
    cbluez_bus_event event = expect_event(w, CBLUEZ_EVENT_ADAPTER);
    CHECK_TEXT(event.path, ADAPTER);
    CHECK_NUMBER(event.fields, CBLUEZ_FIELD_ADDRESS | CBLUEZ_FIELD_NAME | CBLUEZ_FIELD_POWERED |
                                   CBLUEZ_FIELD_DISCOVERING | CBLUEZ_FIELD_ALIAS);
    CHECK(memcmp(event.address.bytes, "\x00\xAA\x01\x00\x00\x42", 6) == 0);
    CHECK_NUMBER(event.address.kind, CBLUEZ_ADDRESS_PUBLIC);
    CHECK_TEXT(event.name, "box");
    CHECK(event.powered && !event.discovering);
    event = expect_event(w, CBLUEZ_EVENT_DEVICE);
    CHECK_TEXT(event.path, DEVICE);
    CHECK_NUMBER(event.fields, CBLUEZ_FIELD_ADDRESS | CBLUEZ_FIELD_NAME | CBLUEZ_FIELD_PAIRED |
                                   CBLUEZ_FIELD_CONNECTED | CBLUEZ_FIELD_RSSI | CBLUEZ_FIELD_UUIDS |
                                   CBLUEZ_FIELD_MANUFACTURER);
    CHECK_NUMBER(event.address.kind, CBLUEZ_ADDRESS_RANDOM);
    CHECK_NUMBER(event.rssi, -71);
    CHECK(event.connected && !event.paired);
    CHECK_NUMBER(event.uuid_count, 1);
    CHECK_TEXT(event.uuids[0], OURS);
    CHECK_NUMBER(event.company, 0xFFFF);
    CHECK_NUMBER(event.manufacturer_count, 6);
    CHECK(memcmp(event.manufacturer_data, "\1\2\3\4\5\6", 6) == 0);
    event = expect_event(w, CBLUEZ_EVENT_REPLY);
    CHECK_NUMBER(event.serial, serial);
    CHECK_TEXT(event.error_name, "");
    // An empty reply, and one of another signature.
    serial = cbluez_bus_list_objects(w->bus, 5000);
    answer(w->bluez, expect_call(w, w->bluez, "GetManagedObjects"), "a{oa{sa{sv}}}", "[]");
    CHECK_NUMBER(expect_event(w, CBLUEZ_EVENT_REPLY).serial, serial);
    serial = cbluez_bus_list_objects(w->bus, 5000);
    answer(w->bluez, expect_call(w, w->bluez, "GetManagedObjects"), "a{os}", "[/org/bluez hello]");
    CHECK_TEXT(expect_event(w, CBLUEZ_EVENT_REPLY).error_name, "org.freedesktop.DBus.Error.InvalidSignature");
}

static void test_many_objects(world *w) {
    enum { DEVICES = 3000 };
    int64_t serial = cbluez_bus_list_objects(w->bus, 5000);
    DBusMessage *call = expect_call(w, w->bluez, "GetManagedObjects");
    static char text[DEVICES * 128];
    size_t count = 0;
    text[count++] = '[';
    for (int i = 0; i < DEVICES; i++) {
        count += (size_t)snprintf(text + count, sizeof text - count, "/d%d [org.bluez.Device1 [RSSI <n %d>]] ", i, i);
    }
    snprintf(text + count, sizeof text - count, "]");
    answer(w->bluez, call, "a{oa{sa{sv}}}", text);
    // Signals that arrive while the reply is being reported come after it.
    change(w, "org.bluez.Device1 [RSSI <n -1>] []");
    for (int i = 0; i < DEVICES; i++) {
        cbluez_bus_event event = next_event(w);
        if (event.kind != CBLUEZ_EVENT_DEVICE || event.rssi != i) {
            CHECK_NUMBER(event.rssi, i);
            break;
        }
    }
    CHECK_NUMBER(expect_event(w, CBLUEZ_EVENT_REPLY).serial, serial);
    CHECK_NUMBER(expect_event(w, CBLUEZ_EVENT_DEVICE).rssi, -1);
}

static void test_added_and_removed(world *w) {
    add(w, DEVICE " [org.bluez.Device1 [Address <s C0:11:22:33:44:55> UUIDs <as []> ManufacturerData <a{qv} []>]]");
    cbluez_bus_event event = expect_event(w, CBLUEZ_EVENT_DEVICE);
    CHECK_NUMBER(event.address.kind, CBLUEZ_ADDRESS_PUBLIC); // AddressType is missing
    CHECK_NUMBER(event.fields, CBLUEZ_FIELD_ADDRESS | CBLUEZ_FIELD_UUIDS);
    add(w, DEVICE "/service01 [org.bluez.GattService1 [UUID <s x>]]");
    add(w, DEVICE "/empty []");
    add(w, ADAPTER " [org.bluez.Adapter1 []]");
    CHECK_NUMBER(expect_event(w, CBLUEZ_EVENT_ADAPTER).fields, 0);
    // An adapter is one event, in any order of its interfaces. An advertising manager alone is not an event.
    add(w, ADAPTER " [org.bluez.LEAdvertisingManager1 [ActiveInstances <y 2> SupportedInstances <y 3>] "
                   "org.bluez.Adapter1 [AddressType <s random> Address <s C0:11:22:33:44:55>] "
                   "org.bluez.Media1 [SupportedInstances <y 9>]]");
    event = expect_event(w, CBLUEZ_EVENT_ADAPTER);
    CHECK(event.active_instances == 2 && event.free_instances == 3);
    CHECK_NUMBER(event.fields,
                 CBLUEZ_FIELD_ADDRESS | CBLUEZ_FIELD_ACTIVE_INSTANCES | CBLUEZ_FIELD_FREE_INSTANCES);
    add(w, ADAPTER " [org.bluez.Adapter1 [AddressType <s random>] org.bluez.LEAdvertisingManager1 []]");
    CHECK_NUMBER(expect_event(w, CBLUEZ_EVENT_ADAPTER).address.kind, CBLUEZ_ADDRESS_RANDOM);
    add(w, ADAPTER " [org.bluez.LEAdvertisingManager1 [ActiveInstances <y 2>]]");
    add(w, DEVICE " [org.bluez.Device1 [Icon <s audio-headset>]]");
    CHECK_TEXT(expect_event(w, CBLUEZ_EVENT_DEVICE).icon, "audio-headset");
    add(w, DEVICE " [org.bluez.Device1 [Icon <n 7>]]");
    CHECK_NUMBER(expect_event(w, CBLUEZ_EVENT_DEVICE).fields, 0);
    emit(w->bluez, NULL, "/", MANAGER, "InterfacesRemoved", "oas", DEVICE "/service01 [org.bluez.GattService1]");
    emit(w->bluez, NULL, "/", MANAGER, "InterfacesRemoved", "oas", DEVICE " [org.bluez.Battery1 org.bluez.Device1]");
    CHECK_TEXT(expect_event(w, CBLUEZ_EVENT_DEVICE_REMOVED).path, DEVICE);
    emit(w->bluez, NULL, "/", MANAGER, "InterfacesRemoved", "oas", ADAPTER " [org.bluez.Adapter1]");
    CHECK_TEXT(expect_event(w, CBLUEZ_EVENT_ADAPTER_REMOVED).path, ADAPTER);
}

static void test_changes(world *w) {
    change(w, "org.bluez.Device1 [RSSI <n -128>] []");
    cbluez_bus_event event = expect_event(w, CBLUEZ_EVENT_DEVICE);
    CHECK_TEXT(event.path, DEVICE);
    CHECK_NUMBER(event.fields, CBLUEZ_FIELD_RSSI);
    CHECK_NUMBER(event.rssi, -128);
    change(w, "org.bluez.Device1 [Connected <b 0>] [TxPower RSSI]");
    event = expect_event(w, CBLUEZ_EVENT_DEVICE);
    CHECK_NUMBER(event.fields, CBLUEZ_FIELD_CONNECTED | CBLUEZ_FIELD_RSSI_GONE);
    // Of several companies' data ours is kept, at any position; else the first. Long data is cut.
    change(w, "org.bluez.Device1 [ManufacturerData <a{qv} [76 <ay [9]> 65535 <ay [1 2]> 6 <ay [7]>]>] []");
    event = expect_event(w, CBLUEZ_EVENT_DEVICE);
    CHECK(event.company == 0xFFFF && event.manufacturer_count == 2 && event.manufacturer_data[1] == 2);
    change(w, "org.bluez.Device1 [ManufacturerData <a{qv} [76 <ay [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 "
              "20 21 22 23 24 25 26 27 28 29 30 31]> 6 <ay [7]>]>] []");
    event = expect_event(w, CBLUEZ_EVENT_DEVICE);
    CHECK(event.company == 76 && event.manufacturer_count == 29 && event.manufacturer_data[28] == 28);
    change(w, "org.bluez.Device1 [Name <s *300>] []");
    CHECK_NUMBER(strlen(expect_event(w, CBLUEZ_EVENT_DEVICE).name), CBLUEZ_NAME_TEXT - 1);
    // Our UUID is kept even if more UUIDs than fit come before it.
    change(w, "org.bluez.Device1 [UUIDs <as [00001800" BASE " 00001801" BASE " 0000180a" BASE " 00001844" BASE
              " 0000184d" BASE " 0000184e" BASE " 0000184f" BASE " 00001850" BASE " 00001855" BASE " " OURS
              " this-text-is-longer-than-any-uuid-could-be]>] []");
    event = expect_event(w, CBLUEZ_EVENT_DEVICE);
    CHECK_NUMBER(event.uuid_count, CBLUEZ_UUIDS);
    CHECK_TEXT(event.uuids[0], OURS);
    CHECK_TEXT(event.uuids[7], "0000184f" BASE);
    // Properties that the shim does not use.
    change(w, "org.bluez.Device1 [TxPower <n 4> ServicesResolved <b 1>] [ServiceData]");
    change(w, "org.bluez.Battery1 [RSSI <n 4>] []");
    expect_nothing(w);
}

static void test_wrong_types(world *w) {
    // Each property has a wrong type, except one, which is reported.
    change(w, "org.bluez.Device1 [Address <s nonsense> AddressType <u 1> Name <ay [1]> Connected <s yes> "
              "Paired <u 1> Powered <n 1> Discovering <as []> RSSI <i -60> UUIDs <s x>] []");
    change(w, "org.bluez.Device1 [UUIDs <ao [/x]> ManufacturerData <a{sv} [x <ay [1]>]>] []");
    change(w, "org.bluez.Device1 [ManufacturerData <a{qv} [65535 <s x>]> Name <v <s x>>] []");
    change(w, "org.bluez.Device1 [ManufacturerData <a{qv} [76 <ay [5]> 65535 <as [x]>]> Address <n 5>] []");
    cbluez_bus_event event = expect_event(w, CBLUEZ_EVENT_DEVICE);
    CHECK_NUMBER(event.fields, CBLUEZ_FIELD_MANUFACTURER);
    CHECK(event.company == 76 && event.manufacturer_count == 1 && event.manufacturer_data[0] == 5);
    // Signals with other signatures.
    const char *changed = "PropertiesChanged";
    emit(w->bluez, NULL, DEVICE, PROPERTIES, changed, "s", "org.bluez.Device1");
    emit(w->bluez, NULL, DEVICE, PROPERTIES, changed, "sa{ss}as", "org.bluez.Device1 [RSSI 1] []");
    emit(w->bluez, NULL, DEVICE, PROPERTIES, changed, "sa{sv}ay", "org.bluez.Device1 [RSSI <n 1>] [1]");
    emit(w->bluez, NULL, "/", MANAGER, "InterfacesAdded", "s", DEVICE);
    emit(w->bluez, NULL, "/", MANAGER, "InterfacesAdded", "oa{sas}", DEVICE " [org.bluez.Device1 []]");
    emit(w->bluez, NULL, "/", MANAGER, "InterfacesRemoved", "oay", DEVICE " [1]");
    emit(w->bluez, NULL, "/", MANAGER, "InterfacesRemoved", "o", DEVICE);
    // A path that is too long for a call.
    char path[600] = "/";
    memset(path + 1, 'x', 300);
    strcat(path, " [org.bluez.Device1 [RSSI <n 1>]]");
    add(w, path);
    expect_nothing(w);
}

// Any client can send a signal to us; only those of org.bluez count.
static void test_impostor(world *w, const bus_daemon *daemon) {
    DBusConnection *impostor = connect_to(daemon);
    const char *name = shim_name(w);
    emit(impostor, name, DEVICE, PROPERTIES, "PropertiesChanged", "sa{sv}as", "org.bluez.Device1 [RSSI <n 1>] []");
    emit(impostor, name, "/", MANAGER, "InterfacesRemoved", "oas", ADAPTER " [org.bluez.Adapter1]");
    emit(impostor, name, "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss",
         "org.bluez :1.1 ''");
    emit(impostor, name, "/org/freedesktop/DBus/Local", "test.Local", "Disconnected", NULL, NULL);
    expect_nothing(w);
    disconnect(impostor);
    expect_nothing(w);
}

void test_events(void) {
    bus_daemon daemon = daemon_start();
    world w = world_open_ready(&daemon);
    test_objects(&w);
    test_many_objects(&w);
    test_added_and_removed(&w);
    test_changes(&w);
    test_wrong_types(&w);
    test_impostor(&w, &daemon);
    world_close(&w);
    daemon_stop(&daemon);
}
