// SPDX-License-Identifier: Apache-2.0
//
// bluetoothd's coming and going, calls and their results, and limits.

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"
#include "fake_bluez.h"

#define ADAPTER "/org/bluez/hci0"
#define PROPERTIES "org.freedesktop.DBus.Properties"

static void check_reply(world *w, int64_t serial, const char *error_name, const char *error_text) {
    cbluez_bus_event event = expect_event(w, CBLUEZ_EVENT_REPLY);
    CHECK_NUMBER(event.serial, serial);
    CHECK_TEXT(event.error_name, error_name);
    CHECK_TEXT(event.error_text, error_text);
}

static void test_coming_and_going(const bus_daemon *daemon) {
    world w = world_open(daemon);
    CHECK(cbluez_bus_descriptor(w.bus) >= 0);
    expect_event(&w, CBLUEZ_EVENT_READY);
    expect_event(&w, CBLUEZ_EVENT_BLUEZ_VANISHED);
    CHECK_NUMBER(cbluez_bus_next_deadline_ms(w.bus), -1);
    check_reply(&w, cbluez_bus_list_objects(w.bus, 5000), "org.freedesktop.DBus.Error.NameHasNoOwner",
                "Name \"org.bluez\" does not exist");
    for (int round = 0; round < 2; round++) {
        world_start_bluez(&w, daemon);
        expect_event(&w, CBLUEZ_EVENT_BLUEZ_APPEARED);
        expect_nothing(&w);
        world_stop_bluez(&w);
        expect_event(&w, CBLUEZ_EVENT_BLUEZ_VANISHED);
    }
    world_start_bluez(&w, daemon);
    expect_event(&w, CBLUEZ_EVENT_BLUEZ_APPEARED);
    // bluetoothd goes while a call is pending.
    int64_t serial = cbluez_bus_start_discovery(w.bus, ADAPTER, 5000);
    dbus_message_unref(expect_call(&w, w.bluez, "StartDiscovery"));
    world_stop_bluez(&w);
    cbluez_bus_event events[2] = {next_event(&w), next_event(&w)};
    bool vanished_first = events[0].kind == CBLUEZ_EVENT_BLUEZ_VANISHED;
    CHECK_NUMBER(events[!vanished_first].kind, CBLUEZ_EVENT_BLUEZ_VANISHED);
    CHECK_NUMBER(events[vanished_first].serial, serial);
    CHECK_TEXT(events[vanished_first].error_name, "org.freedesktop.DBus.Error.NoReply");
    world_close(&w);
}

// The bus tells which process owns the name; others that call themselves bluetoothd do not count.
static void test_process(const bus_daemon *daemon) {
    pid_t process = 0;
    uid_t user = 4711;
    CHECK_NUMBER(cbluez_bus_process_of_bluez(daemon->address, 5000, &process, &user), -ESRCH);
    CHECK_NUMBER(process, 0);
    world w = world_open_ready(daemon);
    CHECK_NUMBER(cbluez_bus_process_of_bluez(daemon->address, 5000, &process, &user), 0);
    CHECK_NUMBER(process, getpid());
    CHECK_NUMBER(user, getuid());
    CHECK(cbluez_bus_process_of_bluez("unix:path=/nonexistent/bus", 5000, &process, &user) < 0);
    // A bus that hangs is not waited for.
    kill(daemon->process, SIGSTOP);
    CHECK_NUMBER(cbluez_bus_process_of_bluez(daemon->address, 50, &process, &user), -ETIMEDOUT);
    kill(daemon->process, SIGCONT);
    world_close(&w);
}

// A caller that polls only the descriptor is woken for data that was read while the bus was opened.
static void test_nothing_forgotten(const bus_daemon *daemon) {
    world w = world_open(daemon);
    struct pollfd state = {.fd = cbluez_bus_descriptor(w.bus), .events = POLLIN};
    while (poll(&state, 1, 100) > 0) cbluez_bus_process(w.bus);
    CHECK(cbluez_bus_wants_write(w.bus));
    expect_event(&w, CBLUEZ_EVENT_READY);
    expect_event(&w, CBLUEZ_EVENT_BLUEZ_VANISHED);
    cbluez_bus_event event;
    CHECK_NUMBER(cbluez_bus_next(w.bus, &event), 0);
    CHECK(!cbluez_bus_wants_write(w.bus));
    world_close(&w);
}

static void test_hand_over(const bus_daemon *daemon) {
    world w = world_open(daemon);
    w.bluez = connect_to(daemon);
    dbus_bus_request_name(w.bluez, "org.bluez", DBUS_NAME_FLAG_ALLOW_REPLACEMENT, NULL);
    expect_event(&w, CBLUEZ_EVENT_READY);
    cbluez_bus_event event = next_event(&w);
    if (event.kind == CBLUEZ_EVENT_BLUEZ_VANISHED) event = next_event(&w);
    CHECK_NUMBER(event.kind, CBLUEZ_EVENT_BLUEZ_APPEARED);
    DBusConnection *successor = connect_to(daemon);
    dbus_bus_request_name(successor, "org.bluez", DBUS_NAME_FLAG_REPLACE_EXISTING, NULL);
    expect_event(&w, CBLUEZ_EVENT_BLUEZ_VANISHED);
    expect_event(&w, CBLUEZ_EVENT_BLUEZ_APPEARED);
    disconnect(w.bluez);
    w.bluez = successor;
    expect_nothing(&w);
    world_close(&w);
}

static void check_call(world *w, int64_t serial, const char *path, const char *interface, const char *member,
                       const char *arguments) {
    char text[1024];
    CHECK(serial > 0);
    DBusMessage *call = expect_call(w, w->bluez, member);
    format_arguments(call, text, sizeof text);
    CHECK_TEXT(dbus_message_get_path(call), path);
    CHECK_TEXT(dbus_message_get_interface(call), interface);
    CHECK_TEXT(text, arguments);
    CHECK(!dbus_message_get_auto_start(call));
    answer(w->bluez, call, NULL, NULL);
    check_reply(w, serial, "", "");
}

static void test_calls(const bus_daemon *daemon) {
    world w = world_open_ready(daemon);
    const char *adapter = "org.bluez.Adapter1";
    // BlueZ 5.87 crashes when the filter contains UUIDs.
    check_call(&w, cbluez_bus_set_discovery_filter(w.bus, ADAPTER, 5000), ADAPTER, adapter, "SetDiscoveryFilter",
               "[Transport <s le>]");
    check_call(&w, cbluez_bus_start_discovery(w.bus, ADAPTER, 5000), ADAPTER, adapter, "StartDiscovery", "");
    check_call(&w, cbluez_bus_stop_discovery(w.bus, ADAPTER, 5000), ADAPTER, adapter, "StopDiscovery", "");
    check_call(&w, cbluez_bus_set_powered(w.bus, ADAPTER, true, 5000), ADAPTER, PROPERTIES, "Set",
               "org.bluez.Adapter1 Powered <b 1>");
    check_call(&w, cbluez_bus_set_powered(w.bus, ADAPTER, false, 5000), ADAPTER, PROPERTIES, "Set",
               "org.bluez.Adapter1 Powered <b 0>");
    check_call(&w, cbluez_bus_remove_device(w.bus, ADAPTER, ADAPTER "/dev_1", 5000), ADAPTER, adapter, "RemoveDevice",
               ADAPTER "/dev_1");
    // A refusal of bluetoothd's comes with its name and text. A text that is too long is cut between characters.
    int64_t serial = cbluez_bus_start_discovery(w.bus, ADAPTER, 5000);
    answer_error(w.bluez, expect_call(&w, w.bluez, "StartDiscovery"), "org.bluez.Error.NotReady", "Resource Not Ready");
    check_reply(&w, serial, "org.bluez.Error.NotReady", "Resource Not Ready");
    char text[300];
    for (size_t i = 0; i + 2 < sizeof text; i += 2) memcpy(text + i, "\xC3\xA9", 3);
    serial = cbluez_bus_stop_discovery(w.bus, ADAPTER, 5000);
    answer_error(w.bluez, expect_call(&w, w.bluez, "StopDiscovery"), "org.bluez.Error.Failed", text);
    text[CBLUEZ_ERROR_TEXT - 2] = '\0'; // 127 characters of two bytes
    check_reply(&w, serial, "org.bluez.Error.Failed", text);
    // An error without a text, and one with another type of argument.
    serial = cbluez_bus_stop_discovery(w.bus, ADAPTER, 5000);
    answer_error(w.bluez, expect_call(&w, w.bluez, "StopDiscovery"), "org.bluez.Error.Failed", NULL);
    check_reply(&w, serial, "org.bluez.Error.Failed", "");
    // Invalid arguments that the shim refuses itself.
    CHECK_NUMBER(cbluez_bus_start_discovery(w.bus, "hci0", 5000), -EINVAL);
    CHECK_NUMBER(cbluez_bus_start_discovery(w.bus, NULL, 5000), -EINVAL);
    CHECK_NUMBER(cbluez_bus_start_discovery(w.bus, ADAPTER, 0), -EINVAL);
    CHECK_NUMBER(cbluez_bus_set_powered(w.bus, "", true, 5000), -EINVAL);
    CHECK_NUMBER(cbluez_bus_remove_device(w.bus, ADAPTER, "dev_1", 5000), -EINVAL);
    CHECK_NUMBER(cbluez_bus_set_discovery_filter(w.bus, "hci0", 5000), -EINVAL);
    expect_nothing(&w);
    world_close(&w);
}

static void test_time_out(const bus_daemon *daemon) {
    world w = world_open_ready(daemon);
    CHECK_NUMBER(cbluez_bus_next_deadline_ms(w.bus), -1);
    int64_t slow = cbluez_bus_stop_discovery(w.bus, ADAPTER, 60000);
    int64_t serial = cbluez_bus_start_discovery(w.bus, ADAPTER, 60);
    CHECK(cbluez_bus_next_deadline_ms(w.bus) > 30 && cbluez_bus_next_deadline_ms(w.bus) <= 60);
    DBusMessage *unanswered = expect_call(&w, w.bluez, "StartDiscovery");
    check_reply(&w, serial, "org.freedesktop.DBus.Error.NoReply", "no reply in time");
    CHECK(cbluez_bus_next_deadline_ms(w.bus) > 50000);
    answer(w.bluez, unanswered, NULL, NULL); // too late
    expect_nothing(&w);
    // As many calls as fit; one more is accepted when another ends.
    int64_t last = slow;
    int count = 1;
    for (int64_t next; (next = cbluez_bus_set_powered(w.bus, ADAPTER, true, 60000)) > 0; last = next) count++;
    CHECK_NUMBER(count, 64);
    CHECK_NUMBER(cbluez_bus_list_objects(w.bus, 60000), -ENOBUFS);
    answer(w.bluez, expect_call(&w, w.bluez, "Set"), NULL, NULL);
    expect_event(&w, CBLUEZ_EVENT_REPLY);
    CHECK(cbluez_bus_list_objects(w.bus, 60000) > last);
    world_close(&w);
}

// If the caller takes no events, reading stops, and no message is lost.
static void test_back_pressure(const bus_daemon *daemon) {
    enum { SIGNALS = 20000 };
    world w = world_open_ready(daemon);
    for (int i = 0; i < SIGNALS; i++) {
        emit(w.bluez, NULL, ADAPTER "/dev_1", PROPERTIES, "PropertiesChanged", "sa{sv}as",
             "org.bluez.Device1 [RSSI <n -60> Name <s *1000>] []");
        if (i % 64 == 0) step(&w);
    }
    int before = 0;
    int after = 0;
    for (int i = 0; i < 2000; i++) step(&w);
    CHECK(ioctl(cbluez_bus_descriptor(w.bus), FIONREAD, &before) == 0 && before > 0);
    for (int i = 0; i < 100; i++) step(&w);
    CHECK(ioctl(cbluez_bus_descriptor(w.bus), FIONREAD, &after) == 0 && after == before);
    int count = 0;
    cbluez_bus_event event;
    while (cbluez_bus_next(w.bus, &event) == 1) count++;
    CHECK(count > 100 && count < 1200); // of 1 KB each: the limit is 1 MB
    for (; count < SIGNALS; count++) {
        event = next_event(&w);
        if (event.kind != CBLUEZ_EVENT_DEVICE) break;
    }
    CHECK_NUMBER(count, SIGNALS);
    expect_nothing(&w);
    world_close(&w);
}

void test_bus(void) {
    bus_daemon daemon = daemon_start();
    test_coming_and_going(&daemon);
    test_process(&daemon);
    test_nothing_forgotten(&daemon);
    test_hand_over(&daemon);
    test_calls(&daemon);
    test_time_out(&daemon);
    test_back_pressure(&daemon);
    daemon_stop(&daemon);
}

// ---------------------------------------------------------------------------------------------------------------------

static void test_no_bus(void) {
    cbluez_bus *bus = NULL;
    char error[CBLUEZ_ERROR_TEXT] = "";
    CHECK_NUMBER(cbluez_bus_open("unix:path=/nonexistent/bus", &bus, error), -ENOENT);
    CHECK(strstr(error, "No such file") != NULL);
    CHECK_NUMBER(cbluez_bus_open("nonsense", &bus, NULL), -EINVAL);
    CHECK(bus == NULL);
    cbluez_bus_close(NULL);
}

// A listener that sends these bytes and hangs up, or sends nothing and keeps the connection.
static void test_stranger(const char *words) {
    char address[128];
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    int count = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "cbluez-test-%d", (int)getpid());
    snprintf(address, sizeof address, "unix:abstract=%s", name.sun_path + 1);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)count);
    CHECK_NUMBER(bind(listener, (struct sockaddr *)&name, size), 0);
    CHECK_NUMBER(listen(listener, 1), 0);
    world w = {0};
    CHECK_NUMBER(cbluez_bus_open(address, &w.bus, NULL), 0);
    int64_t serial = cbluez_bus_list_objects(w.bus, 20000);
    int stranger = accept(listener, NULL, NULL);
    if (words) {
        CHECK_NUMBER(send(stranger, words, strlen(words), 0), strlen(words));
        close(stranger);
        check_reply(&w, serial, "org.freedesktop.DBus.Error.Disconnected", "the message bus has gone");
        expect_event(&w, CBLUEZ_EVENT_CLOSED);
    } else {
        // It does not poll in a loop while it waits, and the wait has an end.
        CHECK(!cbluez_bus_wants_write(w.bus));
        CHECK(cbluez_bus_next_deadline_ms(w.bus) > 0 && cbluez_bus_next_deadline_ms(w.bus) <= 10000);
        CHECK_NUMBER(cbluez_bus_process(w.bus), 0);
        close(stranger);
    }
    close(listener);
    world_close(&w);
}

static void test_death(void) {
    bus_daemon daemon = daemon_start();
    world w = world_open_ready(&daemon);
    int64_t serial = cbluez_bus_start_discovery(w.bus, ADAPTER, 60000);
    answer(w.bluez, expect_call(&w, w.bluez, "StartDiscovery"), NULL, NULL);
    check_reply(&w, serial, "", "");
    serial = cbluez_bus_stop_discovery(w.bus, ADAPTER, 60000);
    dbus_message_unref(expect_call(&w, w.bluez, "StopDiscovery"));
    // Events from before the end are still reported.
    emit(w.bluez, NULL, ADAPTER, PROPERTIES, "PropertiesChanged", "sa{sv}as", "org.bluez.Adapter1 [Powered <b 1>] []");
    struct pollfd arrived = {.fd = cbluez_bus_descriptor(w.bus), .events = POLLIN};
    CHECK_NUMBER(poll(&arrived, 1, 5000), 1);
    daemon_stop(&daemon);
    CHECK(expect_event(&w, CBLUEZ_EVENT_ADAPTER).powered);
    check_reply(&w, serial, "org.freedesktop.DBus.Error.Disconnected", "the message bus has gone");
    CHECK_NUMBER(cbluez_bus_process(w.bus), -ENOTCONN);
    CHECK_NUMBER(cbluez_bus_start_discovery(w.bus, ADAPTER, 1000), -ENOTCONN);
    expect_event(&w, CBLUEZ_EVENT_CLOSED);
    cbluez_bus_event event;
    CHECK_NUMBER(cbluez_bus_next(w.bus, &event), -ENOTCONN);
    CHECK_NUMBER(cbluez_bus_process(w.bus), -ENOTCONN);
    CHECK_NUMBER(cbluez_bus_next_deadline_ms(w.bus), -1);
    CHECK(!cbluez_bus_wants_write(w.bus));
    CHECK(fcntl(cbluez_bus_descriptor(w.bus), F_GETFD) >= 0); // open, so no other file can get its number
    world_close(&w);
}

void test_bus_failures(void) {
    test_no_bus();
    test_stranger(NULL);
    test_stranger("HTTP/1.1 400 Bad Request\r\n\r\n");
    test_stranger("REJECTED EXTERNAL\r\n");
    test_death();
}
