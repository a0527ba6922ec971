// SPDX-License-Identifier: Apache-2.0
//
// Advertisements that the kernel accepts from this process, without bluetoothd (BlueZ's doc/mgmt-api.txt).

#define _GNU_SOURCE // with -std=c11

#include <errno.h>
#include <string.h>

#include "hci.h"

#define MGMT_READ_ADVERTISING 0x003d
#define MGMT_ADD_ADVERTISING CBLUEZ_ADD_ADVERTISING
#define MGMT_REMOVE_ADVERTISING CBLUEZ_REMOVE_ADVERTISING
// Supported flags (4), longest data (2), instances, how many are in use, and their numbers.
#define MAX_INSTANCES (MGMT_ANSWER + 6)
#define USED_INSTANCES (MAX_INSTANCES + 1)
// Instance, flags (4), duration (2), timeout (2), two lengths.
#define ADD_HEADER 11
#define FLAG_CONNECTABLE 1
#define ANSWER_SIZE 512

int cbluez_hci_advertising_instances(int control, uint16_t index, uint32_t *used) {
    uint8_t answer[ANSWER_SIZE];
    ssize_t count = hci_ask_kernel(control, index, MGMT_READ_ADVERTISING, NULL, 0, answer, sizeof answer);
    if (count < 0) return (int)count;
    count += MGMT_ANSWER;
    if (count <= USED_INSTANCES || count < USED_INSTANCES + 1 + answer[USED_INSTANCES]) return -EBADMSG;
    *used = 0;
    for (size_t each = 1; each <= answer[USED_INSTANCES]; each++) {
        uint8_t number = answer[USED_INSTANCES + each];
        if (number < 32) *used |= 1u << number;
    }
    return answer[MAX_INSTANCES];
}

int cbluez_hci_add_advertising(
    int control, uint16_t index, uint8_t instance, const cbluez_advertised *contents, uint16_t lifetime_s) {
    uint8_t parameters[MGMT_PARAMETERS] = {instance, FLAG_CONNECTABLE};
    if (contents->count > CBLUEZ_ADVERTISED || contents->response_count > CBLUEZ_ADVERTISED) return -EINVAL;
    hci_put_le16(parameters + 7, lifetime_s);
    parameters[9] = contents->count;
    parameters[10] = contents->response_count;
    memcpy(parameters + ADD_HEADER, contents->bytes, contents->count);
    memcpy(parameters + ADD_HEADER + contents->count, contents->response, contents->response_count);
    uint16_t size = (uint16_t)(ADD_HEADER + contents->count + contents->response_count);
    return hci_tell_kernel(control, index, MGMT_ADD_ADVERTISING, parameters, size);
}

int cbluez_hci_remove_advertising(int control, uint16_t index, uint8_t instance) {
    return hci_tell_kernel(control, index, MGMT_REMOVE_ADVERTISING, &instance, sizeof instance);
}

int cbluez_hci_read_reply(int control, uint16_t index, uint16_t opcode) {
    uint8_t answer[ANSWER_SIZE];
    ssize_t received = hci_read_kernel(control, index, opcode, answer, sizeof answer);
    return received > 0 ? 1 : (int)received;
}
