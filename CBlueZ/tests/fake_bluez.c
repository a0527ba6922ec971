// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE

#include "fake_bluez.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define PATIENCE_MS 5000

static void fail(const char *why) {
    fprintf(stderr, "fake bluez: %s\n", why);
    abort();
}

static long long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// ---------------------------------------------------------------------------------------------------------------------
// The bus
// ---------------------------------------------------------------------------------------------------------------------

bus_daemon daemon_start(void) {
    bus_daemon daemon = {0};
    int ends[2];
    const char *configuration = getenv("CBLUEZ_TEST_BUS");
    if (!configuration || pipe(ends) < 0) fail("CBLUEZ_TEST_BUS is not set");
    daemon.process = fork();
    if (daemon.process == 0) {
        char file[512];
        char address[32];
        prctl(PR_SET_PDEATHSIG, SIGKILL); // it must not outlive a crashed test
        if (!freopen("/dev/null", "w", stderr)) _exit(126); // it complains about limits that it may not raise
        snprintf(file, sizeof file, "--config-file=%s", configuration);
        snprintf(address, sizeof address, "--print-address=%d", ends[1]);
        execlp("dbus-daemon", "dbus-daemon", file, "--nofork", address, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t count = 0;
    ssize_t got;
    while (count < sizeof daemon.address - 1 && !strchr(daemon.address, '\n') &&
           (got = read(ends[0], daemon.address + count, sizeof daemon.address - 1 - count)) > 0) {
        count += (size_t)got;
    }
    close(ends[0]);
    char *end = strchr(daemon.address, '\n');
    if (!end) fail("dbus-daemon does not start");
    *end = '\0';
    return daemon;
}

void daemon_stop(bus_daemon *daemon) {
    if (daemon->process <= 0) return;
    kill(daemon->process, SIGKILL);
    waitpid(daemon->process, NULL, 0);
    daemon->process = 0;
}

DBusConnection *connect_to(const bus_daemon *daemon) {
    DBusConnection *connection = dbus_connection_open_private(daemon->address, NULL);
    if (!connection || !dbus_bus_register(connection, NULL)) fail("no connection to the bus");
    dbus_connection_set_exit_on_disconnect(connection, false);
    return connection;
}

void disconnect(DBusConnection *connection) {
    dbus_connection_close(connection);
    dbus_connection_unref(connection);
}

// ---------------------------------------------------------------------------------------------------------------------
// The world
// ---------------------------------------------------------------------------------------------------------------------

world world_open(const bus_daemon *daemon) {
    world w = {0};
    char error[CBLUEZ_ERROR_TEXT] = "";
    if (!CHECK_NUMBER(cbluez_bus_open(daemon->address, &w.bus, error), 0)) fail(error);
    return w;
}

void world_close(world *w) {
    cbluez_bus_close(w->bus);
    if (w->bluez) disconnect(w->bluez);
    *w = (world){0};
}

void world_start_bluez(world *w, const bus_daemon *daemon) {
    w->bluez = connect_to(daemon);
    if (dbus_bus_request_name(w->bluez, "org.bluez", DBUS_NAME_FLAG_DO_NOT_QUEUE, NULL) !=
        DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER) {
        fail("org.bluez is taken");
    }
}

void world_stop_bluez(world *w) {
    disconnect(w->bluez);
    w->bluez = NULL;
}

world world_open_ready(const bus_daemon *daemon) {
    world w = world_open(daemon);
    world_start_bluez(&w, daemon);
    expect_event(&w, CBLUEZ_EVENT_READY);
    cbluez_bus_event event = next_event(&w);
    // The shim's request or org.bluez may have come first.
    if (event.kind == CBLUEZ_EVENT_BLUEZ_VANISHED) event = next_event(&w);
    CHECK_NUMBER(event.kind, CBLUEZ_EVENT_BLUEZ_APPEARED);
    return w;
}

// Works like a program's loop: the shim is called only when its descriptor or its deadline requires it.
void step(world *w) {
    struct pollfd states[2] = {{.fd = cbluez_bus_descriptor(w->bus), .events = POLLIN}, {.fd = -1, .events = POLLIN}};
    if (cbluez_bus_wants_write(w->bus)) states[0].events |= POLLOUT;
    if (w->bluez) dbus_connection_get_unix_fd(w->bluez, &states[1].fd);
    int deadline = cbluez_bus_next_deadline_ms(w->bus);
    bool is_due = deadline >= 0 && deadline <= 5;
    bool is_quiet = poll(states, 2, is_due ? deadline : 5) == 0; // connections of other clients are not polled
    if (states[0].revents || (is_due && is_quiet)) {
        cbluez_bus_process(w->bus);
        w->may_have_events = true;
    }
    if (w->bluez) dbus_connection_read_write(w->bluez, 0);
}

static bool take_event(world *w, cbluez_bus_event *event) {
    if (!w->may_have_events) return false;
    w->may_have_events = cbluez_bus_next(w->bus, event) != 0;
    return w->may_have_events;
}

cbluez_bus_event next_event(world *w) {
    cbluez_bus_event event = {0};
    for (long long end = now_ms() + PATIENCE_MS; now_ms() < end;) {
        if (take_event(w, &event)) return event;
        step(w);
    }
    return (cbluez_bus_event){0};
}

cbluez_bus_event expect_event(world *w, int kind) {
    cbluez_bus_event event = next_event(w);
    check_number(event.kind, kind, "the kind of event", __FILE__, __LINE__);
    return event;
}

void expect_nothing(world *w) {
    // This call fails, with or without org.bluez. Its reply shows that the bus has delivered everything before it.
    int64_t serial = cbluez_bus_stop_discovery(w->bus, "/nobody", 30000);
    if (w->bluez) answer_error(w->bluez, expect_call(w, w->bluez, "StopDiscovery"), "test.Nothing", "nothing");
    CHECK_NUMBER(expect_event(w, CBLUEZ_EVENT_REPLY).serial, serial);
}

// ---------------------------------------------------------------------------------------------------------------------
// Messages
// ---------------------------------------------------------------------------------------------------------------------

DBusMessage *expect_call(world *w, DBusConnection *connection, const char *member) {
    for (long long end = now_ms() + PATIENCE_MS; now_ms() < end;) {
        DBusMessage *message = dbus_connection_pop_message(connection);
        if (!message) {
            step(w);
            continue;
        }
        if (dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_METHOD_CALL &&
            strcmp(dbus_message_get_member(message), member) == 0) {
            return message;
        }
        dbus_message_unref(message);
    }
    fail(member);
    return NULL;
}

static void send_message(DBusConnection *connection, DBusMessage *message) {
    dbus_connection_send(connection, message, NULL);
    dbus_connection_flush(connection);
    dbus_message_unref(message);
}

void answer(DBusConnection *connection, DBusMessage *call, const char *signature, const char *text) {
    DBusMessage *message = dbus_message_new_method_return(call);
    append_text(message, signature, text);
    send_message(connection, message);
    dbus_message_unref(call);
}

void answer_error(DBusConnection *connection, DBusMessage *call, const char *error, const char *text) {
    send_message(connection, dbus_message_new_error(call, error, text));
    dbus_message_unref(call);
}

void emit(DBusConnection *connection, const char *destination, const char *path, const char *interface,
          const char *member, const char *signature, const char *text) {
    DBusMessage *signal = dbus_message_new_signal(path, interface, member);
    dbus_message_set_destination(signal, destination);
    append_text(signal, signature, text);
    send_message(connection, signal);
}

DBusMessage *call_shim(world *w, DBusConnection *connection, const char *path, const char *interface,
                       const char *member, const char *signature, const char *text) {
    DBusMessage *call = dbus_message_new_method_call(shim_name(w), path, interface, member);
    dbus_uint32_t serial = 0;
    append_text(call, signature, text);
    dbus_connection_send(connection, call, &serial);
    dbus_message_unref(call);
    for (long long end = now_ms() + PATIENCE_MS; now_ms() < end;) {
        dbus_connection_read_write(connection, 0);
        cbluez_bus_event event;
        if (take_event(w, &event)) fail("an event while an object is asked");
        DBusMessage *message = dbus_connection_pop_message(connection);
        if (!message) {
            step(w);
        } else if (dbus_message_get_reply_serial(message) == serial) {
            return message;
        } else {
            dbus_message_unref(message);
        }
    }
    fail("the shim does not answer");
    return NULL;
}

void check_result(world *w, DBusConnection *from, const char *path, const char *interface, const char *member,
                  const char *signature, const char *text, const char *expected) {
    char actual[4096];
    DBusMessage *reply = call_shim(w, from, path, interface, member, signature, text);
    format_arguments(reply, actual, sizeof actual);
    CHECK_TEXT(dbus_message_get_error_name(reply) ? dbus_message_get_error_name(reply) : actual, expected);
    dbus_message_unref(reply);
}

const char *shim_name(world *w) {
    static char name[64];
    int64_t serial = cbluez_bus_start_discovery(w->bus, "/who", 30000);
    DBusMessage *call = expect_call(w, w->bluez, "StartDiscovery");
    snprintf(name, sizeof name, "%s", dbus_message_get_sender(call));
    answer(w->bluez, call, NULL, NULL);
    CHECK_NUMBER(expect_event(w, CBLUEZ_EVENT_REPLY).serial, serial);
    return name;
}
