// SPDX-License-Identifier: Apache-2.0

// What an audio file says of itself, read by TagLib's C++ API: its C binding knows no pictures before TagLib 2.

#ifndef CTAGLIB_H
#define CTAGLIB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// How much of a file is looked at. Its length is somebody else's word, and so is everything in it.
typedef struct {
    // Bytes that are read in all.
    uint64_t read_bytes;
    // Reads of a few bytes: they bound how deep a file can nest, since each level begins with one.
    uint32_t small_reads;
    // Bytes of a text that are given.
    uint32_t text_bytes;
    // Bytes of a cover that are given; a larger one counts as none.
    uint32_t cover_bytes;
} ctaglib_tags_limits;

// The texts are UTF-8, end with a zero and are never NULL.
typedef struct {
    char *title;
    // All artists, with CTAGLIB_SEPARATOR between two.
    char *artists;
    char *album;
    char *album_artist;
    // How loud the song is, as the file says it: ReplayGain's gain and peak of the track, those of the album, and R128's gains of
    // the track and of the album. CTAGLIB_SEPARATOR is between two, and what is not there is empty.
    char *gains;
    uint32_t track;
    uint32_t disc;
    // 0 where it is not known.
    uint32_t milliseconds;
    // Whether the length may be wrong: it is estimated, or does not fit the size of the file.
    int is_doubtful;
    int has_cover;
} ctaglib_tags;

#define CTAGLIB_SEPARATOR '\x1F'

typedef struct {
    uint8_t *bytes;
    size_t count;
} ctaglib_cover;

// 0, or -1 where the file is nothing that TagLib knows, or cannot be opened. It is opened for reading alone.
int ctaglib_tags_read(const char *path, const ctaglib_tags_limits *limits, ctaglib_tags *tags);
void ctaglib_tags_free(ctaglib_tags *tags);

// 0, or -1 where there is no cover. The one that says that it is the front's goes before others.
int ctaglib_cover_read(const char *path, const ctaglib_tags_limits *limits, ctaglib_cover *cover);
void ctaglib_cover_free(ctaglib_cover *cover);

#ifdef __cplusplus
}
#endif
#endif
