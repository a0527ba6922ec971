// SPDX-License-Identifier: Apache-2.0

#include "supervision.h"

#include <systemd/sd-daemon.h>

int csystemd_supervision_tell(const char *state) {
    return sd_notify(0, state);
}

uint64_t csystemd_supervision_watchdog(void) {
    uint64_t period = 0;
    return sd_watchdog_enabled(0, &period) > 0 ? period : 0;
}
