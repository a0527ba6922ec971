// SPDX-License-Identifier: Apache-2.0

// MQTT by libmosquitto, and what the kernel knows of its connection.

#ifndef CMOSQUITTO_H
#define CMOSQUITTO_H

#include <mosquitto.h>
#include <stdint.h>

// Bytes that a TCP connection has carried, each way, with those of TCP and IP: what somebody is billed for. Returns 0, or -1 with
// errno where the kernel does not tell.
int cmosquitto_carried(int descriptor, uint64_t *sent, uint64_t *received);

#endif
