// SPDX-License-Identifier: Apache-2.0
//
// A connection to a message bus, over libdbus-1. All our code that uses D-Bus is built on it. It makes no decisions.
//
// Only opening blocks. It has no thread and no main loop: its owner polls `cdbus_descriptor`, calls `cdbus_process`,
// and takes items with `cdbus_next` until none is left. We keep no queue of our own: libdbus's queue of received
// messages is used, and its size is bounded. If the owner takes no items, reading stops when that queue is full. Then
// the bus waits, and after it the senders.
//
// Only C code for one service includes this header, so Swift never sees libdbus's types. Functions that return a number
// return a negative errno if they fail.

#ifndef CDBUS_H
#define CDBUS_H

#if !__has_include(<dbus/dbus.h>)
#error "RoadMesh needs the package libdbus-1-dev: sudo apt-get install libdbus-1-dev"
#endif

#include <dbus/dbus.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Maximum number of pending calls. A bearer makes about ten at once; a caller with more does not wait for replies.
#define CDBUS_CALLS 64
/// Received bytes that libdbus queues before it stops reading.
#define CDBUS_RECEIVED_BYTES (1 << 20)
/// Largest message accepted. A device in bluetoothd's GetManagedObjects takes about 1 to 3 KB, so this holds thousands
/// of them.
#define CDBUS_MESSAGE_BYTES (8 << 20)
/// Queued output above which no more messages are taken, because they would ask for replies.
#define CDBUS_OUTGOING_BYTES (256 << 10)
/// The bus itself answers within milliseconds, or not at all.
#define CDBUS_OWN_CALL_MS 10000
/// Size of the text of an error.
#define CDBUS_ERROR_TEXT 256

/// A private connection.
typedef struct cdbus cdbus;

typedef enum {
    /// The bus has assigned a unique name. Calls can be answered from now on.
    CDBUS_READY = 1,
    /// A call has ended; `tag` and `serial` identify it.
    CDBUS_REPLY,
    /// A signal. Match rules do not keep other clients from sending signals to us directly, so check the sender.
    CDBUS_SIGNAL,
    /// A call to one of our objects. Answer it, now or later.
    CDBUS_CALL,
    /// The bus has gone. This is the last item.
    CDBUS_CLOSED,
} cdbus_kind;

/// One item. Its pointers are valid until the next `cdbus_next` or `cdbus_close`.
typedef struct {
    cdbus_kind kind;
    int tag;
    uint32_t serial;
    /// The signal, the call or the reply. NULL if a call ended without a reply.
    DBusMessage *message;
    /// Error of a failed call, NULL after a success. Without a `message` it is DBUS_ERROR_NO_REPLY or _DISCONNECTED.
    const char *error_name;
    const char *error_text;
} cdbus_item;

// connection.c

/// The address of the system bus, honouring DBUS_SYSTEM_BUS_ADDRESS.
const char *cdbus_system_address(void);
/// Opens a private connection to the bus at `address` and asks for a unique name. CDBUS_READY comes when the bus has
/// answered; calls may be made before. Returns 0 and `*bus`, or a negative errno and libdbus's text in `error` (at most
/// CDBUS_ERROR_TEXT bytes, may be NULL).
int cdbus_open(const char *address, cdbus **bus, char *error);
/// Closes the connection and frees everything. NULL is allowed.
void cdbus_close(cdbus *bus);
/// The descriptor to poll. It keeps its number, and stays open, until `cdbus_close`.
int cdbus_descriptor(const cdbus *bus);
/// True while output or untaken messages are queued. The owner should then also poll the descriptor for writing. Ask
/// before every wait, because a call may have changed it.
bool cdbus_wants_write(const cdbus *bus);
/// Reads and writes as much as possible without blocking. Returns 0, or -ENOTCONN if the bus has gone (`cdbus_next`
/// still returns earlier items).
int cdbus_process(cdbus *bus);
/// Milliseconds until `cdbus_process` and `cdbus_next` should be called again even if nothing is readable, because a
/// call times out or an authentication step is due. -1 without such a time.
int cdbus_next_deadline_ms(const cdbus *bus);
/// Takes the next item. Returns 1, 0 without an item, or -ENOTCONN after CDBUS_CLOSED.
int cdbus_next(cdbus *bus, cdbus_item *item);

// calls.c

/// Sends a call and stores it under a tag of the caller's own, 0 or more. Takes ownership of the message; NULL (out of
/// memory) is allowed. Returns the serial, or a negative errno.
int64_t cdbus_send_call(cdbus *bus, DBusMessage *call, int tag, int timeout_ms);
/// Does the same for a call with arguments. `is_complete`: all of them could be appended.
int64_t cdbus_finish_call(cdbus *bus, DBusMessage *call, bool is_complete, int tag, int timeout_ms);
/// Sends a message that needs no reply, such as a signal. Takes ownership; NULL is allowed. Returns 0, or -ENOMEM.
int cdbus_send(cdbus *bus, DBusMessage *message);
/// A new call to a service, without starting the service. NULL if out of memory.
DBusMessage *cdbus_new_call(const char *service, const char *path, const char *interface, const char *member);
/// A new call to the bus itself, with a text argument, or none if NULL.
DBusMessage *cdbus_new_bus_call(const char *member, const char *argument);
/// Subscribes to signals. Does not report whether the bus accepts the rule. Returns 0, or a negative errno.
int cdbus_add_match(cdbus *bus, const char *rule);

// values.c: libdbus treats a malformed path or text as a caller's bug and aborts the process, so they are checked
// first. The types of received values are checked too: libdbus only ensures that a message is well formed.

bool cdbus_is_path(const char *path);
/// Copies a text. A text that is too long is cut between two characters.
void cdbus_copy_text(char *out, size_t size, const char *text);
/// The text of an error, or `""`.
const char *cdbus_error_text(DBusMessage *error);
bool cdbus_has_type(DBusMessageIter *value, int type);
/// True for an array of exactly this signature. `items` then points to its first element.
bool cdbus_enter_array(DBusMessageIter *value, const char *signature, DBusMessageIter *items);
/// The text at this iterator, or NULL.
const char *cdbus_text_of(DBusMessageIter *value);
/// Appends a variant of a basic type. `value` points to a value of that type.
bool cdbus_append_variant(DBusMessageIter *to, int type, const void *value);
/// Appends an array of texts.
bool cdbus_append_texts(DBusMessageIter *to, const char *const *texts, size_t count);
/// Appends an entry of an a{sv} with a value of a basic type.
bool cdbus_append_entry(DBusMessageIter *dictionary, const char *key, int type, const void *value);
/// Appends an entry of an a{sv} with an array of texts.
bool cdbus_append_texts_entry(DBusMessageIter *dictionary, const char *key, const char *const *texts, size_t count);

// objects.c

/// A read-only property of one of our objects.
typedef struct {
    const char *name;
    const char *signature;
    /// Appends the value to an open variant. Returns false if out of memory.
    bool (*append)(DBusMessageIter *variant, const void *object);
    /// Whether the object has the property. NULL: always.
    bool (*is_given)(const void *object);
} cdbus_property;

/// An interface of one of our objects.
typedef struct {
    const char *name;
    const cdbus_property *properties;
    size_t count;
} cdbus_interface;

/// Sends the answer to a call and takes ownership of it. Returns false if out of memory. NULL (out of memory) is
/// allowed: no answer is sent, and the caller's timeout ends its call.
bool cdbus_send_answer(cdbus *bus, DBusMessage *call, DBusMessage *answer);
/// Answers without a value.
bool cdbus_answer_done(cdbus *bus, DBusMessage *call);
/// Answers with an error.
bool cdbus_refuse(cdbus *bus, DBusMessage *call, const char *error, const char *text);
/// Answers with the object's introspection data.
void cdbus_answer_introspect(cdbus *bus, DBusMessage *call, const char *xml);
/// The properties of an interface as an a{sv}.
bool cdbus_append_properties(DBusMessageIter *to, const cdbus_interface *interface, const void *object);
/// Answers a call of org.freedesktop.DBus.Properties for an object. For any other call, returns false and sends no
/// answer.
bool cdbus_answer_properties(cdbus *bus, DBusMessage *call, const cdbus_interface *interfaces, size_t count,
                             const void *object);
/// Signals new values of these properties of an interface. Returns 0, or a negative errno.
int cdbus_tell_changed(cdbus *bus, const char *path, const cdbus_interface *interface, const char *const *names,
                       size_t count, const void *object);

#endif
