// SPDX-License-Identifier: Apache-2.0
//
// Notifications of a service to the system's service manager (sd_notify(3)), over libsystemd.

#ifndef CSYSTEMD_SUPERVISION_H
#define CSYSTEMD_SUPERVISION_H

#include <stdint.h>

#if !__has_include(<systemd/sd-daemon.h>)
#error "RoadMesh needs the package libsystemd-dev: sudo apt-get install libsystemd-dev"
#endif

/// Sends a notification, such as `READY=1`. Returns 1 if it was sent, 0 if no manager supervises this process, or a
/// negative errno.
int csystemd_supervision_tell(const char *state);
/// How often this process must send `WATCHDOG=1`, in microseconds; 0: never.
uint64_t csystemd_supervision_watchdog(void);

#endif
