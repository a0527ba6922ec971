// SPDX-License-Identifier: Apache-2.0
//
// Which process bluetoothd is. The bus knows it from the kernel; the name of a process proves nothing.

#define _GNU_SOURCE // clock_gettime with -std=c11

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "bus.h"

enum { PROCESS, USER, QUESTIONS };

static int64_t now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static int ask(cdbus *bus, int timeout_ms) {
    static const char *const members[QUESTIONS] = {"GetConnectionUnixProcessID", "GetConnectionUnixUser"};
    for (int tag = 0; tag < QUESTIONS; tag++) {
        int64_t serial = cdbus_send_call(bus, cdbus_new_bus_call(members[tag], BLUEZ), tag, timeout_ms);
        if (serial < 0) return (int)serial;
    }
    return 0;
}

static int error_of(const cdbus_item *reply) {
    if (strcmp(reply->error_name, DBUS_ERROR_NAME_HAS_NO_OWNER) == 0) return -ESRCH;
    return strcmp(reply->error_name, DBUS_ERROR_NO_REPLY) == 0 ? -ETIMEDOUT : -EIO;
}

// Takes what has come. The number of answers, or a negative errno.
static int take(cdbus *bus, uint32_t answers[QUESTIONS]) {
    cdbus_item item;
    int count = 0;
    int result;
    while ((result = cdbus_next(bus, &item)) > 0) {
        if (item.kind == CDBUS_CLOSED) return -ENOTCONN;
        if (item.kind != CDBUS_REPLY) continue;
        if (item.error_name) return error_of(&item);
        if (!dbus_message_get_args(item.message, NULL, DBUS_TYPE_UINT32, &answers[item.tag], DBUS_TYPE_INVALID)) {
            return -EIO;
        }
        count++;
    }
    return result < 0 ? result : count;
}

static int await(cdbus *bus, int timeout_ms, uint32_t answers[QUESTIONS]) {
    int64_t end = now_ms() + timeout_ms;
    int result = ask(bus, timeout_ms);
    for (int count = 0; result >= 0 && count < QUESTIONS;) {
        cdbus_process(bus);
        result = take(bus, answers);
        if (result > 0) count += result;
        int64_t left = end - now_ms();
        if (result < 0 || count == QUESTIONS) break;
        if (left <= 0) return -ETIMEDOUT;
        int due = cdbus_next_deadline_ms(bus);
        struct pollfd state = {.fd = cdbus_descriptor(bus), .events = POLLIN};
        if (cdbus_wants_write(bus)) state.events |= POLLOUT;
        poll(&state, 1, due >= 0 && due < left ? due : (int)left);
    }
    return result < 0 ? result : 0;
}

int cbluez_bus_process_of_bluez(const char *address, int timeout_ms, pid_t *process, uid_t *user) {
    cdbus *bus;
    int result = cdbus_open(address ? address : cdbus_system_address(), &bus, NULL);
    if (result < 0) return result;
    uint32_t answers[QUESTIONS] = {0};
    result = await(bus, timeout_ms, answers);
    cdbus_close(bus);
    if (result == 0) {
        *process = (pid_t)answers[PROCESS];
        *user = (uid_t)answers[USER];
    }
    return result;
}
