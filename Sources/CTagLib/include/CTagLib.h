// SPDX-License-Identifier: Apache-2.0

// The tags of an audio file, read by TagLib's C++ API. Its C binding does not support pictures before TagLib 2.

#ifndef CTAGLIB_H
#define CTAGLIB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// How much of a file is read. The file's own lengths cannot be trusted.
typedef struct {
    // Bytes that are read in total.
    uint64_t read_bytes;
    // Reads of a few bytes. Each level of nesting begins with one, so this also limits how deep a file can nest.
    uint32_t small_reads;
    // Longest text returned, in bytes.
    uint32_t text_bytes;
    // Largest cover returned, in bytes. A larger cover counts as missing.
    uint32_t cover_bytes;
} ctaglib_tags_limits;

// The texts are UTF-8, end with a zero and are never NULL.
typedef struct {
    char *title;
    // All artists, with CTAGLIB_SEPARATOR between two.
    char *artists;
    char *album;
    char *album_artist;
    // The loudness tags: ReplayGain's gain and peak of the track, gain and peak of the album, and R128's gains of the
    // track and of the album. CTAGLIB_SEPARATOR is between two, and missing tags are empty.
    char *gains;
    uint32_t track;
    uint32_t disc;
    // 0 if unknown.
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

// Returns 0, or -1 if TagLib does not recognise the file, or it cannot be opened. It is opened read-only.
int ctaglib_tags_read(const char *path, const ctaglib_tags_limits *limits, ctaglib_tags *tags);
void ctaglib_tags_free(ctaglib_tags *tags);

// Returns 0, or -1 if there is no cover. A picture marked as the front cover is preferred.
int ctaglib_cover_read(const char *path, const ctaglib_tags_limits *limits, ctaglib_cover *cover);
void ctaglib_cover_free(ctaglib_cover *cover);

#ifdef __cplusplus
}
#endif
#endif
