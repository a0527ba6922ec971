// SPDX-License-Identifier: Apache-2.0
//
// Converts D-Bus arguments to text and back, so that a test can write a message as text.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_bluez.h"

static void fail(const char *why, const char *where) {
    fprintf(stderr, "message text: %s at '%s'\n", why, where);
    abort();
}

static void skip_spaces(const char **text) {
    while (**text == ' ' || **text == '\n') (*text)++;
}

static bool take_char(const char **text, char expected) {
    skip_spaces(text);
    if (**text != expected) return false;
    (*text)++;
    return true;
}

static void take_word(const char **text, char *word, size_t size) {
    skip_spaces(text);
    size_t count = strcspn(*text, " \n<>[]");
    if (count == 0 || count >= size) fail("no word", *text);
    memcpy(word, *text, count);
    word[count] = '\0';
    *text += count;
}

static void append_basic(DBusMessageIter *to, int type, const char **text) {
    char word[4096];
    take_word(text, word, sizeof word);
    if (type == DBUS_TYPE_STRING || type == DBUS_TYPE_OBJECT_PATH || type == DBUS_TYPE_SIGNATURE) {
        const char *value = word;
        if (word[0] == '*') {
            size_t count = strtoul(word + 1, NULL, 10);
            memset(word, 'a', count);
            word[count] = '\0';
        }
        if (strcmp(word, "''") == 0) word[0] = '\0';
        dbus_message_iter_append_basic(to, type, &value);
        return;
    }
    long number = strtol(word, NULL, 0);
    DBusBasicValue value = {0};
    switch (type) {
    case DBUS_TYPE_BYTE: value.byt = (unsigned char)number; break;
    case DBUS_TYPE_BOOLEAN: value.bool_val = number != 0; break;
    case DBUS_TYPE_INT16: value.i16 = (dbus_int16_t)number; break;
    case DBUS_TYPE_UINT16: value.u16 = (dbus_uint16_t)number; break;
    case DBUS_TYPE_INT32: value.i32 = (dbus_int32_t)number; break;
    case DBUS_TYPE_UINT32: value.u32 = (dbus_uint32_t)number; break;
    case DBUS_TYPE_INT64: value.i64 = number; break;
    default: fail("unknown type", word);
    }
    dbus_message_iter_append_basic(to, type, &value);
}

static void append_value(DBusMessageIter *to, DBusSignatureIter *signature, const char **text);

static void append_fields(DBusMessageIter *to, DBusSignatureIter *signature, const char **text) {
    DBusSignatureIter fields;
    dbus_signature_iter_recurse(signature, &fields);
    do {
        append_value(to, &fields, text);
    } while (dbus_signature_iter_next(&fields));
}

static void append_array(DBusMessageIter *to, DBusSignatureIter *signature, const char **text) {
    DBusSignatureIter element;
    DBusMessageIter array;
    dbus_signature_iter_recurse(signature, &element);
    char *contained = dbus_signature_iter_get_signature(&element);
    dbus_message_iter_open_container(to, DBUS_TYPE_ARRAY, contained, &array);
    if (!take_char(text, '[')) fail("'[' expected", *text);
    while (!take_char(text, ']')) append_value(&array, &element, text);
    dbus_message_iter_close_container(to, &array);
    dbus_free(contained);
}

static void append_variant(DBusMessageIter *to, const char **text) {
    char contained[64];
    DBusSignatureIter signature;
    DBusMessageIter variant;
    if (!take_char(text, '<')) fail("'<' expected", *text);
    take_word(text, contained, sizeof contained);
    dbus_signature_iter_init(&signature, contained);
    dbus_message_iter_open_container(to, DBUS_TYPE_VARIANT, contained, &variant);
    append_value(&variant, &signature, text);
    dbus_message_iter_close_container(to, &variant);
    if (!take_char(text, '>')) fail("'>' expected", *text);
}

static void append_value(DBusMessageIter *to, DBusSignatureIter *signature, const char **text) {
    int type = dbus_signature_iter_get_current_type(signature);
    DBusMessageIter inner;
    switch (type) {
    case DBUS_TYPE_ARRAY:
        append_array(to, signature, text);
        return;
    case DBUS_TYPE_VARIANT:
        append_variant(to, text);
        return;
    case DBUS_TYPE_STRUCT:
    case DBUS_TYPE_DICT_ENTRY:
        dbus_message_iter_open_container(to, type, NULL, &inner);
        append_fields(&inner, signature, text);
        dbus_message_iter_close_container(to, &inner);
        return;
    default:
        append_basic(to, type, text);
    }
}

void append_text(DBusMessage *message, const char *signature, const char *text) {
    if (!signature || !signature[0]) return;
    DBusMessageIter arguments;
    DBusSignatureIter types;
    dbus_message_iter_init_append(message, &arguments);
    dbus_signature_iter_init(&types, signature);
    do {
        append_value(&arguments, &types, &text);
    } while (dbus_signature_iter_next(&types));
}

// ---------------------------------------------------------------------------------------------------------------------

typedef struct {
    char *out;
    size_t size;
    size_t count;
} writer;

static void put(writer *w, const char *text) {
    size_t count = strlen(text);
    if (w->count + count + 1 > w->size) fail("no room", text);
    memcpy(w->out + w->count, text, count + 1);
    w->count += count;
}

static void put_number(writer *w, int type, const DBusBasicValue *value) {
    char number[32];
    long long n = 0;
    switch (type) {
    case DBUS_TYPE_BYTE: n = value->byt; break;
    case DBUS_TYPE_BOOLEAN: n = value->bool_val; break;
    case DBUS_TYPE_INT16: n = value->i16; break;
    case DBUS_TYPE_UINT16: n = value->u16; break;
    case DBUS_TYPE_INT32: n = value->i32; break;
    case DBUS_TYPE_UINT32: n = value->u32; break;
    default: n = value->i64; break;
    }
    snprintf(number, sizeof number, "%lld", n);
    put(w, number);
}

static void put_all(writer *w, DBusMessageIter *from);

static void put_value(writer *w, DBusMessageIter *from) {
    int type = dbus_message_iter_get_arg_type(from);
    DBusBasicValue value;
    DBusMessageIter inner;
    if (type == DBUS_TYPE_STRING || type == DBUS_TYPE_OBJECT_PATH || type == DBUS_TYPE_SIGNATURE) {
        dbus_message_iter_get_basic(from, &value);
        put(w, value.str);
    } else if (dbus_type_is_basic(type)) {
        dbus_message_iter_get_basic(from, &value);
        put_number(w, type, &value);
    } else {
        dbus_message_iter_recurse(from, &inner);
        char *signature = dbus_message_iter_get_signature(&inner);
        bool is_entry = type == DBUS_TYPE_DICT_ENTRY;
        put(w, type == DBUS_TYPE_VARIANT ? "<" : is_entry ? "" : "[");
        if (type == DBUS_TYPE_VARIANT) put(w, signature);
        if (type == DBUS_TYPE_VARIANT) put(w, " ");
        put_all(w, &inner);
        put(w, type == DBUS_TYPE_VARIANT ? ">" : is_entry ? "" : "]");
        dbus_free(signature);
    }
}

static void put_all(writer *w, DBusMessageIter *from) {
    for (bool is_first = true; dbus_message_iter_get_arg_type(from); is_first = false) {
        if (!is_first) put(w, " ");
        put_value(w, from);
        dbus_message_iter_next(from);
    }
}

void format_arguments(DBusMessage *message, char *out, size_t size) {
    writer w = {.out = out, .size = size};
    DBusMessageIter arguments;
    out[0] = '\0';
    if (dbus_message_iter_init(message, &arguments)) put_all(&w, &arguments);
}
