// SPDX-License-Identifier: Apache-2.0
//
// The capabilities of a program's file (capabilities(7), "File capabilities") as the bytes that the kernel keeps; Swift's
// Glibc leaves <sys/xattr.h> out.

#ifndef CCAPABILITY_H
#define CCAPABILITY_H

#include <stddef.h>

/// Reads them into `bytes`. Returns how many bytes they are, 0 where the file has none, or a negative errno.
int ccapability_read(const char *path, unsigned char *bytes, size_t size);

/// Gives a file these; with 0 bytes takes what it has. Returns 0 or a negative errno. Takes CAP_SETFCAP.
int ccapability_write(const char *path, const unsigned char *bytes, size_t count);

/// Whether the file system of a folder takes them, tried on a file without a name. Returns 0 or a negative errno.
int ccapability_try(const char *folder, const unsigned char *bytes, size_t count);

#endif
