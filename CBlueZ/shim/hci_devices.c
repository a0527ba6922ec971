// SPDX-License-Identifier: Apache-2.0
//
// Adapters as the kernel lists them.

#define _GNU_SOURCE // strnlen with -std=c11

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "address.h"
#include "hci.h"

// The kernel copies these by size. A header with another size must not compile.
_Static_assert(sizeof(struct hci_dev_req) == 8, "struct hci_dev_req is the kernel's");
_Static_assert(sizeof(struct hci_dev_list_req) == 4, "struct hci_dev_list_req is the kernel's");
_Static_assert(sizeof(struct hci_dev_info) == 92, "struct hci_dev_info is the kernel's");
_Static_assert(sizeof(struct hci_conn_info) == 16, "struct hci_conn_info is the kernel's");

// LMP features, page 0, byte 4 (Core specification, Vol 2, Part C, 3.3).
#define FEATURE_LE 0x40

// Maximum number of adapters that one listing asks the kernel for.
#define ADAPTERS 32
// Maximum number of links of one adapter. A controller has room for fewer.
#define LINKS 64

// The kernel's own link types (include/net/bluetooth/hci.h). The header for programs has only the older ones.
#define LE_LINK 0x80

static cbluez_hci_device device_from_kernel(const struct hci_dev_info *info) {
    cbluez_hci_device device = {
        .index = info->dev_id,
        .address = cbluez_address_from_kernel(&info->bdaddr, CBLUEZ_ADDRESS_PUBLIC),
        .is_up = (info->flags >> HCI_UP & 1) != 0,
        .has_le = (info->features[4] & FEATURE_LE) != 0,
    };
    memcpy(device.name, info->name, strnlen(info->name, sizeof device.name - 1));
    return device;
}

int cbluez_hci_devices(cbluez_hci_device *devices, size_t capacity) {
    union {
        struct hci_dev_list_req request;
        uint8_t room[sizeof(struct hci_dev_list_req) + ADAPTERS * sizeof(struct hci_dev_req)];
    } list = {.request = {.dev_num = ADAPTERS}};
    int hci = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, BTPROTO_HCI);
    if (hci < 0) return -errno;
    if (ioctl(hci, HCIGETDEVLIST, &list) < 0) {
        int error = -errno;
        close(hci);
        return error;
    }
    size_t count = 0;
    for (size_t i = 0; i < list.request.dev_num && i < ADAPTERS && count < capacity; i++) {
        struct hci_dev_info info = {.dev_id = list.request.dev_req[i].dev_id};
        if (ioctl(hci, HCIGETDEVINFO, &info) < 0) continue; // unplugged since the listing
        devices[count++] = device_from_kernel(&info);
    }
    close(hci);
    return (int)count;
}

// Finds the LE link to a peer. Returns 1 if there is one, 0 if not, or a negative errno.
static int find_link(uint16_t index, const cbluez_address *peer, struct hci_conn_info *found) {
    union {
        struct hci_conn_list_req request;
        uint8_t room[sizeof(struct hci_conn_list_req) + LINKS * sizeof(struct hci_conn_info)];
    } list = {.request = {.dev_id = index, .conn_num = LINKS}};
    int hci = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, BTPROTO_HCI);
    if (hci < 0) return -errno;
    bdaddr_t address = cbluez_address_to_kernel(peer);
    int result = ioctl(hci, HCIGETCONNLIST, &list) < 0 ? -errno : 0;
    for (size_t i = 0; result == 0 && i < list.request.conn_num && i < LINKS; i++) {
        const struct hci_conn_info *link = &list.request.conn_info[i];
        if (bacmp(&link->bdaddr, &address) != 0 || link->type != LE_LINK) continue;
        *found = *link;
        result = 1;
    }
    close(hci);
    return result;
}

int cbluez_hci_is_incoming(uint16_t index, const cbluez_address *peer) {
    struct hci_conn_info link;
    int result = find_link(index, peer, &link);
    return result == 1 ? !link.out : result;
}

int cbluez_hci_link_handle(uint16_t index, const cbluez_address *peer) {
    struct hci_conn_info link;
    int result = find_link(index, peer, &link);
    return result == 1 ? link.handle : result == 0 ? -ENOENT : result;
}
