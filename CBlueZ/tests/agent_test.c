// SPDX-License-Identifier: Apache-2.0
//
// The exported agent, as bluetoothd sees it, and the calls around a pairing.

#include <errno.h>
#include <string.h>

#include "check.h"
#include "fake_bluez.h"

#define PATH "/org/roadmesh/agent"
#define INTERFACE "org.bluez.Agent1"
#define DEVICE "/org/bluez/hci0/dev_02_00_00_00_00_01"
#define REJECTED "org.bluez.Error.Rejected"

// Answers the call that the shim has just made, and checks it. NULL error: success.
static void answer_call(world *w, int64_t serial, const char *member, const char *path, const char *interface,
                        const char *arguments, const char *error) {
    char text[512];
    DBusMessage *call = expect_call(w, w->bluez, member);
    CHECK_TEXT(dbus_message_get_path(call), path);
    CHECK_TEXT(dbus_message_get_interface(call), interface);
    format_arguments(call, text, sizeof text);
    CHECK_TEXT(text, arguments);
    if (error) {
        answer_error(w->bluez, call, error, "");
    } else {
        answer(w->bluez, call, NULL, NULL);
    }
    cbluez_bus_event event = expect_event(w, CBLUEZ_EVENT_REPLY);
    CHECK_NUMBER(event.serial, serial);
    CHECK_TEXT(event.error_name, error ? error : "");
}

static void register_agent(world *w, const char *error) {
    answer_call(w, cbluez_bus_register_agent(w->bus, PATH, 5000), "RegisterAgent", "/org/bluez",
                "org.bluez.AgentManager1", PATH " DisplayYesNo", error);
}

static void check_answer(world *w, DBusConnection *from, const char *member, const char *signature, const char *text,
                         const char *expected) {
    char actual[512];
    DBusMessage *reply = call_shim(w, from, PATH, INTERFACE, member, signature, text);
    format_arguments(reply, actual, sizeof actual);
    CHECK_TEXT(dbus_message_get_error_name(reply) ? dbus_message_get_error_name(reply) : actual, expected);
    dbus_message_unref(reply);
}

// Calls the agent as bluetoothd does, without waiting for the reply.
static dbus_uint32_t ask(world *w, const char *name, const char *arguments) {
    DBusMessage *question = dbus_message_new_method_call(name, PATH, INTERFACE, "RequestConfirmation");
    dbus_uint32_t serial = 0;
    append_text(question, "ou", arguments);
    dbus_connection_send(w->bluez, question, &serial);
    dbus_message_unref(question);
    return serial;
}

// Checks the error that answers the question of this serial. Empty: the answer is yes.
static void check_reply(world *w, dbus_uint32_t serial, const char *expected) {
    for (int turns = 0; turns < 2000; turns++) {
        DBusMessage *message = dbus_connection_pop_message(w->bluez);
        if (message && dbus_message_get_reply_serial(message) == serial) {
            const char *error = dbus_message_get_error_name(message);
            CHECK_TEXT(error ? error : "", expected);
            dbus_message_unref(message);
            return;
        }
        if (message) dbus_message_unref(message);
        step(w);
    }
    CHECK(false && "no answer");
}

static void test_answers(world *w) {
    register_agent(w, NULL);
    answer_call(w, cbluez_bus_request_default_agent(w->bus, PATH, 5000), "RequestDefaultAgent", "/org/bluez",
                "org.bluez.AgentManager1", PATH, NULL);
    const char *name = shim_name(w);
    dbus_uint32_t serial = ask(w, name, DEVICE " 7");
    cbluez_bus_event question = expect_event(w, CBLUEZ_EVENT_AGENT_QUESTION);
    CHECK_TEXT(question.path, DEVICE);
    CHECK_NUMBER(question.passkey, 7);
    CHECK_NUMBER(cbluez_bus_answer_agent(w->bus, question.request + 1, true), -ENOENT);
    CHECK_NUMBER(cbluez_bus_answer_agent(w->bus, question.request, true), 0);
    check_reply(w, serial, "");
    CHECK_NUMBER(cbluez_bus_answer_agent(w->bus, question.request, false), -ENOENT);

    serial = ask(w, name, DEVICE " 999999");
    cbluez_bus_event second = expect_event(w, CBLUEZ_EVENT_AGENT_QUESTION);
    CHECK(second.request != question.request);
    CHECK_NUMBER(second.passkey, 999999);
    // A second question before the first is answered is rejected, and no person sees it.
    check_answer(w, w->bluez, "RequestConfirmation", "ou", DEVICE " 8", REJECTED);
    CHECK_NUMBER(cbluez_bus_answer_agent(w->bus, question.request, true), -ENOENT);
    CHECK_NUMBER(cbluez_bus_answer_agent(w->bus, second.request, false), 0);
    check_reply(w, serial, REJECTED);
}

static void test_cancel(world *w) {
    // Without an open question, Cancel is not an event.
    check_answer(w, w->bluez, "Cancel", NULL, NULL, "");
    ask(w, shim_name(w), DEVICE " 123456");
    cbluez_bus_event question = expect_event(w, CBLUEZ_EVENT_AGENT_QUESTION);
    DBusMessage *cancel = dbus_message_new_method_call(shim_name(w), PATH, INTERFACE, "Cancel");
    dbus_message_set_no_reply(cancel, true);
    dbus_connection_send(w->bluez, cancel, NULL);
    dbus_message_unref(cancel);
    CHECK_NUMBER(expect_event(w, CBLUEZ_EVENT_AGENT_CANCELLED).request, question.request);
    CHECK_NUMBER(cbluez_bus_answer_agent(w->bus, question.request, true), -ENOENT);
}

static void test_other_questions(world *w, const bus_daemon *daemon) {
    check_answer(w, w->bluez, "RequestAuthorization", "o", DEVICE, REJECTED);
    check_answer(w, w->bluez, "RequestPinCode", "o", DEVICE, REJECTED);
    check_answer(w, w->bluez, "RequestPasskey", "o", DEVICE, REJECTED);
    check_answer(w, w->bluez, "DisplayPasskey", "ouq", DEVICE " 1 0", REJECTED);
    check_answer(w, w->bluez, "AuthorizeService", "os", DEVICE " uuid", REJECTED);
    check_answer(w, w->bluez, "RequestConfirmation", "ou", DEVICE " 1000000", REJECTED);
    check_answer(w, w->bluez, "RequestConfirmation", "s", "x", "org.freedesktop.DBus.Error.InvalidArgs");
    DBusConnection *stranger = connect_to(daemon);
    check_answer(w, stranger, "RequestConfirmation", "ou", DEVICE " 1", "org.freedesktop.DBus.Error.AccessDenied");
    disconnect(stranger);
    DBusMessage *reply = call_shim(w, w->bluez, PATH, "test.Interface", "Method", NULL, NULL);
    CHECK_TEXT(dbus_message_get_error_name(reply), "org.freedesktop.DBus.Error.UnknownMethod");
    dbus_message_unref(reply);
    reply = call_shim(w, w->bluez, PATH, DBUS_INTERFACE_INTROSPECTABLE, "Introspect", NULL, NULL);
    const char *xml = "";
    CHECK(dbus_message_get_args(reply, NULL, DBUS_TYPE_STRING, &xml, DBUS_TYPE_INVALID));
    CHECK(strstr(xml, "RequestConfirmation") != NULL);
    dbus_message_unref(reply);
}

static void test_ends(world *w, const bus_daemon *daemon) {
    CHECK_NUMBER(cbluez_bus_register_agent(w->bus, "/another", 5000), -EBUSY);
    // The agent answers an open question with no before it goes.
    dbus_uint32_t serial = ask(w, shim_name(w), DEVICE " 5");
    uint32_t request = expect_event(w, CBLUEZ_EVENT_AGENT_QUESTION).request;
    int64_t gone = cbluez_bus_unregister_agent(w->bus, PATH, 5000);
    check_reply(w, serial, REJECTED);
    answer_call(w, gone, "UnregisterAgent", "/org/bluez", "org.bluez.AgentManager1", PATH, NULL);
    CHECK_NUMBER(cbluez_bus_answer_agent(w->bus, request, true), -ENOENT);
    check_answer(w, w->bluez, "Cancel", NULL, NULL, "org.freedesktop.DBus.Error.UnknownObject");
    // No agent is left after a refused registration, a Release, or the end of bluetoothd.
    register_agent(w, "org.bluez.Error.InvalidArguments");
    register_agent(w, NULL);
    DBusMessage *release = dbus_message_new_method_call(shim_name(w), PATH, INTERFACE, "Release");
    dbus_message_set_no_reply(release, true);
    dbus_connection_send(w->bluez, release, NULL);
    dbus_message_unref(release);
    CHECK_TEXT(expect_event(w, CBLUEZ_EVENT_AGENT_RELEASED).path, PATH);
    register_agent(w, NULL);
    ask(w, shim_name(w), DEVICE " 6");
    request = expect_event(w, CBLUEZ_EVENT_AGENT_QUESTION).request;
    world_stop_bluez(w);
    expect_event(w, CBLUEZ_EVENT_BLUEZ_VANISHED);
    CHECK_NUMBER(cbluez_bus_answer_agent(w->bus, request, true), -ENOENT);
    world_start_bluez(w, daemon);
    expect_event(w, CBLUEZ_EVENT_BLUEZ_APPEARED);
    // Closes with a question open. The sanitizer would report memory that is not freed.
    register_agent(w, NULL);
    ask(w, shim_name(w), DEVICE " 9");
    expect_event(w, CBLUEZ_EVENT_AGENT_QUESTION);
}

static void test_calls(world *w) {
    answer_call(w, cbluez_bus_pair_device(w->bus, DEVICE, 5000), "Pair", DEVICE, "org.bluez.Device1", "",
                "org.bluez.Error.AuthenticationFailed");
    answer_call(w, cbluez_bus_disconnect_device(w->bus, DEVICE, 5000), "Disconnect", DEVICE, "org.bluez.Device1", "",
                NULL);
    answer_call(w, cbluez_bus_set_alias(w->bus, DEVICE, "Box", 5000), "Set", DEVICE,
                "org.freedesktop.DBus.Properties", "org.bluez.Device1 Alias <s Box>", NULL);
    char name[CBLUEZ_NAME_TEXT + 1];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    CHECK_NUMBER(cbluez_bus_set_alias(w->bus, DEVICE, name, 5000), -EINVAL);
    CHECK_NUMBER(cbluez_bus_set_alias(w->bus, DEVICE, "\xC3", 5000), -EINVAL);
    CHECK_NUMBER(cbluez_bus_set_alias(w->bus, DEVICE, NULL, 5000), -EINVAL);
    CHECK_NUMBER(cbluez_bus_pair_device(w->bus, "hci0", 5000), -EINVAL);
    CHECK_NUMBER(cbluez_bus_disconnect_device(w->bus, NULL, 5000), -EINVAL);
    CHECK_NUMBER(cbluez_bus_register_agent(w->bus, "x", 5000), -EINVAL);
    CHECK_NUMBER(cbluez_bus_unregister_agent(w->bus, NULL, 5000), -EINVAL);
    emit(w->bluez, NULL, DEVICE, "org.freedesktop.DBus.Properties", "PropertiesChanged", "sa{sv}as",
         "org.bluez.Device1 [Paired <b 1> Bonded <b 1> Alias <s Box>] []");
    cbluez_bus_event event = expect_event(w, CBLUEZ_EVENT_DEVICE);
    CHECK_NUMBER(event.fields, CBLUEZ_FIELD_PAIRED | CBLUEZ_FIELD_BONDED | CBLUEZ_FIELD_ALIAS);
    CHECK(event.paired && event.bonded);
    CHECK_TEXT(event.alias, "Box");
}

void test_agent(void) {
    bus_daemon daemon = daemon_start();
    world w = world_open_ready(&daemon);
    test_calls(&w);
    test_answers(&w);
    test_cancel(&w);
    test_other_questions(&w, &daemon);
    test_ends(&w, &daemon);
    world_close(&w);
    daemon_stop(&daemon);
}
