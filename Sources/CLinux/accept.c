// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE

#include "CLinux.h"

#include <errno.h>

int clinux_accept(int listener, struct sockaddr *address, socklen_t *length)
{
    int descriptor;
    do {
        descriptor = accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    } while (descriptor < 0 && errno == EINTR);
    return descriptor < 0 ? -errno : descriptor;
}
