// SPDX-License-Identifier: Apache-2.0
//
// A controller's own answers, over a raw socket. The kernel's security filter (net/bluetooth/hci_sock.c) lets a process
// without CAP_NET_RAW send Read RSSI and Read Local Version, and receive Command Complete and Command Status.

#define _GNU_SOURCE // htole16 with -std=c11

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <endian.h>
#include <string.h>

#include "hci.h"

int cbluez_hci_open_answers(uint16_t index, uint16_t opcode) {
    const struct hci_filter filter = {
        .type_mask = 1u << HCI_EVENT_PKT,
        .event_mask = {1u << EVT_CMD_COMPLETE | 1u << EVT_CMD_STATUS, 0},
        .opcode = htole16(opcode),
    };
    return hci_open_raw(index, &filter);
}

int cbluez_hci_request(int hci, uint16_t opcode) {
    return hci_send_command(hci, opcode, NULL, 0);
}

int cbluez_hci_request_rssi(int hci, uint16_t handle) {
    uint8_t parameters[2];
    hci_put_le16(parameters, handle);
    return hci_send_command(hci, CBLUEZ_READ_RSSI, parameters, sizeof parameters);
}

int cbluez_hci_read_answer(int hci, cbluez_hci_answer *answer) {
    uint8_t frame[1 + HCI_MAX_EVENT_SIZE];
    ssize_t count = hci_receive(hci, frame, sizeof frame);
    *answer = (cbluez_hci_answer){0};
    if (count < 0) return (int)count;
    if (count < 7 || frame[0] != HCI_EVENT_PKT) return 0;
    // Command Status: packet type, event, length, status, number of commands allowed, opcode.
    if (frame[1] == EVT_CMD_STATUS) {
        answer->status = frame[3];
        answer->opcode = hci_read_le16(frame + 5);
        return 1;
    }
    // Command Complete: packet type, event, length, number of commands allowed, opcode, status, return parameters.
    if (frame[1] != EVT_CMD_COMPLETE) return 0;
    answer->opcode = hci_read_le16(frame + 4);
    answer->status = frame[6];
    size_t rest = (size_t)count - 7;
    answer->count = (uint8_t)(rest < sizeof answer->bytes ? rest : sizeof answer->bytes);
    memcpy(answer->bytes, frame + 7, answer->count);
    return 1;
}

bool cbluez_hci_rssi(const cbluez_hci_answer *answer, uint16_t *handle, int8_t *rssi) {
    *handle = CBLUEZ_HANDLE_UNKNOWN;
    *rssi = CBLUEZ_RSSI_UNKNOWN;
    if (answer->opcode != CBLUEZ_READ_RSSI) return false;
    if (answer->count >= 3) {
        *handle = hci_read_le16(answer->bytes);
        *rssi = (int8_t)answer->bytes[2];
    }
    return true;
}
