// SPDX-License-Identifier: Apache-2.0
//
// One connection to a message bus, over libdbus-1: what everything of ours that speaks D-Bus stands on. No decisions in it.
//
// It never blocks but at opening, and has no thread and no main loop: its owner waits at `cdbus_descriptor`, runs
// `cdbus_process`, and takes items with `cdbus_next` until there are none. There is no queue of our own: libdbus's queue of
// received messages is the queue, and its size is bounded. While nobody takes items nothing more is read than fits there:
// the bus, and then who sends, waits.
//
// Only C that talks to one service includes this: no Swift sees libdbus's types. Functions that return a number return a
// negative errno where they fail.

#ifndef CDBUS_H
#define CDBUS_H

#if !__has_include(<dbus/dbus.h>)
#error "RoadMesh needs the package libdbus-1-dev: sudo apt-get install libdbus-1-dev"
#endif

#include <dbus/dbus.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Calls that may be unanswered at a time. A radio makes about ten at once; more is a caller that does not wait.
#define CDBUS_CALLS 64
/// Received bytes that wait in libdbus before it stops to read.
#define CDBUS_RECEIVED_BYTES (1 << 20)
/// Largest message taken. A device in bluetoothd's GetManagedObjects is about 1 to 3 KB, so this holds thousands of them.
#define CDBUS_MESSAGE_BYTES (8 << 20)
/// Bytes that wait to be written before no more messages (which would ask for replies) are taken.
#define CDBUS_OUTGOING_BYTES (256 << 10)
/// The bus itself answers within milliseconds, or not at all.
#define CDBUS_OWN_CALL_MS 10000
/// Room for the text of an error.
#define CDBUS_ERROR_TEXT 256

/// A private connection.
typedef struct cdbus cdbus;

typedef enum {
    /// The bus has given us a name: calls can be answered from now on.
    CDBUS_READY = 1,
    /// A call has ended: `tag` and `serial` say which.
    CDBUS_REPLY,
    /// Somebody's signal. Match rules do not stop anybody from sending one to us directly, so look at the sender.
    CDBUS_SIGNAL,
    /// Somebody's call to an object of ours: answer it, now or later.
    CDBUS_CALL,
    /// The bus has gone. Nothing follows.
    CDBUS_CLOSED,
} cdbus_kind;

/// What has happened. What it points to is good until the next `cdbus_next` or `cdbus_close`.
typedef struct {
    cdbus_kind kind;
    int tag;
    uint32_t serial;
    /// The signal, the call or the reply; NULL where a call has ended without a reply.
    DBusMessage *message;
    /// Of a call that has failed; NULL after a success. Without a `message` it was DBUS_ERROR_NO_REPLY or _DISCONNECTED.
    const char *error_name;
    const char *error_text;
} cdbus_item;

// connection.c

/// The address of the system bus, honouring DBUS_SYSTEM_BUS_ADDRESS.
const char *cdbus_system_address(void);
/// Opens a private connection to the bus at `address` and asks for a unique name; CDBUS_READY comes when the bus has
/// answered. Calls may be made before. 0 and `*bus`, or a negative errno and libdbus's words in `error` (at most
/// CDBUS_ERROR_TEXT bytes, may be NULL).
int cdbus_open(const char *address, cdbus **bus, char *error);
/// Closes the connection and frees everything. NULL is allowed.
void cdbus_close(cdbus *bus);
/// The descriptor to wait on. It stays the same number, and open, until `cdbus_close`.
int cdbus_descriptor(const cdbus *bus);
/// True while output waits, or messages that have not been taken, so that the descriptor should be watched for writing
/// too. To be asked before every wait: a call may have changed it.
bool cdbus_wants_write(const cdbus *bus);
/// Reads and writes what can be without blocking. 0, or -ENOTCONN when the bus has gone (`cdbus_next` still tells what came
/// before).
int cdbus_process(cdbus *bus);
/// Milliseconds until `cdbus_process` and `cdbus_next` should be called again although nothing is readable: a call's time
/// is up then, or a turn of the authentication is due. -1 while there is no such time.
int cdbus_next_deadline_ms(const cdbus *bus);
/// Takes the next item. 1, 0 where there is none, or -ENOTCONN once CDBUS_CLOSED has been told.
int cdbus_next(cdbus *bus, cdbus_item *item);

// calls.c

/// Sends a call and remembers it under a tag of the caller's own, 0 or more. Takes the message over; NULL (no memory) is
/// allowed. The serial, or a negative errno.
int64_t cdbus_send_call(cdbus *bus, DBusMessage *call, int tag, int timeout_ms);
/// The same for a call whose arguments have been appended, if they have been (`is_complete`).
int64_t cdbus_finish_call(cdbus *bus, DBusMessage *call, bool is_complete, int tag, int timeout_ms);
/// Sends a message to which nobody answers, such as a signal. Takes it over; NULL is allowed. 0, or -ENOMEM.
int cdbus_send(cdbus *bus, DBusMessage *message);
/// A new call to a service, which it does not start; NULL without memory.
DBusMessage *cdbus_new_call(const char *service, const char *path, const char *interface, const char *member);
/// A new call to the bus itself, with a text or NULL.
DBusMessage *cdbus_new_bus_call(const char *member, const char *argument);
/// Subscribes to signals. Whether the bus takes the rule is not told. 0, or a negative errno.
int cdbus_add_match(cdbus *bus, const char *rule);

// values.c: libdbus takes a malformed path or text as our bug and ends the process, so they are looked at before. What is
// read is checked for its type: libdbus has seen to it that a message is well formed, not that it says what we expect.

bool cdbus_is_path(const char *path);
/// Copies a text; where it is too long it is cut between two characters.
void cdbus_copy_text(char *out, size_t size, const char *text);
/// The text of an error, `""` where it has none.
const char *cdbus_error_text(DBusMessage *error);
bool cdbus_has_type(DBusMessageIter *value, int type);
/// True for an array of exactly this signature, and then `items` stands on its first.
bool cdbus_enter_array(DBusMessageIter *value, const char *signature, DBusMessageIter *items);
/// The text that this stands on, or NULL.
const char *cdbus_text_of(DBusMessageIter *value);
/// A variant of a basic type. `value` points to one of it.
bool cdbus_append_variant(DBusMessageIter *to, int type, const void *value);
/// An array of texts.
bool cdbus_append_texts(DBusMessageIter *to, const char *const *texts, size_t count);
/// An entry of an a{sv} with a basic type.
bool cdbus_append_entry(DBusMessageIter *dictionary, const char *key, int type, const void *value);
/// An entry of an a{sv} with an array of texts.
bool cdbus_append_texts_entry(DBusMessageIter *dictionary, const char *key, const char *const *texts, size_t count);

// objects.c

/// A property of an object of ours, which nobody can write.
typedef struct {
    const char *name;
    const char *signature;
    /// Appends the value into a variant that has been opened. False without memory.
    bool (*append)(DBusMessageIter *variant, const void *object);
    /// Whether the object has it; NULL: always.
    bool (*is_given)(const void *object);
} cdbus_property;

/// An interface of an object of ours.
typedef struct {
    const char *name;
    const cdbus_property *properties;
    size_t count;
} cdbus_interface;

/// Sends the answer to a call and takes it over. NULL is allowed: without memory there is none, and the caller's own
/// timeout ends its call. False without memory.
bool cdbus_send_answer(cdbus *bus, DBusMessage *call, DBusMessage *answer);
/// Answers with nothing but that it is done.
bool cdbus_answer_done(cdbus *bus, DBusMessage *call);
/// Answers with an error.
bool cdbus_refuse(cdbus *bus, DBusMessage *call, const char *error, const char *text);
/// Answers what an object looks like.
void cdbus_answer_introspect(cdbus *bus, DBusMessage *call, const char *xml);
/// The properties of an interface as an a{sv}.
bool cdbus_append_properties(DBusMessageIter *to, const cdbus_interface *interface, const void *object);
/// Answers a call of org.freedesktop.DBus.Properties for an object; false, and no answer, where it is another call.
bool cdbus_answer_properties(cdbus *bus, DBusMessage *call, const cdbus_interface *interfaces, size_t count,
                             const void *object);
/// Tells everybody that these properties of an interface have new values. 0, or a negative errno.
int cdbus_tell_changed(cdbus *bus, const char *path, const cdbus_interface *interface, const char *const *names,
                       size_t count, const void *object);

#endif
