// SPDX-License-Identifier: Apache-2.0
//
// What the kernel knows of a controller: its management interface tells that without a capability.

#define _GNU_SOURCE // with -std=c11

#include <bluetooth/bluetooth.h>
#include <errno.h>
#include <string.h>

#include "hci.h"

// BlueZ's doc/mgmt-api.txt; none of these needs a capability. A packet has a header of 6 bytes: event, index, length.
// Command Complete then has opcode and status.
#define MGMT_HEADER 6
#define MGMT_ANSWER (MGMT_HEADER + 3)
#define MGMT_COMMAND_COMPLETE 0x0001
#define MGMT_COMMAND_STATUS 0x0002
#define MGMT_READ_INFO 0x0004
#define MGMT_READ_INFO_SIZE 280
#define MGMT_READ_EXPERIMENTAL 0x0049
#define MGMT_EXPERIMENTAL_FEATURE 20
#define ANSWER_SIZE 512

// Events of other adapters that may wait before the answer, which the kernel gives within `send`.
#define SKIPPED 16

// 671b10b5-42c0-4696-9227-eb28d1b049d6 in the order of the wire: the kernel lists it for a controller that is central and
// peripheral at once, and whose driver vouches for that (net/bluetooth/mgmt.c, read_exp_features_info).
static const uint8_t simultaneous_roles[16] = {
    0xd6, 0x49, 0xb0, 0xd1, 0x28, 0xeb, 0x27, 0x92, 0x96, 0x46, 0xc0, 0x42, 0xb5, 0x10, 0x1b, 0x67,
};

// The bytes behind the answer's status, or a negative errno: -EOPNOTSUPP where the kernel refuses the command.
static ssize_t ask(int control, uint16_t index, uint16_t opcode, uint8_t *answer, size_t capacity) {
    const uint8_t request[MGMT_HEADER] = {
        (uint8_t)opcode, (uint8_t)(opcode >> 8), (uint8_t)index, (uint8_t)(index >> 8),
    };
    ssize_t sent = hci_send(control, request, sizeof request);
    if (sent < 0) return sent;
    for (int skipped = 0; skipped < SKIPPED; skipped++) {
        ssize_t count = hci_receive(control, answer, capacity);
        if (count < 0) return count;
        if (count < MGMT_ANSWER || hci_read_le16(answer + 2) != index) continue;
        if (hci_read_le16(answer + MGMT_HEADER) != opcode) continue;
        uint16_t event = hci_read_le16(answer);
        if (event == MGMT_COMMAND_STATUS) return -EOPNOTSUPP;
        if (event != MGMT_COMMAND_COMPLETE) continue;
        return answer[MGMT_HEADER + 2] == 0 ? count - MGMT_ANSWER : -EOPNOTSUPP;
    }
    return -EAGAIN;
}

static void take_roles(const uint8_t *bytes, size_t count, cbluez_hci_facts *facts) {
    if (count < 2) return;
    size_t features = hci_read_le16(bytes);
    facts->tells_roles = true;
    for (size_t i = 0; i < features && 2 + (i + 1) * MGMT_EXPERIMENTAL_FEATURE <= count; i++) {
        if (memcmp(bytes + 2 + i * MGMT_EXPERIMENTAL_FEATURE, simultaneous_roles, sizeof simultaneous_roles) == 0) {
            facts->has_both_roles = true;
        }
    }
}

int hci_read_info(int control, uint16_t index, cbluez_hci_facts *facts) {
    uint8_t answer[ANSWER_SIZE];
    *facts = (cbluez_hci_facts){0};
    ssize_t count = ask(control, index, MGMT_READ_INFO, answer, sizeof answer);
    if (count < 0) return (int)count;
    if (count < MGMT_READ_INFO_SIZE) return -EBADMSG;
    // Behind the address: version, manufacturer, and settings that nobody needs.
    const uint8_t *info = answer + MGMT_ANSWER + sizeof(bdaddr_t);
    facts->version = info[0];
    facts->manufacturer = hci_read_le16(info + 1);
    return 0;
}

int cbluez_hci_read_facts(int control, uint16_t index, cbluez_hci_facts *facts) {
    uint8_t answer[ANSWER_SIZE];
    int result = hci_read_info(control, index, facts);
    if (result < 0) return result;
    ssize_t count = ask(control, index, MGMT_READ_EXPERIMENTAL, answer, sizeof answer);
    if (count > 0) take_roles(answer + MGMT_ANSWER, (size_t)count, facts);
    return 0;
}

int cbluez_hci_open_control(void) {
    return hci_open_socket(HCI_DEV_NONE, HCI_CHANNEL_CONTROL);
}
