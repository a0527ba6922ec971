// SPDX-License-Identifier: Apache-2.0
//
// Tracks the owner of org.bluez, and turns messages into events.

#include "bus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/// bluetoothd has this advertisement already, so the object must stay.
#define ALREADY_EXISTS "org.bluez.Error.AlreadyExists"

_Static_assert(CBLUEZ_ERROR_TEXT >= CDBUS_ERROR_TEXT, "an error's text fits");

int cbluez_bus_open(const char *address, cbluez_bus **out, char *error) {
    cbluez_bus *bus = calloc(1, sizeof *bus);
    int result = bus ? cdbus_open(address ? address : cdbus_system_address(), &bus->dbus, error) : -ENOMEM;
    if (result == 0) result = bus_subscribe(bus);
    if (result < 0) {
        cbluez_bus_close(bus);
        return result;
    }
    cdbus_process(bus->dbus);
    *out = bus;
    return 0;
}

void cbluez_bus_close(cbluez_bus *bus) {
    if (!bus) return;
    if (bus->objects) dbus_message_unref(bus->objects);
    bus_drop_agent(bus, 0);
    bus_drop_application(bus, 0);
    cdbus_close(bus->dbus);
    free(bus);
}

int cbluez_bus_descriptor(const cbluez_bus *bus) {
    return cdbus_descriptor(bus->dbus);
}

bool cbluez_bus_wants_write(const cbluez_bus *bus) {
    return cdbus_wants_write(bus->dbus);
}

int cbluez_bus_process(cbluez_bus *bus) {
    return cdbus_process(bus->dbus);
}

int cbluez_bus_next_deadline_ms(const cbluez_bus *bus) {
    return cdbus_next_deadline_ms(bus->dbus);
}

// ---------------------------------------------------------------------------------------------------------------------
// The owner of org.bluez
// ---------------------------------------------------------------------------------------------------------------------

static void tell_vanished(cbluez_bus *bus, cbluez_bus_event *event) {
    // The next bluetoothd knows nothing of our objects.
    bus_drop_advertisement(bus, 0);
    bus_drop_agent(bus, 0);
    bus_drop_application(bus, 0);
    event->kind = CBLUEZ_EVENT_BLUEZ_VANISHED;
}

static bool set_owner(cbluez_bus *bus, const char *owner, cbluez_bus_event *event) {
    if (bus->knows_owner && strcmp(bus->owner, owner) == 0) return false;
    bool had_owner = bus->knows_owner && bus->owner[0] != '\0';
    bool has_owner = owner[0] != '\0';
    cdbus_copy_text(bus->owner, sizeof bus->owner, owner);
    bus->knows_owner = true;
    if (has_owner && !had_owner) {
        event->kind = CBLUEZ_EVENT_BLUEZ_APPEARED;
    } else {
        bus->owes_appeared = has_owner;
        tell_vanished(bus, event);
    }
    return true;
}

static bool owner_changed(cbluez_bus *bus, DBusMessage *signal, cbluez_bus_event *event) {
    const char *name;
    const char *old_owner;
    const char *new_owner;
    if (!dbus_message_get_args(signal, NULL, DBUS_TYPE_STRING, &name, DBUS_TYPE_STRING, &old_owner, DBUS_TYPE_STRING,
                               &new_owner, DBUS_TYPE_INVALID)) {
        return false;
    }
    return strcmp(name, BLUEZ) == 0 && set_owner(bus, new_owner, event);
}

// ---------------------------------------------------------------------------------------------------------------------
// Messages
// ---------------------------------------------------------------------------------------------------------------------

static bool tell_reply(cbluez_bus_event *event, uint32_t serial, const char *error_name, const char *error_text) {
    event->kind = CBLUEZ_EVENT_REPLY;
    event->serial = serial;
    if (error_name) cdbus_copy_text(event->error_name, sizeof event->error_name, error_name);
    if (error_text) cdbus_copy_text(event->error_text, sizeof event->error_text, error_text);
    return true;
}

static bool take_owner(cbluez_bus *bus, const cdbus_item *reply, cbluez_bus_event *event) {
    const char *owner = "";
    // The bus has gone, so the call's result is unknown. CLOSED reports that.
    if (reply->error_name && strcmp(reply->error_name, DBUS_ERROR_DISCONNECTED) == 0) return false;
    if (!reply->error_name) {
        dbus_message_get_args(reply->message, NULL, DBUS_TYPE_STRING, &owner, DBUS_TYPE_INVALID);
    }
    return set_owner(bus, owner, event);
}

static bool take_reply(cbluez_bus *bus, const cdbus_item *reply, cbluez_bus_event *event) {
    // After a timeout (no reply) bluetoothd may have the object, so it stays until it is unregistered.
    bool is_refused = reply->error_name && reply->message && strcmp(reply->error_name, ALREADY_EXISTS) != 0;
    switch ((bus_call_kind)reply->tag) {
    case BUS_CALL_OWNER:
        return take_owner(bus, reply, event);
    case BUS_CALL_OBJECTS:
        if (reply->error_name) break;
        if (!bus_objects_begin(bus, reply->message)) {
            return tell_reply(event, reply->serial, DBUS_ERROR_INVALID_SIGNATURE, "");
        }
        return bus_objects_next(bus, event) || tell_reply(event, reply->serial, NULL, NULL);
    case BUS_CALL_REGISTER:
        if (is_refused) bus_drop_advertisement(bus, reply->serial);
        break;
    case BUS_CALL_REGISTER_AGENT:
        if (is_refused) bus_drop_agent(bus, reply->serial);
        break;
    case BUS_CALL_REGISTER_APPLICATION:
        if (is_refused) bus_drop_application(bus, reply->serial);
        break;
    case BUS_CALL_PLAIN:
        break;
    }
    return tell_reply(event, reply->serial, reply->error_name, reply->error_text);
}

// Match rules do not keep other clients from sending signals to us directly, so the sender is checked.
static bool take_signal(cbluez_bus *bus, DBusMessage *signal, cbluez_bus_event *event) {
    if (dbus_message_has_sender(signal, DBUS_SERVICE_DBUS)) {
        return dbus_message_is_signal(signal, DBUS_INTERFACE_DBUS, "NameOwnerChanged") &&
               owner_changed(bus, signal, event);
    }
    if (bus->owner[0] == '\0' || !dbus_message_has_sender(signal, bus->owner)) return false;
    return bus_event_from_signal(signal, event);
}

static bool take_item(cbluez_bus *bus, const cdbus_item *item, cbluez_bus_event *event) {
    switch (item->kind) {
    case CDBUS_READY:
        event->kind = CBLUEZ_EVENT_READY;
        return true;
    case CDBUS_REPLY:
        return take_reply(bus, item, event);
    case CDBUS_SIGNAL:
        return take_signal(bus, item->message, event);
    case CDBUS_CALL:
        return bus_answer_call(bus, item->message, event);
    case CDBUS_CLOSED:
        event->kind = CBLUEZ_EVENT_CLOSED;
        return true;
    }
    return false;
}

static bool next_object(cbluez_bus *bus, cbluez_bus_event *event) {
    uint32_t serial = dbus_message_get_reply_serial(bus->objects);
    return bus_objects_next(bus, event) || tell_reply(event, serial, NULL, NULL);
}

int cbluez_bus_next(cbluez_bus *bus, cbluez_bus_event *event) {
    *event = (cbluez_bus_event){0};
    if (bus->owes_appeared) {
        bus->owes_appeared = false;
        event->kind = CBLUEZ_EVENT_BLUEZ_APPEARED;
        return 1;
    }
    if (bus->objects) return next_object(bus, event);
    cdbus_item item;
    int result;
    while ((result = cdbus_next(bus->dbus, &item)) == 1) {
        if (take_item(bus, &item, event)) return 1;
    }
    return result;
}
