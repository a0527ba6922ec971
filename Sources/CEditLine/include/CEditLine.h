// SPDX-License-Identifier: Apache-2.0

// libedit as an editor that neither reads nor draws: bytes go in, and entered lines and the text at the prompt come out.
// The caller owns the terminal. There is one editor in a program, and one thread at a time may call it.

#ifndef CEDITLINE_H
#define CEDITLINE_H

#include <stdbool.h>
#include <stddef.h>

// Sets the locale's character type to UTF-8, whatever the system is set to. Call it before there is a second thread.
void ceditline_speak_utf8(void);

// Makes the editor ready for the first line. It keeps `history` lines. Returns false if the system has no pseudo-terminal or
// no thread for it; then every byte that is fed is dropped.
bool ceditline_begin(int history);

enum ceditline_event {
    // All bytes that were fed are read.
    ceditline_edited,
    // A line was entered: see ceditline_line.
    ceditline_entered,
    // Ctrl-D on an empty line.
    ceditline_ended,
    // Tab: the caller may call ceditline_replace before it goes on.
    ceditline_completing,
};

// Adds typed bytes, which are copied.
void ceditline_feed(const unsigned char *bytes, size_t count);

// Reads typed bytes up to the next event. The last event is ceditline_edited.
enum ceditline_event ceditline_next(void);

// Replaces the text before the cursor, in UTF-8, after ceditline_completing.
void ceditline_replace(const char *text);

// The line that was entered last, in UTF-8. It is valid until the next event.
const char *ceditline_line(void);

// The line at the prompt, in UTF-8, and the cursor's place in it in bytes. During a search of the history, a line feed and
// libedit's search prompt follow the line ("bck:" or "fwd:", with "?" for ":" if nothing was found, and what is searched for).
// Both are valid until the next event.
const char *ceditline_typed(void);
size_t ceditline_cursor(void);

// Lets the terminal of standard input return each byte when it is typed, without echo; and restores it. Restoring is safe in
// a signal handler (signal-safety(7): tcgetpgrp, tcsetattr), and is also done at exit(3).
void ceditline_hold_terminal(void);
void ceditline_release_terminal(void);

#endif
