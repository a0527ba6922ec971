// SPDX-License-Identifier: Apache-2.0
//
// What the kernel knows of the device's clock; Swift's Glibc leaves <sys/timex.h> out.

#ifndef CCLOCK_H
#define CCLOCK_H

/// Whether a time server keeps the clock (adjtimex(2), which changes nothing here and takes no capability): 1, 0, or a
/// negative errno.
int cclock_is_kept(void);

#endif
