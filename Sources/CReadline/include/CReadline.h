// SPDX-License-Identifier: Apache-2.0

// GNU readline as an editor that neither reads nor writes: bytes go in, and entered lines and what stands at the prompt come
// out. Its caller owns the terminal. readline is one in a program, so this is: one thread at a time.

#ifndef CREADLINE_H
#define CREADLINE_H

#include <stddef.h>

// Titles are UTF-8, whatever the system is set to. It changes the environment: before there is a second thread.
void creadline_speak_utf8(void);

// Makes it ready for the first line.
void creadline_begin(const char *prompt);

// What came of what was typed.
enum creadline_event {
    // All of it is read, and the line may be another one.
    creadline_edited,
    // A line was entered: see creadline_line.
    creadline_entered,
    // Ctrl-D on an empty line.
    creadline_ended,
    // Several of the lines that were offered fit, and are to be listed.
    creadline_listed,
};

// Takes what was typed.
void creadline_feed(const unsigned char *bytes, size_t count);

// Reads it up to the next event, the last of which is creadline_edited.
enum creadline_event creadline_next(void);

// What the present line may become, whole lines, which are copied: before a key that completes is fed.
void creadline_offer(const char *const *lines, size_t count);

// The line that was entered last, in UTF-8 as it was typed. It is there until the next event.
const char *creadline_line(void);

// What stands at the prompt: readline's own prompt, which changes while one searches the history, and the line.
const char *creadline_prompt(void);
const char *creadline_typed(void);
// The cursor's place in the line, in bytes.
size_t creadline_cursor(void);

// Has the terminal of standard input give out each byte when it is typed, and not show it; and as it was before. The latter
// is safe in a signal handler (signal-safety(7): tcgetpgrp, tcsetattr), and is done at exit(3), too.
void creadline_hold_terminal(void);
void creadline_release_terminal(void);

#endif
