// SPDX-License-Identifier: Apache-2.0
//
// LE credit-based channels. Functions named in comments are in Linux 6.1's net/bluetooth/l2cap_sock.c.

#define _GNU_SOURCE // accept4

#include <bluetooth/bluetooth.h>
#include <bluetooth/l2cap.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "address.h"

// The kernel copies these by size. A header with another size must not compile.
_Static_assert(sizeof(struct sockaddr_l2) == 14, "struct sockaddr_l2 is the kernel's");
_Static_assert(sizeof(struct l2cap_conninfo) == 6, "struct l2cap_conninfo is the kernel's");
_Static_assert(sizeof(struct bt_security) == 2, "struct bt_security is the kernel's");

static int close_and_return(int descriptor, int error) {
    close(descriptor);
    return error;
}

static int set_option(int channel, int level, int name, const void *value, socklen_t size) {
    return setsockopt(channel, level, name, value, size) < 0 ? -errno : 0;
}

static int get_option(int channel, int level, int name, void *value, socklen_t size) {
    return getsockopt(channel, level, name, value, &size) < 0 ? -errno : 0;
}

static bool is_le(const cbluez_address *address) {
    return address->kind == CBLUEZ_ADDRESS_PUBLIC || address->kind == CBLUEZ_ADDRESS_RANDOM;
}

static struct sockaddr_l2 kernel_address(const cbluez_address *address, uint16_t psm) {
    return (struct sockaddr_l2){
        .l2_family = AF_BLUETOOTH,
        .l2_psm = htole16(psm),
        .l2_bdaddr = cbluez_address_to_kernel(address),
        .l2_bdaddr_type = address->kind,
    };
}

static int apply_options(int channel, const cbluez_l2cap_options *options) {
    int result = 0;
    if (options->receive_mtu) {
        uint16_t mtu = options->receive_mtu;
        result = set_option(channel, SOL_BLUETOOTH, BT_RCVMTU, &mtu, sizeof mtu);
    }
    if (!result && options->send_buffer) {
        result = set_option(channel, SOL_SOCKET, SO_SNDBUF, &options->send_buffer, sizeof options->send_buffer);
    }
    if (!result && options->receive_buffer) {
        result = set_option(channel, SOL_SOCKET, SO_RCVBUF, &options->receive_buffer, sizeof options->receive_buffer);
    }
    if (!result && options->security_level) {
        struct bt_security security = {.level = options->security_level};
        result = set_option(channel, SOL_BLUETOOTH, BT_SECURITY, &security, sizeof security);
    }
    return result;
}

// Binding to an LE address makes the kernel choose LE flow control. It must come before BT_RCVMTU: an unbound socket is
// a BR/EDR socket, on which that option fails with EINVAL.
static int open_bound(const cbluez_address *local, uint16_t psm, const cbluez_l2cap_options *options) {
    if (!is_le(local)) return -EINVAL;
    int channel = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, BTPROTO_L2CAP);
    if (channel < 0) return -errno;
    struct sockaddr_l2 address = kernel_address(local, psm);
    if (bind(channel, (const struct sockaddr *)&address, sizeof address) < 0) {
        return close_and_return(channel, -errno);
    }
    int result = options ? apply_options(channel, options) : 0;
    return result < 0 ? close_and_return(channel, result) : channel;
}

int cbluez_l2cap_listen(const cbluez_address *local, uint16_t psm, const cbluez_l2cap_options *options, int backlog,
                        uint16_t *bound_psm) {
    int listener = open_bound(local, psm, options);
    if (listener < 0) return listener;
    if (listen(listener, backlog) < 0) return close_and_return(listener, -errno);
    struct sockaddr_l2 bound = {0};
    socklen_t size = sizeof bound;
    if (getsockname(listener, (struct sockaddr *)&bound, &size) < 0) return close_and_return(listener, -errno);
    *bound_psm = le16toh(bound.l2_psm);
    return listener;
}

// An accepted channel inherits the listener's MTU and security level, but its buffers have the system's default sizes.
static int copy_buffer(int listener, int channel, int name) {
    int size = 0;
    int result = get_option(listener, SOL_SOCKET, name, &size, sizeof size);
    if (result < 0) return result;
    size /= 2; // getsockopt returns twice what was set (socket(7))
    return set_option(channel, SOL_SOCKET, name, &size, sizeof size);
}

int cbluez_l2cap_accept(int listener, cbluez_address *peer) {
    struct sockaddr_l2 address = {0};
    int channel;
    do {
        socklen_t size = sizeof address;
        channel = accept4(listener, (struct sockaddr *)&address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    } while (channel < 0 && errno == EINTR);
    if (channel < 0) return -errno;
    int result = copy_buffer(listener, channel, SO_SNDBUF);
    if (!result) result = copy_buffer(listener, channel, SO_RCVBUF);
    if (result < 0) return close_and_return(channel, result);
    *peer = cbluez_address_from_kernel(&address.l2_bdaddr, address.l2_bdaddr_type);
    return channel;
}

int cbluez_l2cap_dial(const cbluez_address *local, const cbluez_address *peer, uint16_t psm,
                      const cbluez_l2cap_options *options) {
    if (!is_le(peer) || psm == 0) return -EINVAL;
    int channel = open_bound(local, 0, options);
    if (channel < 0) return channel;
    struct sockaddr_l2 address = kernel_address(peer, psm);
    int result = connect(channel, (const struct sockaddr *)&address, sizeof address);
    // An interrupted connect continues in the kernel. A second call would fail with EALREADY.
    if (result < 0 && errno != EINPROGRESS && errno != EINTR) return close_and_return(channel, -errno);
    return channel;
}

// Current state by poll(2), without waiting.
static short state_of(int channel, short events) {
    struct pollfd state = {.fd = channel, .events = events};
    int result;
    do {
        result = poll(&state, 1, 0);
    } while (result < 0 && errno == EINTR);
    return result > 0 ? state.revents : 0;
}

int cbluez_l2cap_dial_result(int channel) {
    int error = 0;
    int result = get_option(channel, SOL_SOCKET, SO_ERROR, &error, sizeof error);
    if (result < 0) return result;
    if (error) return -error;
    // SO_ERROR is also 0 while the dial is pending. bt_sock_poll reports nothing until it has ended.
    return state_of(channel, POLLOUT) == 0 ? -EINPROGRESS : 0;
}

ssize_t cbluez_l2cap_send(int channel, const void *bytes, size_t count) {
    // The kernel would report an empty SDU as sent, but send nothing.
    if (count == 0) return -EINVAL;
    ssize_t sent;
    do {
        sent = send(channel, bytes, count, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}

static ssize_t receive_once(int channel, void *bytes, size_t capacity) {
    struct iovec part = {.iov_base = bytes, .iov_len = capacity};
    struct msghdr message;
    ssize_t received;
    do {
        message = (struct msghdr){.msg_iov = &part, .msg_iovlen = 1};
        received = recvmsg(channel, &message, 0);
    } while (received < 0 && errno == EINTR);
    if (received < 0) return -errno;
    return message.msg_flags & MSG_TRUNC ? -EMSGSIZE : received;
}

ssize_t cbluez_l2cap_receive(int channel, void *bytes, size_t capacity) {
    ssize_t received = receive_once(channel, bytes, capacity);
    if (received == -EAGAIN) {
        if (!(state_of(channel, POLLIN) & POLLHUP)) return -EAGAIN;
        // The channel may have ended after the receive above. Without a second receive, its last SDU and its reason
        // would be lost.
        received = receive_once(channel, bytes, capacity);
        // The reason was reported already, perhaps by a send. Without this, the descriptor would stay readable forever,
        // and the caller could read nothing from it.
        if (received == -EAGAIN) return -ENOTCONN;
    }
    if (received != 0) return received;
    // l2cap_ecred_data_rcv passes on an SDU of length 0, so a peer could fake a close.
    if (!(state_of(channel, POLLRDHUP) & (POLLRDHUP | POLLHUP))) return -EBADMSG;
    // bt_sock_recvmsg reports the close, which is a pending error at first, before the SDUs that were received earlier.
    return receive_once(channel, bytes, capacity);
}

// Not SIOCOUTQ: bt_sock_ioctl returns the free space, and other kernels may return the bytes that are queued.
static int32_t send_queue(int channel) {
    uint32_t memory[SK_MEMINFO_VARS] = {0};
    socklen_t size = sizeof memory;
    if (getsockopt(channel, SOL_SOCKET, SO_MEMINFO, memory, &size) < 0) return -1;
    if (size < (SK_MEMINFO_WMEM_ALLOC + 1) * sizeof memory[0]) return -1;
    uint32_t waiting = memory[SK_MEMINFO_WMEM_ALLOC];
    return waiting > INT32_MAX ? INT32_MAX : (int32_t)waiting;
}

int cbluez_l2cap_link_info(int channel, cbluez_link_info *info) {
    struct l2cap_conninfo connection = {0};
    *info = (cbluez_link_info){.send_queue = -1};
    int result = get_option(channel, SOL_L2CAP, L2CAP_CONNINFO, &connection, sizeof connection);
    if (result < 0) return result;
    info->handle = connection.hci_handle;
    result = get_option(channel, SOL_BLUETOOTH, BT_SNDMTU, &info->send_mtu, sizeof info->send_mtu);
    if (result < 0) return result;
    result = get_option(channel, SOL_BLUETOOTH, BT_RCVMTU, &info->receive_mtu, sizeof info->receive_mtu);
    if (result < 0) return result;
    // Kernels before 5.7 do not have BT_PHY.
    if (get_option(channel, SOL_BLUETOOTH, BT_PHY, &info->phy, sizeof info->phy) < 0) info->phy = 0;
    info->send_queue = send_queue(channel);
    return 0;
}

int cbluez_l2cap_security(int channel, uint8_t *level, uint8_t *key_size) {
    struct bt_security security = {0};
    int result = get_option(channel, SOL_BLUETOOTH, BT_SECURITY, &security, sizeof security);
    if (result < 0) return result;
    *level = security.level;
    *key_size = security.key_size;
    return 0;
}
