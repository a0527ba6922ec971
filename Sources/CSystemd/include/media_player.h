// SPDX-License-Identifier: Apache-2.0
//
// A media player on the session bus (MPRIS 2.2, https://specifications.freedesktop.org/mpris-spec/), over sd-bus.
//
// It says what it is told to say, and tells what it was asked for. All but `csystemd_media_wake` belongs to one thread.
// Texts are UTF-8 without the noncharacters that D-Bus refuses. Functions return 0 or more, or a negative errno.

#ifndef CSYSTEMD_MEDIA_PLAYER_H
#define CSYSTEMD_MEDIA_PLAYER_H

#include <stdint.h>

#if !__has_include(<systemd/sd-bus.h>)
#error "RoadMesh needs the package libsystemd-dev: sudo apt-get install libsystemd-dev"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// A connection to a session bus.
typedef struct csystemd_media_player csystemd_media_player;

/// What has happened.
enum {
    CSYSTEMD_MEDIA_PLAY = 1,
    CSYSTEMD_MEDIA_PAUSE,
    CSYSTEMD_MEDIA_PLAY_PAUSE,
    CSYSTEMD_MEDIA_NEXT,
    /// The name that was asked for is ours.
    CSYSTEMD_MEDIA_NAMED,
    /// Somebody else has it.
    CSYSTEMD_MEDIA_NAME_TAKEN,
    /// The bus does not give it to us.
    CSYSTEMD_MEDIA_NAME_REFUSED,
};

/// What is to be seen. Texts are copied; one that is NULL is not shown.
typedef struct {
    /// `Playing`, `Paused` or `Stopped`.
    const char *status;
    /// An object path. With NULL there is no song.
    const char *track;
    const char *title;
    const char *artist;
    const char *art_url;
    /// Microseconds.
    int64_t length;
} csystemd_media_state;

/// Properties that have changed.
enum {
    CSYSTEMD_MEDIA_STATUS_CHANGED = 1 << 0,
    CSYSTEMD_MEDIA_METADATA_CHANGED = 1 << 1,
};

/// Begins to connect to the bus at a D-Bus address. 0 and `*player`, or a negative errno.
int csystemd_media_open(const char *address, csystemd_media_player **player);
/// Closes the connection and frees everything; the bus is not waited for.
void csystemd_media_close(csystemd_media_player *player);
/// Asks for a name; CSYSTEMD_MEDIA_NAMED, _NAME_TAKEN or _NAME_REFUSED follows.
int csystemd_media_request_name(csystemd_media_player *player, const char *name);
/// Shows something, and tells everybody of the properties named in `changed`.
int csystemd_media_show(csystemd_media_player *player, const csystemd_media_state *state, uint32_t changed);
/// Tells everybody that the song goes on at another place (microseconds).
int csystemd_media_seeked(csystemd_media_player *player, int64_t position);
/// Reads, answers and writes what can be without blocking. `position` is where the song is (microseconds). An error
/// means that the bus has gone.
int csystemd_media_process(csystemd_media_player *player, int64_t position);
/// Takes what has happened next, or 0. Of what nobody takes, 32 are kept.
int csystemd_media_next(csystemd_media_player *player);
/// Waits until there is something to process, or `csystemd_media_wake`.
int csystemd_media_wait(csystemd_media_player *player);
/// Ends a wait. From any thread.
void csystemd_media_wake(csystemd_media_player *player);

#ifdef __cplusplus
}
#endif

#endif
