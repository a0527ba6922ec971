// SPDX-License-Identifier: Apache-2.0
//
// File capabilities (capabilities(7), "File capabilities") as the kernel's bytes. Swift's Glibc leaves <sys/xattr.h>
// out.

#ifndef CCAPABILITY_H
#define CCAPABILITY_H

#include <stddef.h>

/// Reads a file's capabilities into `bytes`. Returns their length, 0 if the file has none, or a negative errno.
int ccapability_read(const char *path, unsigned char *bytes, size_t size);

/// Sets a file's capabilities; with 0 bytes removes them. Returns 0 or a negative errno. Needs CAP_SETFCAP.
int ccapability_write(const char *path, const unsigned char *bytes, size_t count);

/// Tests with an unnamed file whether a folder's file system supports capabilities. Returns 0 or a negative errno.
int ccapability_try(const char *folder, const unsigned char *bytes, size_t count);

#endif
