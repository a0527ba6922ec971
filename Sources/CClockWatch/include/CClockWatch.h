// SPDX-License-Identifier: Apache-2.0
//
// Detects that the device's clock was set. Swift's Glibc leaves <sys/timerfd.h> out.

#ifndef CCLOCK_WATCH_H
#define CCLOCK_WATCH_H

/// Returns a descriptor that becomes readable when the clock is set (timerfd_create(2)), or a negative errno.
int cclock_watch_open(void);

/// Consumes that event, and arms the descriptor again. Returns 0, or a negative errno.
int cclock_watch_again(int descriptor);

#endif
