// SPDX-License-Identifier: Apache-2.0
//
// The kernel's state of the device's clock. Swift's Glibc leaves <sys/timex.h> out.

#ifndef CCLOCK_H
#define CCLOCK_H

/// Whether a time server synchronises the clock: 1, 0, or a negative errno. Uses adjtimex(2), which changes nothing
/// here and needs no capability.
int cclock_is_kept(void);

#endif
