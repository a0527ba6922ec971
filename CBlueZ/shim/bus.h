// SPDX-License-Identifier: Apache-2.0
//
// What the files of the D-Bus half share.
//
// There is no queue of events: `cbluez_bus_next` turns one item of CDBus at a time into events.

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

/// Advertisements exported at a time. bluetoothd takes no more than five on most controllers.
#define BUS_ADVERTISEMENTS 8
/// The tag of a call.
typedef enum {
    /// One of the caller's, with nothing special about its reply.
    BUS_CALL_PLAIN,
    /// GetManagedObjects: its reply is told as events first.
    BUS_CALL_OBJECTS,
    /// RegisterAdvertisement: the object goes when bluetoothd refuses it.
    BUS_CALL_REGISTER,
    /// RegisterAgent: the same.
    BUS_CALL_REGISTER_AGENT,
    /// RegisterApplication: the same.
    BUS_CALL_REGISTER_APPLICATION,
    /// Our own: GetNameOwner for org.bluez.
    BUS_CALL_OWNER,
} bus_call_kind;

typedef struct {
    /// Of the call that registered it; 0 where the place is free.
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
    /// Of the call that registered it; 0 where there is none.
    uint32_t serial;
    char path[CBLUEZ_PATH_TEXT];
    /// The call that waits for a person's answer, or NULL, and its number. Numbers are not used again.
    DBusMessage *question;
    uint32_t request;
} bus_agent;

/// Questions of bluetoothd's about GATT that wait for an answer at a time: each guest has three on its way in.
#define BUS_QUESTIONS 16
/// Room for the application's path, so that its objects' paths fit CBLUEZ_PATH_TEXT.
#define BUS_APPLICATION_PATH (CBLUEZ_PATH_TEXT - 64)

typedef struct {
    char uuid[CBLUEZ_UUID_TEXT];
    int kind;
} bus_characteristic;

typedef struct {
    /// NULL where the place is free.
    DBusMessage *call;
    uint32_t request;
    /// Of a read.
    uint16_t offset;
} bus_question;

typedef struct {
    /// Of the call that registered it; 0 where there is none.
    uint32_t serial;
    char path[BUS_APPLICATION_PATH];
    char service[CBLUEZ_UUID_TEXT];
    bus_characteristic characteristics[CBLUEZ_CHARACTERISTICS];
    size_t count;
    bus_question questions[BUS_QUESTIONS];
    /// The number of the last question.
    uint32_t requests;
} bus_application;

struct cbluez_bus {
    cdbus *dbus;
    /// Unique name of org.bluez's owner, empty while there is none; `knows_owner` says that the bus has told.
    char owner[CBLUEZ_PATH_TEXT];
    bool knows_owner;
    /// org.bluez changed hands at once: APPEARED follows the VANISHED that was just told.
    bool owes_appeared;
    bus_advertisement advertisements[BUS_ADVERTISEMENTS];
    bus_agent agent;
    bus_application application;
    /// A GetManagedObjects reply that is being told, one object an event.
    DBusMessage *objects;
    DBusMessageIter objects_left;
};

// bus_calls.c

/// A new call to org.bluez, or NULL without memory.
DBusMessage *bus_new_call(const char *path, const char *interface, const char *member);
/// Queues the match rules and GetNameOwner. 0, or a negative errno.
int bus_subscribe(cbluez_bus *bus);
/// Calls a method that takes an object path, or with NULL nothing, of an object of bluetoothd's.
int64_t bus_call_object(cbluez_bus *bus, const char *object, const char *interface, const char *member,
                        const char *argument, int timeout_ms);

/// Calls a method that takes an object of ours and options, of which there are none.
int64_t bus_call_register(cbluez_bus *bus, const char *adapter, const char *interface, const char *member,
                          const char *path, bus_call_kind kind, int timeout_ms);

// bus_events.c

/// Fills in a signal of org.bluez. True when it is an event.
bool bus_event_from_signal(DBusMessage *signal, cbluez_bus_event *event);
/// Starts to tell a GetManagedObjects reply. False when it has another shape.
bool bus_objects_begin(cbluez_bus *bus, DBusMessage *reply);
/// Fills in the next object of that reply. False when there are no more.
bool bus_objects_next(cbluez_bus *bus, cbluez_bus_event *event);

// bus_objects.c

/// Answers a method call to an object of ours. True when it is an event.
bool bus_answer_call(cbluez_bus *bus, DBusMessage *call, cbluez_bus_event *event);

// bus_agent.c

/// Whether the agent is exported at this path.
bool bus_is_agent(const cbluez_bus *bus, const char *path);
/// Answers a method call to the agent, or keeps it as the question. True when it is an event.
bool bus_answer_agent_call(cbluez_bus *bus, DBusMessage *call, cbluez_bus_event *event);
/// Forgets the agent that this call registered, and its question; 0: whichever there is.
void bus_drop_agent(cbluez_bus *bus, uint32_t serial);

// bus_advertisement.c

/// Answers a method call to an advertisement. True when it is an event; false, and no answer, where there is none at
/// this path (`is_known`).
bool bus_answer_advertisement_call(cbluez_bus *bus, DBusMessage *call, cbluez_bus_event *event, bool *is_known);
/// Forgets the object that this call registered; 0: all of them.
void bus_drop_advertisement(cbluez_bus *bus, uint32_t serial);

// bus_gatt.c

/// Answers a method call to the GATT application, or keeps it as a question. True when it is an event; false, and no answer, where
/// there is nothing of it at this path (`is_known`).
bool bus_answer_gatt_call(cbluez_bus *bus, DBusMessage *call, cbluez_bus_event *event, bool *is_known);
/// Forgets the application that this call registered, and its questions; 0: whichever there is.
void bus_drop_application(cbluez_bus *bus, uint32_t serial);

#endif
