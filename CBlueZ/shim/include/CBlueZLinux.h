// SPDX-License-Identifier: Apache-2.0
//
// Linux calls that Swift's Glibc module leaves out.

#ifndef CBLUEZ_LINUX_H
#define CBLUEZ_LINUX_H

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/socket.h>

/// accept4(2) with SOCK_NONBLOCK and SOCK_CLOEXEC. Returns the descriptor, or a negative errno.
int cbluez_accept(int listener, struct sockaddr *address, socklen_t *length);

#endif
