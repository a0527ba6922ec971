// SPDX-License-Identifier: Apache-2.0

#include "CLinux.h"

#include <errno.h>
#include <sys/timex.h>

int clinux_clock_is_kept(void) {
    struct timex kernel = {.modes = 0};
    int state = adjtimex(&kernel);
    if (state < 0) return -errno;
    return state != TIME_ERROR && !(kernel.status & STA_UNSYNC);
}
