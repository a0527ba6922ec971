// SPDX-License-Identifier: Apache-2.0

// posix_openpt and ptsname_r.
#define _GNU_SOURCE

#include "CEditLine.h"

#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include <histedit.h>

// libedit reads keys in loops of its own, for example while it searches the history. It therefore runs in a thread of its own,
// which stops wherever libedit wants a key that has not been typed. Either this thread or the caller runs, never both, so
// neither needs a lock for what they share.

static EditLine *editor;
static HistoryW *history_lines;

// MARK: Taking turns

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static bool is_editors_turn;
static enum ceditline_event event;

static void give_turn(bool to_editor)
{
    pthread_mutex_lock(&mutex);
    is_editors_turn = to_editor;
    pthread_cond_broadcast(&turned);
    while (is_editors_turn == to_editor)
        pthread_cond_wait(&turned, &mutex);
    pthread_mutex_unlock(&mutex);
}

// In the editor's thread: returns when the caller wants the next event.
static void report(enum ceditline_event happened)
{
    event = happened;
    give_turn(false);
}

// MARK: UTF-8

// The caller gets one such text for each event. wchar_t is a Unicode scalar value on Linux.
struct text {
    char *bytes;
    size_t count, capacity;
};

static void append(struct text *text, wchar_t character)
{
    unsigned value = (unsigned)character;
    if (text->count + 5 > text->capacity) {
        size_t capacity = text->capacity * 2 + 64;
        char *bytes = realloc(text->bytes, capacity);
        if (!bytes)
            return;
        text->bytes = bytes;
        text->capacity = capacity;
    }
    char *end = text->bytes + text->count;
    if (value < 0x80) {
        *end++ = (char)value;
    } else if (value < 0x800) {
        *end++ = (char)(0xc0 | value >> 6);
        *end++ = (char)(0x80 | (value & 0x3f));
    } else if (value < 0x10000) {
        *end++ = (char)(0xe0 | value >> 12);
        *end++ = (char)(0x80 | (value >> 6 & 0x3f));
        *end++ = (char)(0x80 | (value & 0x3f));
    } else {
        *end++ = (char)(0xf0 | value >> 18);
        *end++ = (char)(0x80 | (value >> 12 & 0x3f));
        *end++ = (char)(0x80 | (value >> 6 & 0x3f));
        *end++ = (char)(0x80 | (value & 0x3f));
    }
    *end = 0;
    text->count = (size_t)(end - text->bytes);
}

static void encode(struct text *text, const wchar_t *from, const wchar_t *to)
{
    text->count = 0;
    if (text->bytes)
        *text->bytes = 0;
    while (from < to)
        append(text, *from++);
}

static const char *bytes_of(const struct text *text) { return text->bytes ? text->bytes : ""; }

// What was typed and not read yet.
static unsigned char *typed;
static size_t typed_count, typed_read;

// Bytes of the character that begins with `first`; 1 for a byte that begins none.
static size_t length_of(unsigned char first)
{
    if (first >= 0xc2 && first < 0xe0)
        return 2;
    if (first >= 0xe0 && first < 0xf0)
        return 3;
    return first >= 0xf0 && first < 0xf5 ? 4 : 1;
}

// Takes the next typed character. Returns false if it is not complete. What is not UTF-8 is U+FFFD, byte by byte.
static bool take_typed(wchar_t *character)
{
    if (typed_read == typed_count)
        return false;
    const unsigned char *bytes = typed + typed_read;
    size_t left = typed_count - typed_read, length = length_of(*bytes);
    unsigned value = length == 1 ? *bytes : *bytes & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if (i == left)
            return false;
        if ((bytes[i] & 0xc0) != 0x80) {
            length = 0;
            break;
        }
        value = value << 6 | (bytes[i] & 0x3f);
    }
    bool is_wrong = length == 0 || (length == 1 && value >= 0x80) || (length == 3 && value < 0x800) ||
                    (length == 4 && (value < 0x10000 || value > 0x10ffff)) || (value >= 0xd800 && value < 0xe000);
    *character = is_wrong ? 0xfffd : (wchar_t)value;
    typed_read += is_wrong ? 1 : length;
    return true;
}

void ceditline_feed(const unsigned char *bytes, size_t count)
{
    size_t rest = typed_count - typed_read;
    unsigned char *all = malloc(rest + count + 1);
    if (!all)
        return;
    if (rest)
        memcpy(all, typed + typed_read, rest);
    memcpy(all + rest, bytes, count);
    free(typed);
    typed = all;
    typed_count = rest + count;
    typed_read = 0;
}

// libedit asks for a key.
static int next_character(EditLine *line, wchar_t *character)
{
    (void)line;
    while (!take_typed(character))
        report(ceditline_edited);
    return 1;
}

// MARK: Lines

static struct text entered, shown, before_cursor;

static void take_line(const wchar_t *line, int count)
{
    while (count > 0 && (line[count - 1] == L'\n' || line[count - 1] == L'\r'))
        count--;
    encode(&entered, line, line + count);
    wchar_t *copy = malloc(((size_t)count + 1) * sizeof *copy);
    if (copy && count) {
        wmemcpy(copy, line, (size_t)count);
        copy[count] = 0;
        HistEventW result;
        history_w(history_lines, &result, H_ENTER, copy);
    }
    free(copy);
}

const char *ceditline_line(void) { return bytes_of(&entered); }

const char *ceditline_typed(void)
{
    if (!editor)
        return "";
    const LineInfoW *line = el_wline(editor);
    encode(&shown, line->buffer, line->lastchar);
    return bytes_of(&shown);
}

size_t ceditline_cursor(void)
{
    if (!editor)
        return 0;
    const LineInfoW *line = el_wline(editor);
    encode(&before_cursor, line->buffer, line->cursor);
    return before_cursor.count;
}

// MARK: Completion

static wchar_t *replacement;

void ceditline_replace(const char *text)
{
    // The decoded text has at most as many characters as bytes. It is decoded like typed text.
    size_t count = strlen(text), length = 0;
    free(replacement);
    replacement = malloc((count + 1) * sizeof *replacement);
    unsigned char *kept = typed;
    size_t kept_count = typed_count, kept_read = typed_read;
    typed = (unsigned char *)text;
    typed_count = count;
    typed_read = 0;
    while (replacement && take_typed(replacement + length))
        length++;
    if (replacement)
        replacement[length] = 0;
    typed = kept;
    typed_count = kept_count;
    typed_read = kept_read;
}

static unsigned char complete(EditLine *line, int key)
{
    (void)key;
    free(replacement);
    replacement = NULL;
    report(ceditline_completing);
    if (!replacement)
        return CC_NORM;
    const LineInfoW *present = el_wline(line);
    el_wdeletestr(line, (int)(present->cursor - present->buffer));
    return el_winsertstr(line, replacement) == 0 ? CC_REFRESH : CC_ERROR;
}

// MARK: Running

void ceditline_speak_utf8(void)
{
    if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1)
        setlocale(LC_CTYPE, "C.UTF-8");
}

static wchar_t *no_prompt(EditLine *line)
{
    static wchar_t prompt[] = L"";
    (void)line;
    return prompt;
}

// Keys that people know from their shell and that libedit does not have, or has in another way.
static void bind_keys(void)
{
    static const wchar_t *const keys[][2] = {
        {L"^R", L"em-inc-search-prev"}, {L"^S", L"em-inc-search-next"}, {L"^W", L"ed-delete-prev-word"},
        {L"^U", L"vi-kill-line-prev"}, {L"^I", L"roadmesh-complete"}, {L"\\e[3~", L"ed-delete-next-char"},
        {L"\\e[1~", L"ed-move-to-beg"}, {L"\\e[4~", L"ed-move-to-end"}, {L"\\e[7~", L"ed-move-to-beg"},
        {L"\\e[8~", L"ed-move-to-end"}, {L"\\e[H", L"ed-move-to-beg"}, {L"\\e[F", L"ed-move-to-end"},
        {L"\\e[1;5C", L"em-next-word"}, {L"\\e[1;5D", L"ed-prev-word"},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        el_wset(editor, EL_BIND, keys[i][0], keys[i][1], NULL);
}

static void *edit(void *unused)
{
    // The caller's first turn is over when it wants the first event.
    pthread_mutex_lock(&mutex);
    while (!is_editors_turn)
        pthread_cond_wait(&turned, &mutex);
    pthread_mutex_unlock(&mutex);
    for (;;) {
        int count = 0;
        const wchar_t *line = el_wgets(editor, &count);
        if (line && count > 0)
            take_line(line, count);
        report(line && count > 0 ? ceditline_entered : ceditline_ended);
    }
    return unused;
}

// A separate terminal for libedit. libedit only edits lines of a terminal, and sets that terminal's mode; only the
// caller sets the mode of the person's terminal. Nothing is read from the separate terminal or written to it.
static int own_terminal(void)
{
    int controller = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    char name[64];
    if (controller < 0)
        return -1;
    if (grantpt(controller) == 0 && unlockpt(controller) == 0 && ptsname_r(controller, name, sizeof name) == 0)
        return open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    close(controller);
    return -1;
}

bool ceditline_begin(int history)
{
    int terminal = own_terminal();
    if (terminal < 0)
        return false;
    FILE *input = fdopen(terminal, "re"), *output = fopen("/dev/null", "we");
    if (!input || !output)
        return false;
    editor = el_init_fd("roadmesh", input, output, output, terminal, terminal, terminal);
    history_lines = history_winit();
    if (!editor || !history_lines)
        return false;
    HistEventW result;
    history_w(history_lines, &result, H_SETSIZE, history);
    history_w(history_lines, &result, H_SETUNIQUE, 1);
    el_wset(editor, EL_GETCFN, next_character);
    el_wset(editor, EL_PROMPT, no_prompt);
    el_wset(editor, EL_EDITOR, L"emacs");
    el_wset(editor, EL_HIST, history_w, history_lines);
    el_wset(editor, EL_ADDFN, L"roadmesh-complete", L"Complete a command or title", complete);
    bind_keys();
    // The person's own keys.
    el_source(editor, NULL);

    pthread_t thread;
    sigset_t all, present;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &present);
    int failure = pthread_create(&thread, NULL, edit, NULL);
    pthread_sigmask(SIG_SETMASK, &present, NULL);
    if (failure) {
        editor = NULL;
        return false;
    }
    pthread_detach(thread);
    return true;
}

enum ceditline_event ceditline_next(void)
{
    if (!editor) {
        typed_read = typed_count;
        return ceditline_edited;
    }
    give_turn(true);
    return event;
}

// MARK: The terminal

static struct termios before;
static volatile sig_atomic_t is_held;

void ceditline_hold_terminal(void)
{
    static int is_known;
    // After a shell had the terminal, it is in the mode of the shell.
    if (!is_held && tcgetattr(STDIN_FILENO, &before) != 0)
        return;
    if (!is_known)
        atexit(ceditline_release_terminal);
    is_known = 1;
    struct termios mode = before;
    // Ctrl-C and Ctrl-Z stay signals, which are handled. The signal of Ctrl-\ would end the program in this mode, so
    // that key does nothing.
    mode.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    mode.c_cc[VQUIT] = _POSIX_VDISABLE;
    mode.c_cc[VMIN] = 1;
    mode.c_cc[VTIME] = 0;
    is_held = 1;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &mode);
}

void ceditline_release_terminal(void)
{
    // In the background, the terminal belongs to the shell.
    if (is_held && tcgetpgrp(STDIN_FILENO) == getpgrp())
        tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
    is_held = 0;
}
