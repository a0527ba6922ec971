// SPDX-License-Identifier: Apache-2.0
//
// Shared by the files of the D-Bus half.
//
// Events are not queued: `cbluez_bus_next` turns one item of CDBus at a time into events.

#ifndef CBLUEZ_BUS_H
#define CBLUEZ_BUS_H

#include <CDBus.h>

#include "CBlueZ.h"

#define BLUEZ "org.bluez"
#define BLUEZ_ADAPTER "org.bluez.Adapter1"
#define BLUEZ_DEVICE "org.bluez.Device1"
#define BLUEZ_ADVERTISING_MANAGER "org.bluez.LEAdvertisingManager1"
#define BLUEZ_ADVERTISEMENT "org.bluez.LEAdvertisement1"
#define BLUEZ_AGENT_MANAGER "org.bluez.AgentManager1"
#define BLUEZ_AGENT "org.bluez.Agent1"
#define OBJECT_MANAGER "org.freedesktop.DBus.ObjectManager"

/// Maximum number of advertisements exported at once. On most controllers, bluetoothd accepts at most five.
#define BUS_ADVERTISEMENTS 8
/// The tag of a call.
typedef enum {
    /// A call of the caller's. Its reply needs no further work.
    BUS_CALL_PLAIN,
    /// GetManagedObjects: the objects in its reply become events first.
    BUS_CALL_OBJECTS,
    /// RegisterAdvertisement: drop the object if bluetoothd refuses it.
    BUS_CALL_REGISTER,
    /// RegisterAgent: the same.
    BUS_CALL_REGISTER_AGENT,
    /// RegisterApplication: the same.
    BUS_CALL_REGISTER_APPLICATION,
    /// Our own: GetNameOwner for org.bluez.
    BUS_CALL_OWNER,
} bus_call_kind;

typedef struct {
    /// Serial of the call that registered it; 0 if the slot is free.
    uint32_t serial;
    char path[CBLUEZ_PATH_TEXT];
    char uuid[CBLUEZ_UUID_TEXT];
    uint16_t company;
    uint8_t manufacturer_data[CBLUEZ_MANUFACTURER_DATA];
    size_t manufacturer_count;
    char local_name[CBLUEZ_NAME_TEXT];
    uint32_t min_interval_ms;
    uint32_t max_interval_ms;
} bus_advertisement;

typedef struct {
    /// Serial of the call that registered it; 0 without an agent.
    uint32_t serial;
    char path[CBLUEZ_PATH_TEXT];
    /// The call that waits for a person's answer, or NULL, and its number. Numbers are not reused.
    DBusMessage *question;
    uint32_t request;
} bus_agent;

/// Maximum number of open GATT questions of bluetoothd. Each guest asks three while it joins.
#define BUS_QUESTIONS 16
/// Room for the application's path. The paths of its objects must fit CBLUEZ_PATH_TEXT.
#define BUS_APPLICATION_PATH (CBLUEZ_PATH_TEXT - 64)

typedef struct {
    char uuid[CBLUEZ_UUID_TEXT];
    int kind;
    int buffer;
} bus_characteristic;

/// What a device writes to a characteristic: a pair of sockets, and the question whether the caller takes it.
typedef struct {
    /// Path of the device; empty without one.
    char device[CBLUEZ_PATH_TEXT];
    /// The end that values are sent to, -1 without a device.
    int ours;
    /// The end for the caller until it takes it, else -1, and the number of the question.
    int theirs;
    uint32_t request;
} bus_writer;

typedef struct {
    /// NULL if the slot is free.
    DBusMessage *call;
    uint32_t request;
    /// Offset of a read.
    uint16_t offset;
} bus_question;

typedef struct {
    /// Serial of the call that registered it; 0 without an application.
    uint32_t serial;
    char path[BUS_APPLICATION_PATH];
    char service[CBLUEZ_UUID_TEXT];
    bus_characteristic characteristics[CBLUEZ_CHARACTERISTICS];
    bus_writer writers[CBLUEZ_CHARACTERISTICS];
    size_t count;
    bus_question questions[BUS_QUESTIONS];
    /// The number of the last question.
    uint32_t requests;
} bus_application;

struct cbluez_bus {
    cdbus *dbus;
    /// Unique name of org.bluez's owner, empty without one. `knows_owner`: the bus has answered.
    char owner[CBLUEZ_PATH_TEXT];
    bool knows_owner;
    /// org.bluez has a new owner: APPEARED must follow the VANISHED that was just reported.
    bool owes_appeared;
    bus_advertisement advertisements[BUS_ADVERTISEMENTS];
    bus_agent agent;
    bus_application application;
    /// The GetManagedObjects reply that is being reported, one object per event.
    DBusMessage *objects;
    DBusMessageIter objects_left;
};

// bus_calls.c

/// A new call to org.bluez. NULL if out of memory.
DBusMessage *bus_new_call(const char *path, const char *interface, const char *member);
/// Queues the match rules and GetNameOwner. 0, or a negative errno.
int bus_subscribe(cbluez_bus *bus);
/// Calls a method of one of bluetoothd's objects. Its argument is an object path, or none if NULL.
int64_t bus_call_object(cbluez_bus *bus, const char *object, const char *interface, const char *member,
                        const char *argument, int timeout_ms);

/// Calls a method with two arguments: one of our objects, and empty options.
int64_t bus_call_register(cbluez_bus *bus, const char *adapter, const char *interface, const char *member,
                          const char *path, bus_call_kind kind, int timeout_ms);

// bus_events.c

/// Fills in a signal of org.bluez. Returns true if it is an event.
bool bus_event_from_signal(DBusMessage *signal, cbluez_bus_event *event);
/// Starts to report a GetManagedObjects reply. Returns false if it has another signature.
bool bus_objects_begin(cbluez_bus *bus, DBusMessage *reply);
/// Fills in the next object of that reply. Returns false after the last.
bool bus_objects_next(cbluez_bus *bus, cbluez_bus_event *event);

// bus_objects.c

/// Answers a method call to one of our objects. Returns true if it is an event.
bool bus_answer_call(cbluez_bus *bus, DBusMessage *call, cbluez_bus_event *event);

// bus_agent.c

/// Whether the agent is exported at this path.
bool bus_is_agent(const cbluez_bus *bus, const char *path);
/// Answers a method call to the agent, or keeps it as the question. Returns true if it is an event.
bool bus_answer_agent_call(cbluez_bus *bus, DBusMessage *call, cbluez_bus_event *event);
/// Drops the agent that this call registered, and its question. 0: any agent.
void bus_drop_agent(cbluez_bus *bus, uint32_t serial);

// bus_advertisement.c

/// Answers a method call to an advertisement. Returns true if it is an event. Without an advertisement at this path,
/// sets `is_known` to false, sends no answer and returns false.
bool bus_answer_advertisement_call(cbluez_bus *bus, DBusMessage *call, cbluez_bus_event *event, bool *is_known);
/// Drops the object that this call registered. 0: all objects.
void bus_drop_advertisement(cbluez_bus *bus, uint32_t serial);

// bus_gatt.c

/// Answers a method call to the GATT application, or keeps it as a question. Returns true if it is an event. If this
/// path is not the application's, sets `is_known` to false, sends no answer and returns false.
bool bus_answer_gatt_call(cbluez_bus *bus, DBusMessage *call, cbluez_bus_event *event, bool *is_known);
/// Drops the application that this call registered, and its questions. 0: any application.
void bus_drop_application(cbluez_bus *bus, uint32_t serial);

#endif
