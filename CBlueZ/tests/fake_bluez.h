// SPDX-License-Identifier: Apache-2.0
//
// A private message bus, and a fake org.bluez on it that sends whatever a test needs.

#ifndef CBLUEZ_TESTS_FAKE_BLUEZ_H
#define CBLUEZ_TESTS_FAKE_BLUEZ_H

#include <dbus/dbus.h>
#include <sys/types.h>

#include "CBlueZ.h"

/// A dbus-daemon of our own.
typedef struct {
    pid_t process;
    char address[256];
} bus_daemon;

bus_daemon daemon_start(void);
void daemon_stop(bus_daemon *daemon);

/// Two ends that one thread steps: the shim, and the fake org.bluez (or NULL).
typedef struct {
    cbluez_bus *bus;
    DBusConnection *bluez;
    /// A message may have come since `cbluez_bus_next` last returned 0.
    bool may_have_events;
} world;

/// Opens the shim on the bus.
world world_open(const bus_daemon *daemon);
void world_close(world *w);
/// Puts org.bluez on the bus, or takes it away.
void world_start_bluez(world *w, const bus_daemon *daemon);
void world_stop_bluez(world *w);
/// Does both, and waits for READY and APPEARED.
world world_open_ready(const bus_daemon *daemon);

/// A connection of another client.
DBusConnection *connect_to(const bus_daemon *daemon);
void disconnect(DBusConnection *connection);

/// Lets both ends read and write once.
void step(world *w);
/// Waits for the next event, 5 s at most.
cbluez_bus_event next_event(world *w);
/// Waits for an event of this kind. Another kind or no event fails the check.
cbluez_bus_event expect_event(world *w, int kind);
/// Checks that no event comes: makes a call to the bus, and only its reply comes back.
void expect_nothing(world *w);

/// Waits for a call of this member on `connection`, and answers no other call. NULL after 5 s.
DBusMessage *expect_call(world *w, DBusConnection *connection, const char *member);
/// Answers a call with arguments or with an error, and releases the call.
void answer(DBusConnection *connection, DBusMessage *call, const char *signature, const char *text);
void answer_error(DBusConnection *connection, DBusMessage *call, const char *error, const char *text);
/// Sends a signal to all clients, or to `destination` alone.
void emit(DBusConnection *connection, const char *destination, const char *path, const char *interface,
          const char *member, const char *signature, const char *text);
/// Calls a method of the shim's objects from `connection` and waits for the answer.
DBusMessage *call_shim(world *w, DBusConnection *connection, const char *path, const char *interface,
                       const char *member, const char *signature, const char *text);
/// Calls such a method, and compares the reply's arguments or its error's name.
void check_result(world *w, DBusConnection *from, const char *path, const char *interface, const char *member,
                  const char *signature, const char *text, const char *expected);
/// The shim's unique name on the bus, taken from a call that it made.
const char *shim_name(world *w);

/// Appends arguments of this signature, read from text: words, `[ items ]`, and `<signature value>` for a variant. `*N`
/// represents N letters.
void append_text(DBusMessage *message, const char *signature, const char *text);
/// The arguments of a message as such a text.
void format_arguments(DBusMessage *message, char *out, size_t size);

#endif
