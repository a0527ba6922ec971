// SPDX-License-Identifier: Apache-2.0
//
// A media player on the session bus (MPRIS 2.2, https://specifications.freedesktop.org/mpris-spec/), over CDBus.
//
// It says what it is told to say, and tells what it was asked for. All but `cmedia_wake` belongs to one thread.
// Texts are UTF-8 without the noncharacters that D-Bus refuses. Functions return 0 or more, or a negative errno.

#ifndef CMEDIA_PLAYER_H
#define CMEDIA_PLAYER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A connection to a session bus.
typedef struct cmedia_player cmedia_player;

/// What has happened.
enum {
    CMEDIA_PLAY = 1,
    CMEDIA_PAUSE,
    CMEDIA_PLAY_PAUSE,
    CMEDIA_NEXT,
    CMEDIA_PREVIOUS,
    /// Another volume is wanted: cmedia_wanted_volume.
    CMEDIA_VOLUME,
    /// The name that was asked for is ours.
    CMEDIA_NAMED,
    /// Somebody else has it.
    CMEDIA_NAME_TAKEN,
    /// The bus does not give it to us.
    CMEDIA_NAME_REFUSED,
};

/// What is to be seen. Texts are copied; one that is NULL is not shown.
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
    /// From 0 to 1.
    double volume;
    /// Whether there is a song before this one.
    int can_go_previous;
} cmedia_state;

/// Properties that have changed.
enum {
    /// With it volume and `can_go_previous`.
    CMEDIA_STATUS_CHANGED = 1 << 0,
    CMEDIA_METADATA_CHANGED = 1 << 1,
};

/// Begins to connect to the bus at a D-Bus address. 0 and `*player`, or a negative errno.
int cmedia_open(const char *address, cmedia_player **player);
/// Closes the connection and frees everything; the bus is not waited for.
void cmedia_close(cmedia_player *player);
/// Asks for a name; CMEDIA_NAMED, _NAME_TAKEN or _NAME_REFUSED follows.
int cmedia_request_name(cmedia_player *player, const char *name);
/// Shows something, and tells everybody of the properties named in `changed`.
int cmedia_show(cmedia_player *player, const cmedia_state *state, uint32_t changed);
/// Tells everybody that the song goes on at another place (microseconds).
int cmedia_seeked(cmedia_player *player, int64_t position);
/// Reads, answers and writes what can be without blocking. `position` is where the song is (microseconds). An error
/// means that the bus has gone.
int cmedia_process(cmedia_player *player, int64_t position);
/// Takes what has happened next, or 0. Of what nobody takes, 32 are kept.
int cmedia_next(cmedia_player *player);
/// The volume that was asked for last, from 0 to 1.
double cmedia_wanted_volume(const cmedia_player *player);
/// Waits until there is something to process, or `cmedia_wake`.
int cmedia_wait(cmedia_player *player);
/// Ends a wait. From any thread.
void cmedia_wake(cmedia_player *player);

#ifdef __cplusplus
}
#endif

#endif
