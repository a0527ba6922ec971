// SPDX-License-Identifier: Apache-2.0

#include "CReadline.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

// MARK: Keys

// What was typed and not read yet.
static unsigned char *typed;
static size_t typed_count, typed_read;

// readline asks for a byte that has not come: it is told that there is none.
static int next_byte(FILE *stream)
{
    (void)stream;
    return typed_read < typed_count ? typed[typed_read++] : EOF;
}

// Whether an escape sequence goes on, or Escape was pressed alone.
static int is_input_there(void) { return typed_read < typed_count; }

void creadline_feed(const unsigned char *bytes, size_t count)
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

static void draw_nothing(void) {}

// MARK: Lines

static enum creadline_event event;
static char *line;

static void take_line(char *entered)
{
    free(line);
    line = entered;
    event = entered ? creadline_entered : creadline_ended;
    if (!entered || !*entered)
        return;
    const HIST_ENTRY *last = history_length ? history_get(history_base + history_length - 1) : NULL;
    if (!last || strcmp(last->line, entered) != 0)
        add_history(entered);
}

const char *creadline_line(void) { return line ? line : ""; }
const char *creadline_prompt(void) { return rl_display_prompt ? rl_display_prompt : ""; }
const char *creadline_typed(void) { return rl_line_buffer ? rl_line_buffer : ""; }
size_t creadline_cursor(void) { return rl_point < 0 ? 0 : (size_t)rl_point; }

// MARK: Completion

static char **offered;
static size_t offered_count;

void creadline_offer(const char *const *lines, size_t count)
{
    for (size_t i = 0; i < offered_count; i++)
        free(offered[i]);
    free(offered);
    offered = calloc(count ? count : 1, sizeof *offered);
    offered_count = 0;
    for (size_t i = 0; offered && i < count; i++) {
        char *copy = strdup(lines[i]);
        if (copy)
            offered[offered_count++] = copy;
    }
}

static char *next_offered(const char *text, int state)
{
    static size_t next;
    (void)text;
    if (!state)
        next = 0;
    return next < offered_count ? strdup(offered[next++]) : NULL;
}

static char **complete(const char *text, int start, int end)
{
    (void)start;
    (void)end;
    rl_attempted_completion_over = 1;
    // It is a space again before each call.
    rl_completion_append_character = '\0';
    return rl_completion_matches(text, next_offered);
}

static void list(char **matches, int count, int longest)
{
    (void)matches;
    (void)count;
    (void)longest;
    event = creadline_listed;
}

// MARK: Running

void creadline_speak_utf8(void)
{
    if (setlocale(LC_CTYPE, "") && MB_CUR_MAX > 1)
        return;
    // readline asks the environment, again with each line. Which language the person reads is left as it is.
    const char *all = getenv("LC_ALL");
    if (all && *all) {
        setenv("LC_MESSAGES", all, 1);
        unsetenv("LC_ALL");
    }
    setenv("LC_CTYPE", "C.UTF-8", 1);
    setlocale(LC_CTYPE, "");
}

void creadline_begin(const char *prompt)
{
    rl_readline_name = "roadmesh";
    rl_outstream = fopen("/dev/null", "we");
    // Its words are the node's: no signals, no environment, no drawing, and no mode of the terminal's.
    rl_catch_signals = 0;
    rl_catch_sigwinch = 0;
    rl_change_environment = 0;
    rl_prep_term_function = NULL;
    rl_deprep_term_function = NULL;
    rl_redisplay_function = draw_nothing;
    rl_getc_function = next_byte;
    rl_input_available_hook = is_input_there;
    rl_attempted_completion_function = complete;
    rl_completion_display_matches_hook = list;
    rl_completer_word_break_characters = "";
    rl_completer_quote_characters = "";
    rl_completion_query_items = 0;
    // It would read to the end of what is pasted, and wait for it.
    rl_variable_bind("enable-bracketed-paste", "off");
    rl_initialize();
    rl_variable_bind("bell-style", "none");
    rl_variable_bind("completion-ignore-case", "on");
    rl_variable_bind("show-all-if-ambiguous", "on");
    rl_callback_handler_install(prompt, take_line);
}

enum creadline_event creadline_next(void)
{
    event = creadline_edited;
    while (event == creadline_edited && is_input_there())
        rl_callback_read_char();
    return event;
}

// MARK: The terminal

static struct termios before;
static volatile sig_atomic_t is_held;

void creadline_hold_terminal(void)
{
    static int is_known;
    // A shell that had it meanwhile has left it in its own mode.
    if (!is_held && tcgetattr(STDIN_FILENO, &before) != 0)
        return;
    if (!is_known)
        atexit(creadline_release_terminal);
    is_known = 1;
    struct termios mode = before;
    // Ctrl-C and Ctrl-Z stay signals, which are handled. Ctrl-\ would be one that leaves this mode behind: it is a key that
    // does nothing.
    mode.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    mode.c_cc[VQUIT] = _POSIX_VDISABLE;
    mode.c_cc[VMIN] = 1;
    mode.c_cc[VTIME] = 0;
    is_held = 1;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &mode);
}

void creadline_release_terminal(void)
{
    // In the background it is the shell's.
    if (is_held && tcgetpgrp(STDIN_FILENO) == getpgrp())
        tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
    is_held = 0;
}
