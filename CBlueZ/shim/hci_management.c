// SPDX-License-Identifier: Apache-2.0
//
// Packets of the kernel's management channel (BlueZ's doc/mgmt-api.txt).

#define _GNU_SOURCE // with -std=c11

#include <errno.h>
#include <string.h>

#include "hci.h"

#define MGMT_COMMAND_COMPLETE 0x0001
#define MGMT_COMMAND_STATUS 0x0002
#define MGMT_BUSY 0x0a
#define MGMT_INVALID_PARAMETERS 0x0d
#define MGMT_NOT_POWERED 0x0f
#define MGMT_INVALID_INDEX 0x11
#define MGMT_PERMISSION_DENIED 0x14

// Maximum number of events of other adapters that may come before the answer, which the kernel gives within `send`.
#define SKIPPED 16

static int failure(uint8_t status) {
    switch (status) {
    case MGMT_BUSY: return -EBUSY;
    case MGMT_INVALID_PARAMETERS: return -EINVAL;
    case MGMT_NOT_POWERED: return -ENETDOWN;
    case MGMT_INVALID_INDEX: return -ENODEV;
    case MGMT_PERMISSION_DENIED: return -EPERM;
    default: return -EOPNOTSUPP;
    }
}

int hci_tell_kernel(int control, uint16_t index, uint16_t opcode, const uint8_t *parameters, uint16_t count) {
    uint8_t request[MGMT_HEADER + MGMT_PARAMETERS];
    if (count > MGMT_PARAMETERS) return -EMSGSIZE;
    hci_put_le16(request, opcode);
    hci_put_le16(request + 2, index);
    hci_put_le16(request + 4, count);
    if (count > 0) memcpy(request + MGMT_HEADER, parameters, count);
    ssize_t sent = hci_send(control, request, MGMT_HEADER + count);
    return sent < 0 ? (int)sent : 0;
}

ssize_t hci_read_kernel(int control, uint16_t index, uint16_t opcode, uint8_t *answer, size_t capacity) {
    ssize_t received = hci_receive(control, answer, capacity);
    if (received < 0) return received;
    if (received < MGMT_ANSWER || hci_read_le16(answer + 2) != index) return 0;
    if (hci_read_le16(answer + MGMT_HEADER) != opcode) return 0;
    uint16_t event = hci_read_le16(answer);
    if (event != MGMT_COMMAND_COMPLETE && event != MGMT_COMMAND_STATUS) return 0;
    uint8_t status = answer[MGMT_HEADER + 2];
    return status == 0 ? received : failure(status);
}

ssize_t hci_ask_kernel(
    int control, uint16_t index, uint16_t opcode, const uint8_t *parameters, uint16_t count, uint8_t *answer,
    size_t capacity) {
    int error = hci_tell_kernel(control, index, opcode, parameters, count);
    if (error < 0) return error;
    for (int skipped = 0; skipped < SKIPPED; skipped++) {
        ssize_t received = hci_read_kernel(control, index, opcode, answer, capacity);
        if (received != 0) return received < 0 ? received : received - MGMT_ANSWER;
    }
    return -EAGAIN;
}
