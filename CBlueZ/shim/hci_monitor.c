// SPDX-License-Identifier: Apache-2.0
//
// The kernel's monitor channel (net/bluetooth/hci_mon.h in its sources): a copy of every HCI packet of every adapter.
// Only a process with CAP_NET_RAW may open it.

#define _GNU_SOURCE // SO_RCVBUFFORCE with -std=c11

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <errno.h>
#include <linux/filter.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "hci.h"

/// Opcode, adapter and length, each of 16 bits, little-endian.
#define MONITOR_HEADER 6
/// Packets that the kernel holds while the program does not run: a second of a busy adapter. Each takes about a KiB.
#define MONITOR_BUFFER (1 << 20)
/// The headers of ACL data and of L2CAP, and a command of L2CAP's signalling channel.
#define MONITOR_DATA (MONITOR_HEADER + 4 + 4 + CBLUEZ_MONITOR_SIGNAL)

// The filter reads 16 bits in network order, and the kernel writes the opcode in little-endian order.
#define SWAPPED(opcode) ((opcode) << 8)
#define ACCEPT(opcode, target) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SWAPPED(opcode), target, 0)

// The kernel cuts data, and drops packets of unknown contents, before it queues them: messages, keys of the management
// channel, and audio never reach the program.
static int attach_filter(int monitor) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0),
        ACCEPT(CBLUEZ_MONITOR_NEW_INDEX, 9),
        ACCEPT(CBLUEZ_MONITOR_DELETE_INDEX, 8),
        ACCEPT(CBLUEZ_MONITOR_COMMAND, 7),
        ACCEPT(CBLUEZ_MONITOR_EVENT, 6),
        ACCEPT(CBLUEZ_MONITOR_OPEN_INDEX, 5),
        ACCEPT(CBLUEZ_MONITOR_CLOSE_INDEX, 4),
        ACCEPT(CBLUEZ_MONITOR_INDEX_INFO, 3),
        ACCEPT(CBLUEZ_MONITOR_SENT_DATA, 3),
        ACCEPT(CBLUEZ_MONITOR_RECEIVED_DATA, 2),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, MONITOR_HEADER + CBLUEZ_MONITOR_BYTES),
        BPF_STMT(BPF_RET | BPF_K, MONITOR_DATA),
    };
    const struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    return setsockopt(monitor, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) < 0 ? -errno : 0;
}

int cbluez_monitor_prepare(int monitor) {
    const int yes = 1, bytes = MONITOR_BUFFER;
    if (setsockopt(monitor, SOL_SOCKET, SO_TIMESTAMP, &yes, sizeof yes) < 0) return -errno;
    // A larger buffer than usual needs CAP_NET_ADMIN. Without it, a busy moment may lose packets.
    if (setsockopt(monitor, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(monitor, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    return attach_filter(monitor);
}

int cbluez_monitor_open(void) {
    int monitor = hci_open_socket(HCI_DEV_NONE, HCI_CHANNEL_MONITOR);
    if (monitor < 0) return monitor;
    int error = cbluez_monitor_prepare(monitor);
    if (error < 0) {
        close(monitor);
        return error;
    }
    return monitor;
}

static int64_t time_of(struct msghdr *message) {
    struct timeval time;
    struct cmsghdr *part = CMSG_FIRSTHDR(message);
    while (part != NULL && (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMP))
        part = CMSG_NXTHDR(message, part);
    if (part != NULL)
        memcpy(&time, CMSG_DATA(part), sizeof time);
    else
        gettimeofday(&time, NULL);
    return (int64_t)time.tv_sec * 1000000 + time.tv_usec;
}

int cbluez_monitor_read(int monitor, cbluez_monitor_packet *packet) {
    uint8_t header[MONITOR_HEADER];
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct timeval))];
    struct iovec parts[] = {
        {.iov_base = header, .iov_len = sizeof header},
        {.iov_base = packet->bytes, .iov_len = sizeof packet->bytes},
    };
    struct msghdr message = {
        .msg_iov = parts, .msg_iovlen = 2, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t received;
    do {
        received = recvmsg(monitor, &message, 0);
    } while (received < 0 && errno == EINTR);
    if (received < 0) return -errno;
    if (received < MONITOR_HEADER) return 0;
    packet->opcode = hci_read_le16(header);
    packet->index = hci_read_le16(header + 2);
    packet->length = hci_read_le16(header + 4);
    size_t count = (size_t)received - MONITOR_HEADER;
    packet->count = (uint16_t)(count < packet->length ? count : packet->length);
    packet->microseconds = time_of(&message);
    return 1;
}
