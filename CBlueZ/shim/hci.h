// SPDX-License-Identifier: Apache-2.0
//
// What the files of the HCI half share: sockets of the kernel's raw and management channels.

#ifndef CBLUEZ_HCI_H
#define CBLUEZ_HCI_H

#include <stdint.h>
#include <sys/types.h>

#include "CBlueZ.h"

/// A non-blocking socket on one of the kernel's HCI channels (HCI_CHANNEL_…), or a negative errno.
int hci_open_socket(uint16_t index, uint16_t channel);
/// Sends all of it: the count, or a negative errno.
ssize_t hci_send(int hci, const void *bytes, size_t count);
/// Receives one packet: its count, or a negative errno.
ssize_t hci_receive(int hci, void *bytes, size_t capacity);

static inline uint16_t hci_read_le16(const uint8_t *bytes) {
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

#endif
