// SPDX-License-Identifier: Apache-2.0

#include <string.h>

#include "internal.h"

bool cdbus_is_path(const char *path) {
    return path && dbus_validate_path(path, NULL);
}

void cdbus_copy_text(char *out, size_t size, const char *text) {
    size_t count = strlen(text);
    if (count >= size) {
        count = size - 1;
        // Do not cut within a character: 10xxxxxx is a continuation byte.
        while (count > 0 && ((unsigned char)text[count] & 0xC0) == 0x80) count--;
    }
    memcpy(out, text, count);
    out[count] = '\0';
}

const char *cdbus_error_text(DBusMessage *error) {
    const char *text;
    return dbus_message_get_args(error, NULL, DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID) ? text : "";
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading
// ---------------------------------------------------------------------------------------------------------------------

bool cdbus_has_type(DBusMessageIter *value, int type) {
    return dbus_message_iter_get_arg_type(value) == type;
}

bool cdbus_enter_array(DBusMessageIter *value, const char *signature, DBusMessageIter *items) {
    if (!cdbus_has_type(value, DBUS_TYPE_ARRAY)) return false;
    char *actual = dbus_message_iter_get_signature(value);
    bool is_expected = actual && strcmp(actual, signature) == 0;
    dbus_free(actual);
    if (is_expected) dbus_message_iter_recurse(value, items);
    return is_expected;
}

const char *cdbus_text_of(DBusMessageIter *value) {
    const char *text = NULL;
    if (cdbus_has_type(value, DBUS_TYPE_STRING)) dbus_message_iter_get_basic(value, &text);
    return text;
}

// ---------------------------------------------------------------------------------------------------------------------
// Writing
// ---------------------------------------------------------------------------------------------------------------------

bool cdbus_append_variant(DBusMessageIter *to, int type, const void *value) {
    const char signature[] = {(char)type, '\0'};
    DBusMessageIter variant;
    return dbus_message_iter_open_container(to, DBUS_TYPE_VARIANT, signature, &variant) &&
           dbus_message_iter_append_basic(&variant, type, value) && dbus_message_iter_close_container(to, &variant);
}

bool cdbus_append_texts(DBusMessageIter *to, const char *const *texts, size_t count) {
    DBusMessageIter array;
    bool is_good = dbus_message_iter_open_container(to, DBUS_TYPE_ARRAY, "s", &array);
    for (size_t i = 0; is_good && i < count; i++) {
        is_good = dbus_message_iter_append_basic(&array, DBUS_TYPE_STRING, &texts[i]);
    }
    return is_good && dbus_message_iter_close_container(to, &array);
}

static bool open_entry(DBusMessageIter *dictionary, const char *key, DBusMessageIter *entry) {
    return dbus_message_iter_open_container(dictionary, DBUS_TYPE_DICT_ENTRY, NULL, entry) &&
           dbus_message_iter_append_basic(entry, DBUS_TYPE_STRING, &key);
}

bool cdbus_append_entry(DBusMessageIter *dictionary, const char *key, int type, const void *value) {
    DBusMessageIter entry;
    return open_entry(dictionary, key, &entry) && cdbus_append_variant(&entry, type, value) &&
           dbus_message_iter_close_container(dictionary, &entry);
}

bool cdbus_append_texts_entry(DBusMessageIter *dictionary, const char *key, const char *const *texts, size_t count) {
    DBusMessageIter entry;
    DBusMessageIter variant;
    return open_entry(dictionary, key, &entry) &&
           dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "as", &variant) &&
           cdbus_append_texts(&variant, texts, count) && dbus_message_iter_close_container(&entry, &variant) &&
           dbus_message_iter_close_container(dictionary, &entry);
}
