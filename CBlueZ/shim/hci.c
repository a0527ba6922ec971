// SPDX-License-Identifier: Apache-2.0
//
// Sockets of the kernel's raw and management channels, and how packets are sent and received.

#define _GNU_SOURCE // MSG_NOSIGNAL with -std=c11

#include "hci.h"

#include <bluetooth/bluetooth.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// The kernel copies these by size. A header with another size must not compile.
_Static_assert(sizeof(struct sockaddr_hci) == 6, "struct sockaddr_hci is the kernel's");
_Static_assert(sizeof(struct hci_filter) == 16, "struct hci_filter is the kernel's struct hci_ufilter");

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

int hci_open_raw(uint16_t index, const struct hci_filter *filter) {
    int hci = hci_open_socket(index, HCI_CHANNEL_RAW);
    if (hci < 0) return hci;
    if (setsockopt(hci, SOL_HCI, HCI_FILTER, filter, sizeof *filter) < 0) {
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

int hci_send_command(int hci, uint16_t opcode, const uint8_t *parameters, uint8_t count) {
    uint8_t frame[4 + UINT8_MAX] = {HCI_COMMAND_PKT, (uint8_t)opcode, (uint8_t)(opcode >> 8), count};
    if (count > 0) memcpy(frame + 4, parameters, count);
    ssize_t sent = hci_send(hci, frame, 4u + count);
    return sent < 0 ? (int)sent : 0;
}
