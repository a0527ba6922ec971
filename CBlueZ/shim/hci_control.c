// SPDX-License-Identifier: Apache-2.0
//
// What the kernel knows of a controller, and its default parameters for it, over the management interface. Reading them
// needs no capability.

#define _GNU_SOURCE // with -std=c11

#include <bluetooth/bluetooth.h>
#include <errno.h>
#include <string.h>

#include "address.h"
#include "hci.h"

// From BlueZ's doc/mgmt-api.txt. Setting needs CAP_NET_ADMIN, the rest needs no capability.
#define MGMT_READ_INFO 0x0004
#define MGMT_READ_INFO_SIZE 280
#define MGMT_READ_EXPERIMENTAL 0x0049
#define MGMT_LOAD_PARAMETERS 0x0035
#define MGMT_READ_DEFAULTS 0x004b
#define MGMT_SET_DEFAULTS 0x004c
#define MGMT_EXPERIMENTAL_FEATURE 20
#define SETTING_ADVERTISING (1 << 10)
#define ANSWER_SIZE 512

// 671b10b5-42c0-4696-9227-eb28d1b049d6 in wire order. The kernel lists it if a controller can be central and peripheral
// at once and its driver confirms that (net/bluetooth/mgmt.c, read_exp_features_info).
static const uint8_t simultaneous_roles[16] = {
    0xd6, 0x49, 0xb0, 0xd1, 0x28, 0xeb, 0x27, 0x92, 0x96, 0x46, 0xc0, 0x42, 0xb5, 0x10, 0x1b, 0x67,
};

// Types in the two commands for defaults. Each list entry is a type (2 bytes), a length (1) and a value (2,
// little-endian).
#define ADVERTISING_MIN 0x000a
#define ADVERTISING_MAX 0x000b
#define CONNECTION_MIN 0x0017
#define CONNECTION_MAX 0x0018
#define SUPERVISION_TIMEOUT 0x001a
#define DEFAULTS 5
#define DEFAULT_HEADER 3
#define DEFAULT_SIZE (DEFAULT_HEADER + 2)

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
    uint8_t answer[ANSWER_SIZE];
    *facts = (cbluez_hci_facts){0};
    ssize_t count = hci_ask_kernel(control, index, MGMT_READ_INFO, NULL, 0, answer, sizeof answer);
    if (count < 0) return (int)count;
    if (count < MGMT_READ_INFO_SIZE) return -EBADMSG;
    // After the address: version, manufacturer, settings.
    const uint8_t *info = answer + MGMT_ANSWER + sizeof(bdaddr_t);
    facts->version = info[0];
    facts->manufacturer = hci_read_le16(info + 1);
    // After them: supported settings, then current ones.
    facts->advertises_itself = (hci_read_le16(info + 7) & SETTING_ADVERTISING) != 0;
    count = hci_ask_kernel(control, index, MGMT_READ_EXPERIMENTAL, NULL, 0, answer, sizeof answer);
    if (count > 0) take_roles(answer + MGMT_ANSWER, (size_t)count, facts);
    return 0;
}

// Where to store a value of this type; NULL if the caller does not want it.
static uint16_t *field(cbluez_hci_defaults *defaults, uint16_t type) {
    switch (type) {
    case ADVERTISING_MIN: return &defaults->advertising_min;
    case ADVERTISING_MAX: return &defaults->advertising_max;
    case CONNECTION_MIN: return &defaults->connection_min;
    case CONNECTION_MAX: return &defaults->connection_max;
    case SUPERVISION_TIMEOUT: return &defaults->supervision_timeout;
    default: return NULL;
    }
}

int cbluez_hci_read_defaults(int control, uint16_t index, cbluez_hci_defaults *defaults) {
    uint8_t answer[ANSWER_SIZE];
    *defaults = (cbluez_hci_defaults){0};
    ssize_t count = hci_ask_kernel(control, index, MGMT_READ_DEFAULTS, NULL, 0, answer, sizeof answer);
    if (count < 0) return (int)count;
    const uint8_t *entry = answer + MGMT_ANSWER;
    int found = 0;
    while (count >= DEFAULT_HEADER && count >= DEFAULT_HEADER + entry[2]) {
        uint16_t *value = field(defaults, hci_read_le16(entry));
        if (value && entry[2] == sizeof *value) {
            *value = hci_read_le16(entry + DEFAULT_HEADER);
            found++;
        }
        count -= DEFAULT_HEADER + entry[2];
        entry += DEFAULT_HEADER + entry[2];
    }
    return found == DEFAULTS ? 0 : -EBADMSG;
}

int cbluez_hci_set_defaults(int control, uint16_t index, const cbluez_hci_defaults *defaults) {
    static const uint16_t types[DEFAULTS] = {
        ADVERTISING_MIN, ADVERTISING_MAX, CONNECTION_MIN, CONNECTION_MAX, SUPERVISION_TIMEOUT,
    };
    cbluez_hci_defaults values = *defaults;
    uint8_t parameters[DEFAULTS * DEFAULT_SIZE];
    uint8_t answer[ANSWER_SIZE];
    for (size_t i = 0; i < DEFAULTS; i++) {
        uint8_t *entry = parameters + i * DEFAULT_SIZE;
        hci_put_le16(entry, types[i]);
        entry[2] = sizeof(uint16_t);
        hci_put_le16(entry + DEFAULT_HEADER, *field(&values, types[i]));
    }
    ssize_t count = hci_ask_kernel(control, index, MGMT_SET_DEFAULTS, parameters, sizeof parameters, answer, sizeof answer);
    return count < 0 ? (int)count : 0;
}

int cbluez_hci_load_parameters(
    int control, uint16_t index, const cbluez_address *peer, const cbluez_hci_defaults *defaults) {
    // A list of one entry: address and its type, intervals, latency, timeout.
    uint8_t list[2 + 7 + 8] = {1, 0};
    uint8_t answer[ANSWER_SIZE];
    const bdaddr_t address = cbluez_address_to_kernel(peer);
    memcpy(list + 2, &address, sizeof address);
    list[8] = peer->kind;
    hci_put_le16(list + 9, defaults->connection_min);
    hci_put_le16(list + 11, defaults->connection_max);
    hci_put_le16(list + 15, defaults->supervision_timeout);
    ssize_t count = hci_ask_kernel(control, index, MGMT_LOAD_PARAMETERS, list, sizeof list, answer, sizeof answer);
    return count < 0 ? (int)count : 0;
}

int cbluez_hci_open_control(void) {
    return hci_open_socket(HCI_DEV_NONE, HCI_CHANNEL_CONTROL);
}
