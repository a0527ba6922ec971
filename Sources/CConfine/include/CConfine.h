// SPDX-License-Identifier: Apache-2.0
//
// Takes rights from this process and its children: capabilities (capabilities(7)), folders (landlock(7)) and network
// sockets (seccomp(2)). Every function returns 0 or a negative errno.

#ifndef CCONFINE_H
#define CCONFINE_H

#include <stdbool.h>
#include <stddef.h>

/// Clears the inheritable and the ambient capabilities. This process keeps its own, and programs that it starts get
/// none. A program that root starts still gets root's capabilities.
int cconfine_keep_capabilities_here(void);

/// Drops all capabilities, including those that root gets when it starts a program.
int cconfine_drop_capabilities(void);

/// Denies access to `folder` and everything in it, except to the folders `allowed`, for this process and its children.
/// Folders that are created later next to `folder` or its parents are denied as well. With `reads_only`, this process
/// can write and create nothing anywhere. Returns -EOPNOTSUPP if the kernel has no Landlock.
int cconfine_deny_folder(const char *folder, const char *const *allowed, size_t count, bool reads_only);

/// Closes all files except standard input, output and error. Returns -EOPNOTSUPP if the kernel lacks the call (before
/// Linux 5.9) or a unit denies it.
int cconfine_close_files(void);

/// Denies new sockets. With `keeps_local`, Unix and netlink sockets stay allowed. Returns -EOPNOTSUPP if the kernel or
/// this architecture has no filter.
int cconfine_deny_sockets(bool keeps_local);

#endif
