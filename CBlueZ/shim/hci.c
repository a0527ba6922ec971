// SPDX-License-Identifier: Apache-2.0
//
// Adapters as the kernel lists them, and Read RSSI over a raw HCI socket. The kernel's security filter
// (net/bluetooth/hci_sock.c) lets a process without CAP_NET_RAW send Read RSSI, and see Command Complete and Command
// Status.

#define _GNU_SOURCE // MSG_NOSIGNAL, strnlen with -std=c11

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "address.h"
#include "hci.h"

// The kernel copies these by size; a header that disagrees with it must not compile.
_Static_assert(sizeof(struct sockaddr_hci) == 6, "struct sockaddr_hci is the kernel's");
_Static_assert(sizeof(struct hci_filter) == 16, "struct hci_filter is the kernel's struct hci_ufilter");
_Static_assert(sizeof(struct hci_dev_req) == 8, "struct hci_dev_req is the kernel's");
_Static_assert(sizeof(struct hci_dev_list_req) == 4, "struct hci_dev_list_req is the kernel's");
_Static_assert(sizeof(struct hci_dev_info) == 92, "struct hci_dev_info is the kernel's");
_Static_assert(sizeof(read_rssi_rp) == READ_RSSI_RP_SIZE, "the answer to Read RSSI is packed");

// LMP features, page 0, byte 4 (Core specification, Vol 2, Part C, 3.3).
#define FEATURE_BREDR_NOT_SUPPORTED 0x20
#define FEATURE_LE 0x40

#define READ_RSSI_OPCODE ((uint16_t)(OGF_STATUS_PARAM << 10 | OCF_READ_RSSI))

// The management interface (BlueZ's doc/mgmt-api.txt) has no installed header. Read Controller Information needs no
// capability; its answer is a header of 6 bytes, opcode and status, then 280 bytes.
#define MGMT_READ_INFO 0x0004
#define MGMT_COMMAND_COMPLETE 0x0001
#define MGMT_INFO_SIZE (6 + 3 + 280)
#define MGMT_INFO_MANUFACTURER (6 + 3 + 7)

// As many adapters as one listing asks the kernel for.
#define ADAPTERS 32

int hci_open_socket(uint16_t index, uint16_t channel) {
    int hci = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, BTPROTO_HCI);
    if (hci < 0) return -errno;
    struct sockaddr_hci address = {.hci_family = AF_BLUETOOTH, .hci_dev = index, .hci_channel = channel};
    if (bind(hci, (const struct sockaddr *)&address, sizeof address) < 0) {
        int error = -errno;
        close(hci);
        return error;
    }
    return hci;
}

ssize_t hci_send(int hci, const void *bytes, size_t count) {
    ssize_t sent;
    do {
        sent = send(hci, bytes, count, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}

ssize_t hci_receive(int hci, void *bytes, size_t capacity) {
    ssize_t received;
    do {
        received = recv(hci, bytes, capacity, 0);
    } while (received < 0 && errno == EINTR);
    return received < 0 ? -errno : received;
}

// The kernel answers this command within `send` itself, so the answer waits when `send` returns; before it at most the
// events of other adapters, of which a few are skipped.
static uint16_t manufacturer(int control, uint16_t index) {
    const uint8_t request[] = {
        MGMT_READ_INFO & 0xFF, MGMT_READ_INFO >> 8, (uint8_t)index, (uint8_t)(index >> 8), 0, 0,
    };
    if (control < 0 || hci_send(control, request, sizeof request) < 0) return 0xFFFF;
    for (int skipped = 0; skipped < 16; skipped++) {
        uint8_t answer[512];
        ssize_t count = hci_receive(control, answer, sizeof answer);
        if (count < 0) return 0xFFFF;
        if (count < MGMT_INFO_SIZE || hci_le16(answer) != MGMT_COMMAND_COMPLETE) continue;
        if (hci_le16(answer + 2) != index || hci_le16(answer + 6) != MGMT_READ_INFO) continue;
        return hci_le16(answer + MGMT_INFO_MANUFACTURER);
    }
    return 0xFFFF;
}

static cbluez_hci_device device_from_kernel(const struct hci_dev_info *info) {
    cbluez_hci_device device = {
        .index = info->dev_id,
        .address = cbluez_address_from_kernel(&info->bdaddr, CBLUEZ_ADDRESS_PUBLIC),
        .is_up = (info->flags >> HCI_UP & 1) != 0,
        .has_le = (info->features[4] & FEATURE_LE) != 0,
    };
    memcpy(device.name, info->name, strnlen(info->name, sizeof device.name - 1));
    // hci_get_dev_info: a dual-mode controller's numbers are those of its BR/EDR buffer.
    if (info->features[4] & FEATURE_BREDR_NOT_SUPPORTED) {
        device.acl_mtu = info->acl_mtu;
        device.acl_packets = info->acl_pkts;
    }
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
    int control = hci_open_socket(HCI_DEV_NONE, HCI_CHANNEL_CONTROL);
    size_t count = 0;
    for (size_t i = 0; i < list.request.dev_num && i < ADAPTERS && count < capacity; i++) {
        struct hci_dev_info info = {.dev_id = list.request.dev_req[i].dev_id};
        if (ioctl(hci, HCIGETDEVINFO, &info) < 0) continue; // unplugged since the listing
        devices[count] = device_from_kernel(&info);
        devices[count].manufacturer = manufacturer(control, info.dev_id);
        count++;
    }
    if (control >= 0) close(control);
    close(hci);
    return (int)count;
}

int cbluez_hci_open(uint16_t index) {
    int hci = hci_open_socket(index, HCI_CHANNEL_RAW);
    if (hci < 0) return hci;
    const struct hci_filter filter = {
        .type_mask = 1u << HCI_EVENT_PKT,
        .event_mask = {1u << EVT_CMD_COMPLETE | 1u << EVT_CMD_STATUS, 0},
        .opcode = htole16(READ_RSSI_OPCODE),
    };
    if (setsockopt(hci, SOL_HCI, HCI_FILTER, &filter, sizeof filter) < 0) {
        int error = -errno;
        close(hci);
        return error;
    }
    return hci;
}

int cbluez_hci_request_rssi(int hci, uint16_t handle) {
    const uint8_t request[] = {
        HCI_COMMAND_PKT, READ_RSSI_OPCODE & 0xFF, READ_RSSI_OPCODE >> 8, 2, (uint8_t)handle, (uint8_t)(handle >> 8),
    };
    ssize_t sent = hci_send(hci, request, sizeof request);
    return sent < 0 ? (int)sent : 0;
}

int cbluez_hci_read_rssi(int hci, uint16_t *handle, int8_t *rssi, uint8_t *status) {
    uint8_t frame[1 + HCI_MAX_EVENT_SIZE];
    ssize_t count = hci_receive(hci, frame, sizeof frame);
    if (count < 0) return (int)count;
    *handle = CBLUEZ_HANDLE_UNKNOWN;
    *rssi = CBLUEZ_RSSI_UNKNOWN;
    if (count < 3 || frame[0] != HCI_EVENT_PKT) return 0;
    // Command Status: packet type, event, length, status, commands allowed, opcode.
    if (count >= 7 && frame[1] == EVT_CMD_STATUS && hci_le16(frame + 5) == READ_RSSI_OPCODE) {
        *status = frame[3];
        return 1;
    }
    // Command Complete: packet type, event, length, commands allowed, opcode, status, handle, RSSI.
    if (count >= 7 && frame[1] == EVT_CMD_COMPLETE && hci_le16(frame + 4) == READ_RSSI_OPCODE) {
        *status = frame[6];
        if (count >= 6 + READ_RSSI_RP_SIZE) {
            *handle = hci_le16(frame + 7);
            *rssi = (int8_t)frame[9];
        }
        return 1;
    }
    return 0;
}
