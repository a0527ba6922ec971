// SPDX-License-Identifier: Apache-2.0
//
// A media player on the session bus (MPRIS 2.2, https://specifications.freedesktop.org/mpris-spec/), over CDBus.
//
// It publishes the state that it is given, and reports requests. All functions except `cmedia_wake` belong to one
// thread. Texts are UTF-8 without the noncharacters that D-Bus refuses. Functions return 0 or more, or a negative
// errno.

#ifndef CMEDIA_PLAYER_H
#define CMEDIA_PLAYER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A connection to a session bus.
typedef struct cmedia_player cmedia_player;

/// Kinds of events.
enum {
    CMEDIA_PLAY = 1,
    CMEDIA_PAUSE,
    CMEDIA_PLAY_PAUSE,
    CMEDIA_NEXT,
    CMEDIA_PREVIOUS,
    /// A request for another volume: cmedia_wanted_volume.
    CMEDIA_VOLUME,
    /// A request for another position, by an offset in microseconds: cmedia_value.
    CMEDIA_SEEK,
    /// A request for another position in the present track, in microseconds: cmedia_value.
    CMEDIA_SET_POSITION,
    /// The requested bus name is ours.
    CMEDIA_NAMED,
    /// Another program has the name.
    CMEDIA_NAME_TAKEN,
    /// The bus refuses the name.
    CMEDIA_NAME_REFUSED,
};

/// The state to publish. Texts are copied; a NULL text is not published.
typedef struct {
    /// `Playing`, `Paused` or `Stopped`.
    const char *status;
    /// An object path. With NULL there is no song.
    const char *track;
    const char *title;
    const char *artist;
    const char *album;
    const char *art_url;
    /// Microseconds.
    int64_t length;
    /// The volume, from 0 to 1.
    double volume;
    /// Whether there is a song before this one.
    int can_go_previous;
} cmedia_state;

/// Changed properties.
enum {
    /// This bit also covers volume and `can_go_previous`.
    CMEDIA_STATUS_CHANGED = 1 << 0,
    CMEDIA_METADATA_CHANGED = 1 << 1,
};

/// Starts to connect to the bus at a D-Bus address. Returns 0 and `*player`, or a negative errno.
int cmedia_open(const char *address, cmedia_player **player);
/// Closes the connection and frees everything. Does not wait for the bus.
void cmedia_close(cmedia_player *player);
/// Requests a bus name; CMEDIA_NAMED, _NAME_TAKEN or _NAME_REFUSED follows.
int cmedia_request_name(cmedia_player *player, const char *name);
/// Publishes a state, and signals the properties named in `changed`.
int cmedia_show(cmedia_player *player, const cmedia_state *state, uint32_t changed);
/// Signals that the song continues at another position (microseconds).
int cmedia_seeked(cmedia_player *player, int64_t position);
/// Reads, answers and writes as much as possible without blocking. `position` is the song's position (microseconds). An
/// error means that the bus has gone.
int cmedia_process(cmedia_player *player, int64_t position);
/// Takes the next event, or 0. Up to 32 events are queued.
int cmedia_next(cmedia_player *player);
/// The value of the event that cmedia_next returned last.
int64_t cmedia_value(const cmedia_player *player);
/// The last requested volume, from 0 to 1.
double cmedia_wanted_volume(const cmedia_player *player);
/// Waits until there is data to process, or until `cmedia_wake`.
int cmedia_wait(cmedia_player *player);
/// Ends a wait. Safe from any thread.
void cmedia_wake(cmedia_player *player);

#ifdef __cplusplus
}
#endif

#endif
