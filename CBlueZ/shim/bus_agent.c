// SPDX-License-Identifier: Apache-2.0
//
// The pairing agent that we export and bluetoothd calls (BlueZ 5.66, doc/agent-api.txt). It compares numbers:
// RequestConfirmation is the only question that it passes on. bluetoothd has one question open at a time.

#include <errno.h>
#include <string.h>

#include "bus.h"

#define REJECTED "org.bluez.Error.Rejected"
#define CAPABILITY "DisplayYesNo"
#define MANAGER_PATH "/org/bluez"
/// A passkey has six digits (Core specification, Vol 3, Part H, 2.3.5.6.4).
#define LARGEST_PASSKEY 999999

#define INTROSPECTION                                                                                                  \
    DBUS_INTROSPECT_1_0_XML_DOCTYPE_DECL_NODE                                                                          \
    "<node><interface name=\"" BLUEZ_AGENT "\"><method name=\"Release\"/><method name=\"Cancel\"/>"                     \
    "<method name=\"RequestConfirmation\"><arg type=\"o\" direction=\"in\"/><arg type=\"u\" direction=\"in\"/>"       \
    "</method></interface></node>"

// ---------------------------------------------------------------------------------------------------------------------
// Registering
// ---------------------------------------------------------------------------------------------------------------------

static void drop_question(cbluez_bus *bus) {
    if (bus->agent.question) dbus_message_unref(bus->agent.question);
    bus->agent.question = NULL;
}

void bus_drop_agent(cbluez_bus *bus, uint32_t serial) {
    if (serial != 0 && bus->agent.serial != serial) return;
    drop_question(bus);
    bus->agent.serial = 0;
    bus->agent.path[0] = '\0';
}

bool bus_is_agent(const cbluez_bus *bus, const char *path) {
    return bus->agent.serial != 0 && strcmp(bus->agent.path, path) == 0;
}

static bool is_good_path(const char *path) {
    return cdbus_is_path(path) && strlen(path) < CBLUEZ_PATH_TEXT;
}

int64_t cbluez_bus_register_agent(cbluez_bus *bus, const char *path, int timeout_ms) {
    const char *capability = CAPABILITY;
    if (!is_good_path(path)) return -EINVAL;
    if (bus->agent.serial) return -EBUSY;
    DBusMessage *call = bus_new_call(MANAGER_PATH, BLUEZ_AGENT_MANAGER, "RegisterAgent");
    if (!call) return -ENOMEM;
    bool is_complete = dbus_message_append_args(call, DBUS_TYPE_OBJECT_PATH, &path, DBUS_TYPE_STRING, &capability,
                                                DBUS_TYPE_INVALID);
    int64_t serial = cdbus_finish_call(bus->dbus, call, is_complete, BUS_CALL_REGISTER_AGENT, timeout_ms);
    if (serial < 0) return serial;
    bus->agent.serial = (uint32_t)serial;
    cdbus_copy_text(bus->agent.path, sizeof bus->agent.path, path);
    return serial;
}

static int64_t call_manager(cbluez_bus *bus, const char *member, const char *path, int timeout_ms) {
    if (!is_good_path(path)) return -EINVAL;
    return bus_call_object(bus, MANAGER_PATH, BLUEZ_AGENT_MANAGER, member, path, timeout_ms);
}

int64_t cbluez_bus_request_default_agent(cbluez_bus *bus, const char *path, int timeout_ms) {
    return call_manager(bus, "RequestDefaultAgent", path, timeout_ms);
}

int64_t cbluez_bus_unregister_agent(cbluez_bus *bus, const char *path, int timeout_ms) {
    // Send the refusal first: bluetoothd also takes the agent's end for a refusal, but only later.
    if (is_good_path(path) && bus_is_agent(bus, path) && bus->agent.question) {
        cdbus_refuse(bus->dbus, bus->agent.question, REJECTED, "the agent has gone");
        drop_question(bus);
    }
    int64_t serial = call_manager(bus, "UnregisterAgent", path, timeout_ms);
    if (serial > 0 && bus_is_agent(bus, path)) bus_drop_agent(bus, 0);
    return serial;
}

// ---------------------------------------------------------------------------------------------------------------------
// Questions and answers
// ---------------------------------------------------------------------------------------------------------------------

int cbluez_bus_answer_agent(cbluez_bus *bus, uint32_t request, bool is_yes) {
    DBusMessage *question = bus->agent.question;
    if (!question || bus->agent.request != request) return -ENOENT;
    bool is_sent = is_yes ? cdbus_answer_done(bus->dbus, question)
                          : cdbus_refuse(bus->dbus, question, REJECTED, "the numbers are not the same");
    drop_question(bus);
    return is_sent ? 0 : -ENOMEM;
}

static bool take_question(cbluez_bus *bus, DBusMessage *call, cbluez_bus_event *event) {
    const char *device;
    dbus_uint32_t passkey;
    if (!dbus_message_get_args(call, NULL, DBUS_TYPE_OBJECT_PATH, &device, DBUS_TYPE_UINT32, &passkey,
                               DBUS_TYPE_INVALID)) {
        cdbus_refuse(bus->dbus, call, DBUS_ERROR_INVALID_ARGS, "RequestConfirmation takes a device and a number");
        return false;
    }
    if (bus->agent.question || strlen(device) >= sizeof event->path || passkey > LARGEST_PASSKEY) {
        cdbus_refuse(bus->dbus, call, REJECTED, "that cannot be asked now");
        return false;
    }
    bus->agent.question = dbus_message_ref(call);
    bus->agent.request++;
    event->kind = CBLUEZ_EVENT_AGENT_QUESTION;
    cdbus_copy_text(event->path, sizeof event->path, device);
    event->passkey = passkey;
    event->request = bus->agent.request;
    return true;
}

static bool take_cancel(cbluez_bus *bus, DBusMessage *call, cbluez_bus_event *event) {
    cdbus_answer_done(bus->dbus, call);
    if (!bus->agent.question) return false;
    // bluetoothd no longer waits for the answer.
    drop_question(bus);
    event->kind = CBLUEZ_EVENT_AGENT_CANCELLED;
    event->request = bus->agent.request;
    return true;
}

static bool take_release(cbluez_bus *bus, DBusMessage *call, cbluez_bus_event *event) {
    event->kind = CBLUEZ_EVENT_AGENT_RELEASED;
    cdbus_copy_text(event->path, sizeof event->path, bus->agent.path);
    bus_drop_agent(bus, 0);
    cdbus_answer_done(bus->dbus, call);
    return true;
}

bool bus_answer_agent_call(cbluez_bus *bus, DBusMessage *call, cbluez_bus_event *event) {
    if (dbus_message_is_method_call(call, BLUEZ_AGENT, "RequestConfirmation")) return take_question(bus, call, event);
    if (dbus_message_is_method_call(call, BLUEZ_AGENT, "Cancel")) return take_cancel(bus, call, event);
    if (dbus_message_is_method_call(call, BLUEZ_AGENT, "Release")) return take_release(bus, call, event);
    if (dbus_message_is_method_call(call, DBUS_INTERFACE_INTROSPECTABLE, "Introspect")) {
        cdbus_answer_introspect(bus->dbus, call, INTROSPECTION);
    } else if (dbus_message_has_interface(call, BLUEZ_AGENT)) {
        // This agent does not handle PINs or passkeys to type, authorization without numbers, or profiles.
        cdbus_refuse(bus->dbus, call, REJECTED, "this agent compares numbers only");
    } else {
        cdbus_refuse(bus->dbus, call, DBUS_ERROR_UNKNOWN_METHOD, "no such method");
    }
    return false;
}
