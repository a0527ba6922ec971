// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE // strdup with -std=c11

#include "CMediaPlayer.h"

#include <CDBus.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "introspection.h"

#define PATH "/org/mpris/MediaPlayer2"
#define EVENTS 32

/// Tag of the only call that a player makes.
#define REQUEST_NAME 0

struct cmedia_player {
    cdbus *bus;
    int wake;
    int64_t position;
    int64_t length;
    double volume, wanted_volume;
    bool can_go_previous;
    char *status, *track, *title, *artist, *album, *art_url;
    /// The queued events, each with its value.
    struct {
        int kind;
        int64_t value;
    } events[EVENTS];
    unsigned first, count;
    /// The value of the event that was taken last.
    int64_t value;
};

#define PLAYER(object) ((const cmedia_player *)(object))

static void note_value(cmedia_player *player, int event, int64_t value) {
    if (player->count == EVENTS) return;
    unsigned place = (player->first + player->count++) % EVENTS;
    player->events[place].kind = event;
    player->events[place].value = value;
}

static void note(cmedia_player *player, int event) { note_value(player, event, 0); }

// ---------------------------------------------------------------------------------------------------------------------
// Properties
// ---------------------------------------------------------------------------------------------------------------------

#define CONSTANT(function, type, c_type, constant)                          \
    static bool function(DBusMessageIter *variant, const void *object) {    \
        c_type value = constant;                                            \
        (void)object;                                                       \
        return dbus_message_iter_append_basic(variant, type, &value);       \
    }

CONSTANT(append_no, DBUS_TYPE_BOOLEAN, dbus_bool_t, false)
CONSTANT(append_yes, DBUS_TYPE_BOOLEAN, dbus_bool_t, true)
CONSTANT(append_one, DBUS_TYPE_DOUBLE, double, 1.0)
CONSTANT(append_identity, DBUS_TYPE_STRING, const char *, "RoadMesh")

static bool append_no_texts(DBusMessageIter *variant, const void *object) {
    (void)object;
    return cdbus_append_texts(variant, NULL, 0);
}

static bool append_status(DBusMessageIter *variant, const void *object) {
    const char *status = PLAYER(object)->status;
    return dbus_message_iter_append_basic(variant, DBUS_TYPE_STRING, &status);
}

static bool append_position(DBusMessageIter *variant, const void *object) {
    return dbus_message_iter_append_basic(variant, DBUS_TYPE_INT64, &PLAYER(object)->position);
}

static bool append_volume(DBusMessageIter *variant, const void *object) {
    return dbus_message_iter_append_basic(variant, DBUS_TYPE_DOUBLE, &PLAYER(object)->volume);
}

static bool append_can_go_previous(DBusMessageIter *variant, const void *object) {
    dbus_bool_t can = PLAYER(object)->can_go_previous;
    return dbus_message_iter_append_basic(variant, DBUS_TYPE_BOOLEAN, &can);
}

static bool append_can_seek(DBusMessageIter *variant, const void *object) {
    dbus_bool_t can = PLAYER(object)->track != NULL;
    return dbus_message_iter_append_basic(variant, DBUS_TYPE_BOOLEAN, &can);
}

static bool append_song(DBusMessageIter *song, const cmedia_player *player) {
    const char *track = player->track;
    const char *title = player->title;
    const char *artist = player->artist;
    const char *album = player->album;
    const char *art_url = player->art_url;
    if (!track) return true;
    return cdbus_append_entry(song, "mpris:trackid", DBUS_TYPE_OBJECT_PATH, &track) &&
           cdbus_append_entry(song, "mpris:length", DBUS_TYPE_INT64, &player->length) &&
           (!title || cdbus_append_entry(song, "xesam:title", DBUS_TYPE_STRING, &title)) &&
           (!artist || cdbus_append_texts_entry(song, "xesam:artist", &artist, 1)) &&
           (!album || cdbus_append_entry(song, "xesam:album", DBUS_TYPE_STRING, &album)) &&
           (!art_url || cdbus_append_entry(song, "mpris:artUrl", DBUS_TYPE_STRING, &art_url));
}

static bool append_metadata(DBusMessageIter *variant, const void *object) {
    DBusMessageIter song;
    return dbus_message_iter_open_container(variant, DBUS_TYPE_ARRAY, "{sv}", &song) &&
           append_song(&song, PLAYER(object)) && dbus_message_iter_close_container(variant, &song);
}

static const cdbus_property root_properties[] = {
    {"CanQuit", "b", append_no, NULL},
    {"CanRaise", "b", append_no, NULL},
    {"HasTrackList", "b", append_no, NULL},
    {"Identity", "s", append_identity, NULL},
    {"SupportedUriSchemes", "as", append_no_texts, NULL},
    {"SupportedMimeTypes", "as", append_no_texts, NULL},
};

static const cdbus_property player_properties[] = {
    {"PlaybackStatus", "s", append_status, NULL},
    {"Metadata", "a{sv}", append_metadata, NULL},
    {"Position", "x", append_position, NULL},
    {"Volume", "d", append_volume, NULL},
    {"Rate", "d", append_one, NULL},
    {"MinimumRate", "d", append_one, NULL},
    {"MaximumRate", "d", append_one, NULL},
    {"CanGoNext", "b", append_yes, NULL},
    {"CanGoPrevious", "b", append_can_go_previous, NULL},
    {"CanPlay", "b", append_yes, NULL},
    {"CanPause", "b", append_yes, NULL},
    {"CanSeek", "b", append_can_seek, NULL},
    {"CanControl", "b", append_yes, NULL},
};

#define COUNT(table) (sizeof table / sizeof table[0])

static const cdbus_interface interfaces[] = {
    {MPRIS_ROOT, root_properties, COUNT(root_properties)},
    {MPRIS_PLAYER, player_properties, COUNT(player_properties)},
};

// Volume and rate can be written. Writing the rate has no effect.
static bool set(cmedia_player *player, DBusMessage *call) {
    DBusMessageIter arguments, variant;
    const char *interface;
    const char *name;
    if (!dbus_message_has_signature(call, "ssv")) return false;
    dbus_message_iter_init(call, &arguments);
    dbus_message_iter_get_basic(&arguments, &interface);
    dbus_message_iter_next(&arguments);
    dbus_message_iter_get_basic(&arguments, &name);
    if (strcmp(interface, MPRIS_PLAYER) != 0) return false;
    if (strcmp(name, "Rate") == 0) return cdbus_answer_done(player->bus, call);
    if (strcmp(name, "Volume") != 0) return false;
    dbus_message_iter_next(&arguments);
    dbus_message_iter_recurse(&arguments, &variant);
    if (dbus_message_iter_get_arg_type(&variant) != DBUS_TYPE_DOUBLE) {
        return cdbus_refuse(player->bus, call, DBUS_ERROR_INVALID_ARGS, "a volume is a double");
    }
    double wanted;
    dbus_message_iter_get_basic(&variant, &wanted);
    // The specification treats negative values as 0. NaN is ignored.
    if (wanted == wanted) {
        player->wanted_volume = wanted < 0 ? 0 : wanted > 1 ? 1 : wanted;
        note(player, CMEDIA_VOLUME);
    }
    return cdbus_answer_done(player->bus, call);
}

// ---------------------------------------------------------------------------------------------------------------------
// Methods
// ---------------------------------------------------------------------------------------------------------------------

static const struct {
    const char *interface, *name, *signature;
    /// The event to report; 0: none. By the specification, an unsupported method has no effect.
    int event;
} methods[] = {
    {MPRIS_ROOT, "Raise", "", 0},
    {MPRIS_ROOT, "Quit", "", 0},
    {MPRIS_PLAYER, "Play", "", CMEDIA_PLAY},
    {MPRIS_PLAYER, "Pause", "", CMEDIA_PAUSE},
    {MPRIS_PLAYER, "PlayPause", "", CMEDIA_PLAY_PAUSE},
    // A stopped song would start again from the beginning. The votes for it do not allow that, so Stop pauses.
    {MPRIS_PLAYER, "Stop", "", CMEDIA_PAUSE},
    {MPRIS_PLAYER, "Next", "", CMEDIA_NEXT},
    {MPRIS_PLAYER, "Previous", "", CMEDIA_PREVIOUS},
    {MPRIS_PLAYER, "Seek", "x", CMEDIA_SEEK},
    {MPRIS_PLAYER, "SetPosition", "ox", CMEDIA_SET_POSITION},
};

// The specification ignores a position in a track that is not the present one.
static void note_position(cmedia_player *player, DBusMessage *call) {
    const char *track;
    dbus_int64_t position;
    if (!dbus_message_get_args(call, NULL, DBUS_TYPE_OBJECT_PATH, &track, DBUS_TYPE_INT64, &position,
                               DBUS_TYPE_INVALID) ||
        !player->track || strcmp(track, player->track) != 0) {
        return;
    }
    note_value(player, CMEDIA_SET_POSITION, position);
}

static void note_method(cmedia_player *player, DBusMessage *call, int event) {
    dbus_int64_t offset;
    if (event == CMEDIA_SET_POSITION) {
        note_position(player, call);
    } else if (event == CMEDIA_SEEK) {
        if (dbus_message_get_args(call, NULL, DBUS_TYPE_INT64, &offset, DBUS_TYPE_INVALID)) {
            note_value(player, CMEDIA_SEEK, offset);
        }
    } else if (event) {
        note(player, event);
    }
}

static bool answer_method(cmedia_player *player, DBusMessage *call) {
    for (size_t i = 0; i < COUNT(methods); i++) {
        if (!dbus_message_is_method_call(call, methods[i].interface, methods[i].name)) continue;
        if (!dbus_message_has_signature(call, methods[i].signature)) {
            return cdbus_refuse(player->bus, call, DBUS_ERROR_INVALID_ARGS, "other arguments are needed");
        }
        note_method(player, call, methods[i].event);
        return cdbus_answer_done(player->bus, call);
    }
    return false;
}

static void answer(cmedia_player *player, DBusMessage *call) {
    const char *path = dbus_message_get_path(call);
    if (dbus_message_is_method_call(call, DBUS_INTERFACE_PEER, "Ping")) {
        cdbus_answer_done(player->bus, call);
    } else if (!path || strcmp(path, PATH) != 0) {
        cdbus_refuse(player->bus, call, DBUS_ERROR_UNKNOWN_OBJECT, "no such object");
    } else if (dbus_message_is_method_call(call, DBUS_INTERFACE_PROPERTIES, "Set") && set(player, call)) {
        return;
    } else if (dbus_message_is_method_call(call, DBUS_INTERFACE_INTROSPECTABLE, "Introspect")) {
        cdbus_answer_introspect(player->bus, call, MPRIS_INTROSPECTION);
    } else if (dbus_message_is_method_call(call, MPRIS_PLAYER, "OpenUri")) {
        cdbus_refuse(player->bus, call, DBUS_ERROR_NOT_SUPPORTED, "RoadMesh plays what its guests vote for.");
    } else if (!cdbus_answer_properties(player->bus, call, interfaces, COUNT(interfaces), player) &&
               !answer_method(player, call)) {
        cdbus_refuse(player->bus, call, DBUS_ERROR_UNKNOWN_METHOD, "no such method");
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The connection
// ---------------------------------------------------------------------------------------------------------------------

int cmedia_open(const char *address, cmedia_player **result) {
    cmedia_player *player = calloc(1, sizeof *player);
    if (!player) return -ENOMEM;
    player->volume = 1;
    player->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int status = player->wake < 0 ? -errno : 0;
    if (status >= 0) status = (player->status = strdup("Stopped")) ? 0 : -ENOMEM;
    if (status >= 0) status = cdbus_open(address, &player->bus, NULL);
    if (status < 0) {
        cmedia_close(player);
        return status;
    }
    *result = player;
    return 0;
}

void cmedia_close(cmedia_player *player) {
    cdbus_close(player->bus);
    if (player->wake >= 0) close(player->wake);
    free(player->status), free(player->track), free(player->title), free(player->artist);
    free(player->album), free(player->art_url);
    free(player);
}

int cmedia_request_name(cmedia_player *player, const char *name) {
    dbus_uint32_t flags = DBUS_NAME_FLAG_DO_NOT_QUEUE;
    DBusMessage *call = cdbus_new_bus_call("RequestName", name);
    bool is_complete = call && dbus_message_append_args(call, DBUS_TYPE_UINT32, &flags, DBUS_TYPE_INVALID);
    int64_t serial = cdbus_finish_call(player->bus, call, is_complete, REQUEST_NAME, CDBUS_OWN_CALL_MS);
    return serial < 0 ? (int)serial : 0;
}

static void named(cmedia_player *player, const cdbus_item *reply) {
    dbus_uint32_t answer = 0;
    if (reply->error_name ||
        !dbus_message_get_args(reply->message, NULL, DBUS_TYPE_UINT32, &answer, DBUS_TYPE_INVALID)) {
        note(player, CMEDIA_NAME_REFUSED);
        return;
    }
    bool is_ours = answer == DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER || answer == DBUS_REQUEST_NAME_REPLY_ALREADY_OWNER;
    note(player, is_ours ? CMEDIA_NAMED : CMEDIA_NAME_TAKEN);
}

static int copy(char **kept, const char *text) {
    char *copied = text ? strdup(text) : NULL;
    if (text && !copied) return -ENOMEM;
    free(*kept);
    *kept = copied;
    return 0;
}

int cmedia_show(cmedia_player *player, const cmedia_state *state, uint32_t changed) {
    player->length = state->length;
    player->volume = state->volume;
    player->can_go_previous = state->can_go_previous;
    int status = copy(&player->status, state->status);
    if (status >= 0) status = copy(&player->track, state->track);
    if (status >= 0) status = copy(&player->title, state->title);
    if (status >= 0) status = copy(&player->artist, state->artist);
    if (status >= 0) status = copy(&player->album, state->album);
    if (status >= 0) status = copy(&player->art_url, state->art_url);
    const char *names[5];
    size_t count = 0;
    if (changed & CMEDIA_STATUS_CHANGED) {
        names[count++] = "PlaybackStatus";
        names[count++] = "Volume";
        names[count++] = "CanGoPrevious";
    }
    if (changed & CMEDIA_METADATA_CHANGED) {
        names[count++] = "Metadata";
        names[count++] = "CanSeek";
    }
    if (status < 0 || count == 0) return status;
    return cdbus_tell_changed(player->bus, PATH, &interfaces[1], names, count, player);
}

int cmedia_seeked(cmedia_player *player, int64_t position) {
    DBusMessage *signal = dbus_message_new_signal(PATH, MPRIS_PLAYER, "Seeked");
    if (signal && !dbus_message_append_args(signal, DBUS_TYPE_INT64, &position, DBUS_TYPE_INVALID)) {
        dbus_message_unref(signal);
        signal = NULL;
    }
    return cdbus_send(player->bus, signal);
}

int cmedia_process(cmedia_player *player, int64_t position) {
    player->position = position;
    cdbus_process(player->bus);
    cdbus_item item;
    int status = 0;
    while (player->count < EVENTS && (status = cdbus_next(player->bus, &item)) == 1) {
        if (item.kind == CDBUS_CALL) answer(player, item.message);
        if (item.kind == CDBUS_REPLY && item.tag == REQUEST_NAME) named(player, &item);
        if (item.kind == CDBUS_CLOSED) return -ECONNRESET;
    }
    return status;
}

int cmedia_next(cmedia_player *player) {
    if (player->count == 0) return 0;
    int event = player->events[player->first].kind;
    player->value = player->events[player->first].value;
    player->first = (player->first + 1) % EVENTS;
    player->count--;
    return event;
}

int64_t cmedia_value(const cmedia_player *player) { return player->value; }

double cmedia_wanted_volume(const cmedia_player *player) { return player->wanted_volume; }

int cmedia_wait(cmedia_player *player) {
    struct pollfd polled[2] = {
        {.fd = cdbus_descriptor(player->bus), .events = POLLIN},
        {.fd = player->wake, .events = POLLIN},
    };
    if (cdbus_wants_write(player->bus)) polled[0].events |= POLLOUT;
    if (poll(polled, 2, cdbus_next_deadline_ms(player->bus)) < 0 && errno != EINTR) return -errno;
    uint64_t wakes;
    while (read(player->wake, &wakes, sizeof wakes) > 0) {}
    return 0;
}

void cmedia_wake(cmedia_player *player) {
    uint64_t one = 1;
    while (write(player->wake, &one, sizeof one) < 0 && errno == EINTR) {}
}
