// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *const name = "security.capability";

int clinux_capability_read(const char *path, unsigned char *bytes, size_t size) {
    ssize_t count = getxattr(path, name, bytes, size);
    if (count >= 0) return (int)count;
    return errno == ENODATA ? 0 : -errno;
}

int clinux_capability_write(const char *path, const unsigned char *bytes, size_t count) {
    int result = count > 0 ? setxattr(path, name, bytes, count, 0) : removexattr(path, name);
    return result == 0 ? 0 : -errno;
}

int clinux_capability_try(const char *folder, const unsigned char *bytes, size_t count) {
    int file = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0) return -errno;
    int result = fsetxattr(file, name, bytes, count, 0) == 0 ? 0 : -errno;
    close(file);
    return result;
}
