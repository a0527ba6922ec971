// SPDX-License-Identifier: Apache-2.0
//
// What can be read of a controller: over the kernel's management interface without a capability, and from the controller
// itself over a raw socket.

#define _GNU_SOURCE // with -std=c11

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

// Events of other adapters that may wait before the answer, which the kernel gives within `send`.
#define SKIPPED 16

// 671b10b5-42c0-4696-9227-eb28d1b049d6 in the order of the wire: the kernel lists it for a controller that is central and
// peripheral at once, and whose driver vouches for that (net/bluetooth/mgmt.c, read_exp_features_info).
static const uint8_t simultaneous_roles[16] = {
    0xd6, 0x49, 0xb0, 0xd1, 0x28, 0xeb, 0x27, 0x92, 0x96, 0x46, 0xc0, 0x42, 0xb5, 0x10, 0x1b, 0x67,
};

static uint32_t read_le32(const uint8_t *bytes) {
    return (uint32_t)hci_read_le16(bytes) | (uint32_t)hci_read_le16(bytes + 2) << 16;
}

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

int cbluez_hci_read_facts(int control, uint16_t index, cbluez_hci_facts *facts) {
    uint8_t answer[512];
    *facts = (cbluez_hci_facts){0};
    ssize_t count = ask(control, index, MGMT_READ_INFO, answer, sizeof answer);
    if (count < 0) return (int)count;
    if (count < MGMT_READ_INFO_SIZE) return -EBADMSG;
    // Behind the address: version, manufacturer, supported settings, current settings.
    const uint8_t *info = answer + MGMT_ANSWER + sizeof(bdaddr_t);
    facts->version = info[0];
    facts->manufacturer = hci_read_le16(info + 1);
    facts->supported_settings = read_le32(info + 3);
    facts->current_settings = read_le32(info + 7);
    count = ask(control, index, MGMT_READ_EXPERIMENTAL, answer, sizeof answer);
    if (count > 0) take_roles(answer + MGMT_ANSWER, (size_t)count, facts);
    return 0;
}

int cbluez_hci_open_control(void) {
    return hci_open_socket(HCI_DEV_NONE, HCI_CHANNEL_CONTROL);
}

int cbluez_hci_open_answers(uint16_t index) {
    int hci = hci_open_socket(index, HCI_CHANNEL_RAW);
    if (hci < 0) return hci;
    const struct hci_filter filter = {
        .type_mask = 1u << HCI_EVENT_PKT,
        .event_mask = {1u << EVT_CMD_COMPLETE | 1u << EVT_CMD_STATUS, 0},
    };
    if (setsockopt(hci, SOL_HCI, HCI_FILTER, &filter, sizeof filter) < 0) {
        int error = -errno;
        close(hci);
        return error;
    }
    return hci;
}

int cbluez_hci_request(int hci, uint16_t opcode) {
    const uint8_t request[] = {HCI_COMMAND_PKT, (uint8_t)opcode, (uint8_t)(opcode >> 8), 0};
    ssize_t sent = hci_send(hci, request, sizeof request);
    return sent < 0 ? (int)sent : 0;
}

int cbluez_hci_read_answer(int hci, cbluez_hci_answer *answer) {
    uint8_t frame[1 + HCI_MAX_EVENT_SIZE];
    ssize_t count = hci_receive(hci, frame, sizeof frame);
    *answer = (cbluez_hci_answer){0};
    if (count < 0) return (int)count;
    if (count < 7 || frame[0] != HCI_EVENT_PKT) return 0;
    // Command Status: packet type, event, length, status, commands allowed, opcode.
    if (frame[1] == EVT_CMD_STATUS) {
        answer->status = frame[3];
        answer->opcode = hci_read_le16(frame + 5);
        return 1;
    }
    // Command Complete: packet type, event, length, commands allowed, opcode, status, and what was asked for.
    if (frame[1] != EVT_CMD_COMPLETE) return 0;
    answer->opcode = hci_read_le16(frame + 4);
    answer->status = frame[6];
    size_t rest = (size_t)count - 7;
    answer->count = (uint8_t)(rest < sizeof answer->bytes ? rest : sizeof answer->bytes);
    memcpy(answer->bytes, frame + 7, answer->count);
    return 1;
}
