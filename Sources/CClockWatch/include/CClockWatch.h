// SPDX-License-Identifier: Apache-2.0
//
// Whether somebody sets the device's clock; Swift's Glibc leaves <sys/timerfd.h> out.

#ifndef CCLOCK_WATCH_H
#define CCLOCK_WATCH_H

/// A descriptor that can be read when somebody sets the clock (timerfd_create(2)), or a negative errno.
int cclock_watch_open(void);

/// Takes that notice, and waits for the next. 0, or a negative errno.
int cclock_watch_again(int descriptor);

#endif
