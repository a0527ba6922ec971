// SPDX-License-Identifier: Apache-2.0

#include "CLinux.h"

#include <errno.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Arms a timer that never ends. The kernel cancels it when the clock is set. */
static int arm(int descriptor) {
    struct itimerspec never = {.it_value = {.tv_sec = INT32_MAX}};
    return timerfd_settime(descriptor, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) < 0 ? -errno : 0;
}

int clinux_clock_watch_open(void) {
    int descriptor = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (descriptor < 0) return -errno;
    int failure = arm(descriptor);
    if (failure == 0) return descriptor;
    close(descriptor);
    return failure;
}

int clinux_clock_watch_again(int descriptor) {
    uint64_t ends;
    /* ECANCELED: the clock was set. */
    if (read(descriptor, &ends, sizeof ends) < 0 && errno != ECANCELED && errno != EAGAIN) return -errno;
    return arm(descriptor);
}
