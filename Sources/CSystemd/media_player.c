// SPDX-License-Identifier: Apache-2.0

#include "media_player.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <systemd/sd-bus.h>
#include <time.h>
#include <unistd.h>

#define PATH "/org/mpris/MediaPlayer2"
#define ROOT "org.mpris.MediaPlayer2"
#define PLAYER "org.mpris.MediaPlayer2.Player"
#define EVENTS 32

struct csystemd_media_player {
    sd_bus *bus;
    int wake;
    int64_t position;
    int64_t length;
    char *status, *track, *title, *artist, *art_url;
    int events[EVENTS];
    unsigned first, count;
};

static void note(csystemd_media_player *player, int event) {
    if (player->count == EVENTS) return;
    player->events[(player->first + player->count++) % EVENTS] = event;
}

// ---------------------------------------------------------------------------------------------------------------------
// Methods
// ---------------------------------------------------------------------------------------------------------------------

#define METHOD(name, event)                                                               \
    static int name(sd_bus_message *call, void *data, sd_bus_error *error) {              \
        (void)error;                                                                      \
        note(data, event);                                                                \
        return sd_bus_reply_method_return(call, "");                                      \
    }

METHOD(play, CSYSTEMD_MEDIA_PLAY)
METHOD(pause_, CSYSTEMD_MEDIA_PAUSE)
METHOD(play_pause, CSYSTEMD_MEDIA_PLAY_PAUSE)
METHOD(next, CSYSTEMD_MEDIA_NEXT)

// The specification: a method that is not supported has no effect.
static int nothing(sd_bus_message *call, void *data, sd_bus_error *error) {
    (void)data, (void)error;
    return sd_bus_reply_method_return(call, "");
}

static int open_uri(sd_bus_message *call, void *data, sd_bus_error *error) {
    (void)data, (void)error;
    return sd_bus_reply_method_errorf(call, SD_BUS_ERROR_NOT_SUPPORTED, "RoadMesh plays what its guests vote for.");
}

// ---------------------------------------------------------------------------------------------------------------------
// Properties
// ---------------------------------------------------------------------------------------------------------------------

#define GETTER(name)                                                                                            \
    static int name(sd_bus *bus, const char *path, const char *interface, const char *property,                \
                    sd_bus_message *reply, void *data, sd_bus_error *error)

#define UNUSED (void)bus, (void)path, (void)interface, (void)property, (void)data, (void)error

#define VALUE_GETTER(name, ...)                              \
    GETTER(name) {                                              \
        UNUSED;                                                 \
        return sd_bus_message_append(reply, __VA_ARGS__);       \
    }

VALUE_GETTER(get_no, "b", 0)
VALUE_GETTER(get_yes, "b", 1)
VALUE_GETTER(get_one, "d", 1.0)
VALUE_GETTER(get_identity, "s", "RoadMesh")
VALUE_GETTER(get_no_texts, "as", 0)
VALUE_GETTER(get_status, "s", ((csystemd_media_player *)data)->status)
VALUE_GETTER(get_position, "x", ((csystemd_media_player *)data)->position)

GETTER(get_metadata) {
    UNUSED;
    csystemd_media_player *player = data;
    int status = sd_bus_message_open_container(reply, 'a', "{sv}");
    if (player->track) {
        if (status >= 0) status = sd_bus_message_append(reply, "{sv}", "mpris:trackid", "o", player->track);
        if (status >= 0) status = sd_bus_message_append(reply, "{sv}", "mpris:length", "x", player->length);
        if (status >= 0 && player->title)
            status = sd_bus_message_append(reply, "{sv}", "xesam:title", "s", player->title);
        if (status >= 0 && player->artist)
            status = sd_bus_message_append(reply, "{sv}", "xesam:artist", "as", 1, player->artist);
        if (status >= 0 && player->art_url)
            status = sd_bus_message_append(reply, "{sv}", "mpris:artUrl", "s", player->art_url);
    }
    return status < 0 ? status : sd_bus_message_close_container(reply);
}

// Volume and rate may be written, and stay as they are.
static int set_nothing(sd_bus *bus, const char *path, const char *interface, const char *property,
                       sd_bus_message *value, void *data, sd_bus_error *error) {
    UNUSED;
    return sd_bus_message_skip(value, "d");
}

static const sd_bus_vtable root_table[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("Raise", "", "", nothing, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Quit", "", "", nothing, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_PROPERTY("CanQuit", "b", get_no, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("CanRaise", "b", get_no, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("HasTrackList", "b", get_no, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("Identity", "s", get_identity, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("SupportedUriSchemes", "as", get_no_texts, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("SupportedMimeTypes", "as", get_no_texts, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_VTABLE_END,
};

static const sd_bus_vtable player_table[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("Play", "", "", play, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Pause", "", "", pause_, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("PlayPause", "", "", play_pause, SD_BUS_VTABLE_UNPRIVILEGED),
    // A song that was stopped would begin again; the votes for it do not allow that.
    SD_BUS_METHOD("Stop", "", "", pause_, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Next", "", "", next, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Previous", "", "", nothing, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Seek", "x", "", nothing, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("SetPosition", "ox", "", nothing, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("OpenUri", "s", "", open_uri, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_SIGNAL("Seeked", "x", 0),
    SD_BUS_PROPERTY("PlaybackStatus", "s", get_status, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    SD_BUS_PROPERTY("Metadata", "a{sv}", get_metadata, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    SD_BUS_PROPERTY("Position", "x", get_position, 0, 0),
    SD_BUS_WRITABLE_PROPERTY("Volume", "d", get_one, set_nothing, 0,
                             SD_BUS_VTABLE_UNPRIVILEGED | SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    SD_BUS_WRITABLE_PROPERTY("Rate", "d", get_one, set_nothing, 0,
                             SD_BUS_VTABLE_UNPRIVILEGED | SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    SD_BUS_PROPERTY("MinimumRate", "d", get_one, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("MaximumRate", "d", get_one, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("CanGoNext", "b", get_yes, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("CanGoPrevious", "b", get_no, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("CanPlay", "b", get_yes, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("CanPause", "b", get_yes, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("CanSeek", "b", get_no, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("CanControl", "b", get_yes, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_VTABLE_END,
};

// ---------------------------------------------------------------------------------------------------------------------
// The connection
// ---------------------------------------------------------------------------------------------------------------------

int csystemd_media_open(const char *address, csystemd_media_player **result) {
    csystemd_media_player *player = calloc(1, sizeof *player);
    if (!player) return -ENOMEM;
    player->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int status = player->wake < 0 ? -errno : 0;
    if (status >= 0) status = (player->status = strdup("Stopped")) ? 0 : -ENOMEM;
    if (status >= 0) status = sd_bus_new(&player->bus);
    if (status >= 0) status = sd_bus_set_address(player->bus, address);
    if (status >= 0) status = sd_bus_set_bus_client(player->bus, 1);
    if (status >= 0) status = sd_bus_add_object_vtable(player->bus, NULL, PATH, ROOT, root_table, player);
    if (status >= 0) status = sd_bus_add_object_vtable(player->bus, NULL, PATH, PLAYER, player_table, player);
    if (status >= 0) status = sd_bus_start(player->bus);
    if (status < 0) {
        csystemd_media_close(player);
        return status;
    }
    *result = player;
    return 0;
}

void csystemd_media_close(csystemd_media_player *player) {
    sd_bus_close_unref(player->bus);
    if (player->wake >= 0) close(player->wake);
    free(player->status), free(player->track), free(player->title), free(player->artist), free(player->art_url);
    free(player);
}

static int named(sd_bus_message *reply, void *data, sd_bus_error *error) {
    (void)error;
    uint32_t answer = 0;
    if (sd_bus_message_is_method_error(reply, NULL) || sd_bus_message_read(reply, "u", &answer) < 0)
        note(data, CSYSTEMD_MEDIA_NAME_REFUSED);
    else
        // DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER and _ALREADY_OWNER.
        note(data, answer == 1 || answer == 4 ? CSYSTEMD_MEDIA_NAMED : CSYSTEMD_MEDIA_NAME_TAKEN);
    return 0;
}

int csystemd_media_request_name(csystemd_media_player *player, const char *name) {
    // DBUS_NAME_FLAG_DO_NOT_QUEUE.
    return sd_bus_call_method_async(player->bus, NULL, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                    "org.freedesktop.DBus", "RequestName", named, player, "su", name, 4);
}

static int copy(char **kept, const char *text) {
    char *copied = text ? strdup(text) : NULL;
    if (text && !copied) return -ENOMEM;
    free(*kept);
    *kept = copied;
    return 0;
}

int csystemd_media_show(csystemd_media_player *player, const csystemd_media_state *state, uint32_t changed) {
    player->length = state->length;
    int status = copy(&player->status, state->status);
    if (status >= 0) status = copy(&player->track, state->track);
    if (status >= 0) status = copy(&player->title, state->title);
    if (status >= 0) status = copy(&player->artist, state->artist);
    if (status >= 0) status = copy(&player->art_url, state->art_url);
    char *names[3] = {0};
    unsigned count = 0;
    if (changed & CSYSTEMD_MEDIA_STATUS_CHANGED) names[count++] = "PlaybackStatus";
    if (changed & CSYSTEMD_MEDIA_METADATA_CHANGED) names[count++] = "Metadata";
    if (status < 0 || count == 0) return status;
    return sd_bus_emit_properties_changed_strv(player->bus, PATH, PLAYER, names);
}

int csystemd_media_seeked(csystemd_media_player *player, int64_t position) {
    return sd_bus_emit_signal(player->bus, PATH, PLAYER, "Seeked", "x", position);
}

int csystemd_media_process(csystemd_media_player *player, int64_t position) {
    player->position = position;
    int status;
    do status = sd_bus_process(player->bus, NULL);
    while (status > 0 && player->count < EVENTS);
    return status;
}

int csystemd_media_next(csystemd_media_player *player) {
    if (player->count == 0) return 0;
    int event = player->events[player->first];
    player->first = (player->first + 1) % EVENTS;
    player->count--;
    return event;
}

int csystemd_media_wait(csystemd_media_player *player) {
    int bus = sd_bus_get_fd(player->bus);
    int events = sd_bus_get_events(player->bus);
    uint64_t deadline = 0;
    int status = sd_bus_get_timeout(player->bus, &deadline);
    if (bus < 0 || events < 0 || status < 0) return bus < 0 ? bus : events < 0 ? events : status;
    int timeout = -1;
    if (deadline != UINT64_MAX) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        uint64_t microseconds = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
        uint64_t left = deadline > microseconds ? (deadline - microseconds + 999) / 1000 : 0;
        timeout = left > 60000 ? 60000 : (int)left;
    }
    struct pollfd polled[2] = {{.fd = bus, .events = (short)events}, {.fd = player->wake, .events = POLLIN}};
    if (poll(polled, 2, timeout) < 0 && errno != EINTR) return -errno;
    uint64_t wakes;
    while (read(player->wake, &wakes, sizeof wakes) > 0) {}
    return 0;
}

void csystemd_media_wake(csystemd_media_player *player) {
    uint64_t one = 1;
    while (write(player->wake, &one, sizeof one) < 0 && errno == EINTR) {}
}
