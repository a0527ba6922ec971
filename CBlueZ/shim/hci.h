// SPDX-License-Identifier: Apache-2.0
//
// Shared by the files of the HCI half: sockets of the kernel's raw and management channels.

#ifndef CBLUEZ_HCI_H
#define CBLUEZ_HCI_H

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <stdint.h>
#include <sys/types.h>

#include "CBlueZ.h"

/// A non-blocking socket on one of the kernel's HCI channels (HCI_CHANNEL_…), or a negative errno.
int hci_open_socket(uint16_t index, uint16_t channel);
/// A non-blocking raw socket on an adapter that receives what the filter passes, or a negative errno.
int hci_open_raw(uint16_t index, const struct hci_filter *filter);
/// Sends all bytes. Returns their number, or a negative errno.
ssize_t hci_send(int hci, const void *bytes, size_t count);
/// Sends one command. Returns 0, or a negative errno.
int hci_send_command(int hci, uint16_t opcode, const uint8_t *parameters, uint8_t count);
/// Receives one packet. Returns its length, or a negative errno.
ssize_t hci_receive(int hci, void *bytes, size_t capacity);

/// Header of a packet of the management channel: event or command, index, length. A reply then has opcode and status.
#define MGMT_HEADER 6
#define MGMT_ANSWER (MGMT_HEADER + 3)
/// Room for the parameters of a command.
#define MGMT_PARAMETERS 96

/// Sends a command of the management channel. 0, or a negative errno.
int hci_tell_kernel(int control, uint16_t index, uint16_t opcode, const uint8_t *parameters, uint16_t count);
/// Reads one waiting packet. Returns its length if it is the reply to this command, 0 if it is another packet, -EAGAIN
/// if none waits, or the negative errno of a refusal: -EOPNOTSUPP if the kernel does not know the command or has
/// failed.
ssize_t hci_read_kernel(int control, uint16_t index, uint16_t opcode, uint8_t *answer, size_t capacity);
/// Sends a command that the kernel answers at once, and reads the reply. Returns the number of bytes after the reply's
/// status, or a negative errno.
ssize_t hci_ask_kernel(
    int control, uint16_t index, uint16_t opcode, const uint8_t *parameters, uint16_t count, uint8_t *answer,
    size_t capacity);

static inline uint16_t hci_read_le16(const uint8_t *bytes) {
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline void hci_put_le16(uint8_t *bytes, uint16_t value) {
    bytes[0] = (uint8_t)value;
    bytes[1] = (uint8_t)(value >> 8);
}

#endif
