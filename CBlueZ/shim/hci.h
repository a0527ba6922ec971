// SPDX-License-Identifier: Apache-2.0
//
// What the files of the HCI half share.

#ifndef CBLUEZ_HCI_H
#define CBLUEZ_HCI_H

#include <stdint.h>
#include <sys/types.h>

/// A socket on one of an adapter's HCI channels. The descriptor, or a negative errno.
int hci_open_socket(uint16_t index, uint16_t channel);
/// send(2) and recv(2), again where a signal came in between. What they return, or a negative errno.
ssize_t hci_send(int hci, const void *bytes, size_t count);
ssize_t hci_receive(int hci, void *bytes, size_t capacity);

static inline uint16_t hci_le16(const uint8_t *bytes) {
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

#endif
