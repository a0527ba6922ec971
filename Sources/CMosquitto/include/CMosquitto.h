// SPDX-License-Identifier: Apache-2.0

// MQTT by libmosquitto, and the kernel's counters of its connection. The library is loaded when a broker is first used:
// with OpenSSL, which it needs, a program takes a sixth longer to start. After cmosquitto_load has succeeded, the
// functions that library.c lists may be called.

#ifndef CMOSQUITTO_H
#define CMOSQUITTO_H

#include <mosquitto.h>
#include <stdbool.h>
#include <stdint.h>

// Loads and initialises libmosquitto. Call it on one thread at a time until it succeeds. Returns false if the system
// has no libmosquitto 1.
bool cmosquitto_load(void);

// Whether TLS has failed because a certificate of the broker is not valid at the time of this device's clock. Call it
// in a log callback, while libmosquitto still has the connection. Returns false if the cause is unknown.
bool cmosquitto_is_out_of_time(struct mosquitto *m);

// Bytes that a TCP connection has carried in each direction, including the headers of TCP and IP, as a network provider
// bills them. Returns 0, or -1 with errno if the kernel does not report them.
int cmosquitto_carried(int descriptor, uint64_t *sent, uint64_t *received);

#endif
