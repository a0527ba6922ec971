// SPDX-License-Identifier: Apache-2.0
//
// System calls of Linux that Swift's Glibc leaves out. Stateless: each function is one or a few calls, and returns a
// negative errno on failure.

#ifndef CLINUX_H
#define CLINUX_H

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/socket.h>

// MARK: Sockets

/// Accepts a waiting connection as a non-blocking descriptor, or returns a negative errno (accept4(2)).
int clinux_accept(int listener, struct sockaddr *address, socklen_t *length);

// MARK: The clock

/// Whether a time server synchronises the clock: 1, 0, or a negative errno. Uses adjtimex(2), which changes nothing
/// here and needs no capability.
int clinux_clock_is_kept(void);

/// Returns a descriptor that becomes readable when the clock is set (timerfd_create(2)), or a negative errno.
int clinux_clock_watch_open(void);

/// Consumes that event, and arms the descriptor again. Returns 0, or a negative errno.
int clinux_clock_watch_again(int descriptor);

// MARK: File capabilities (capabilities(7))

/// Reads a file's capabilities into `bytes`. Returns their length, 0 if the file has none, or a negative errno.
int clinux_capability_read(const char *path, unsigned char *bytes, size_t size);

/// Sets a file's capabilities; with 0 bytes removes them. Returns 0 or a negative errno. Needs CAP_SETFCAP.
int clinux_capability_write(const char *path, const unsigned char *bytes, size_t count);

/// Tests with an unnamed file whether a folder's file system supports capabilities. Returns 0 or a negative errno.
int clinux_capability_try(const char *folder, const unsigned char *bytes, size_t count);

// MARK: Rights that child programs do not get

/// Clears the inheritable and the ambient capabilities. This process keeps its own, and programs that it starts get
/// none. A program that root starts still gets root's capabilities.
int clinux_keep_capabilities_here(void);

/// Drops all capabilities, including those that root gets when it starts a program.
int clinux_drop_capabilities(void);

/// Denies access to `folder` and everything in it, except to the folders `allowed`, for this process and its children.
/// Folders that are created later next to `folder` or its parents are denied as well. With `reads_only`, this process
/// can write and create nothing anywhere. Returns -EOPNOTSUPP if the kernel has no Landlock or a container denies it.
int clinux_deny_folder(const char *folder, const char *const *allowed, size_t count, bool reads_only);

/// Closes all files except standard input, output and error. Returns -EOPNOTSUPP if the kernel lacks the call (before
/// Linux 5.9) or a unit denies it.
int clinux_close_files(void);

/// Lets a program that posix_spawn(3) starts inherit only descriptors below `first`. Returns 0 or an errno.
int clinux_spawn_close_from(posix_spawn_file_actions_t *actions, int first);

/// Denies new sockets. With `keeps_local`, Unix and netlink sockets stay allowed. Returns -EOPNOTSUPP if the kernel or
/// this architecture has no filter.
int clinux_deny_sockets(bool keeps_local);

#endif
