// SPDX-License-Identifier: Apache-2.0
//
// What a service tells the system's service manager (sd_notify(3)), by libsystemd.

#ifndef CSYSTEMD_SUPERVISION_H
#define CSYSTEMD_SUPERVISION_H

#include <stdint.h>

#if !__has_include(<systemd/sd-daemon.h>)
#error "RoadMesh needs the package libsystemd-dev: sudo apt-get install libsystemd-dev"
#endif

/// Tells something, such as `READY=1`. 1 where it was told, 0 where nobody supervises this process, or a negative errno.
int csystemd_supervision_tell(const char *state);
/// How often this process has to say `WATCHDOG=1`, in microseconds; 0 where it does not.
uint64_t csystemd_supervision_watchdog(void);

#endif
