// SPDX-License-Identifier: Apache-2.0
//
// Addresses, and the parts of L2CAP and HCI that need no radio. Packet sockets replace channels.

#define _GNU_SOURCE

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CBlueZ.h"
#include "check.h"

// Rounds in which a peer closes while its last SDU is read. One in ten hits the moment in which an SDU could be lost.
enum { LAST_WORDS = 2000 };

// A header of the monitor channel and 300 bytes.
enum { MONITOR_TEST_BYTES = 6 + 300 };

void test_addresses(void) {
    static const char *const wrong[] = {
        "", "0", "00", "00:", "00:11:22:33:44", "00:11:22:33:44:5", "00:11:22:33:44:55:", "00:11:22:33:44:555",
        "00-11-22-33-44-55", "0g:11:22:33:44:55", " 0:11:22:33:44:55", "+1:11:22:33:44:55", "00:11:22:33:44:55 ",
        "001122334455",
    };
    cbluez_address address = {.kind = CBLUEZ_ADDRESS_RANDOM};
    char text[CBLUEZ_ADDRESS_TEXT];
    CHECK_NUMBER(cbluez_address_parse("c0:1A:2b:00:fF:09", &address), 0);
    CHECK(memcmp(address.bytes, "\xC0\x1A\x2B\x00\xFF\x09", 6) == 0);
    CHECK_NUMBER(address.kind, CBLUEZ_ADDRESS_RANDOM);
    cbluez_address_format(&address, text);
    CHECK_TEXT(text, "C0:1A:2B:00:FF:09");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK_NUMBER(cbluez_address_parse(wrong[i], &address), -EINVAL);
    }
    CHECK(memcmp(address.bytes, "\xC0\x1A\x2B\x00\xFF\x09", 6) == 0);
}

static void test_channel(void) {
    int ends[2];
    char bytes[8];
    cbluez_link_info info;
    CHECK_NUMBER(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    CHECK_NUMBER(cbluez_l2cap_receive(ends[1], bytes, sizeof bytes), -EAGAIN);
    CHECK_NUMBER(cbluez_l2cap_send(ends[0], "vote", 4), 4);
    CHECK_NUMBER(cbluez_l2cap_send(ends[0], "a long one", 10), 10);
    CHECK_NUMBER(cbluez_l2cap_send(ends[0], "12345678", 8), 8);
    CHECK_NUMBER(cbluez_l2cap_send(ends[0], "", 0), -EINVAL);
    CHECK_NUMBER(cbluez_l2cap_receive(ends[1], bytes, sizeof bytes), 4);
    CHECK(memcmp(bytes, "vote", 4) == 0);
    CHECK_NUMBER(cbluez_l2cap_receive(ends[1], bytes, sizeof bytes), -EMSGSIZE);
    CHECK_NUMBER(cbluez_l2cap_receive(ends[1], bytes, sizeof bytes), 8);
    // An empty SDU is not the end of the channel.
    CHECK_NUMBER(send(ends[0], "", 0, 0), 0);
    CHECK_NUMBER(cbluez_l2cap_receive(ends[1], bytes, sizeof bytes), -EBADMSG);
    CHECK_NUMBER(cbluez_l2cap_receive(ends[1], bytes, sizeof bytes), -EAGAIN);
    CHECK_NUMBER(cbluez_l2cap_dial_result(ends[0]), 0);
    ssize_t sent;
    int count = 0;
    while ((sent = cbluez_l2cap_send(ends[0], bytes, sizeof bytes)) == sizeof bytes) count++;
    CHECK_NUMBER(sent, -EAGAIN);
    while (cbluez_l2cap_receive(ends[1], bytes, sizeof bytes) == sizeof bytes) count--;
    CHECK_NUMBER(count, 0);
    CHECK(cbluez_l2cap_link_info(ends[0], &info) < 0);
    close(ends[0]);
    CHECK_NUMBER(cbluez_l2cap_receive(ends[1], bytes, sizeof bytes), 0);
    CHECK_NUMBER(cbluez_l2cap_send(ends[1], "vote", 4), -EPIPE); // and no SIGPIPE
    close(ends[1]);
    CHECK_NUMBER(cbluez_l2cap_receive(ends[1], bytes, sizeof bytes), -EBADF);
}

static void *send_and_close(void *channel) {
    cbluez_l2cap_send(*(int *)channel, "vote", 4);
    close(*(int *)channel);
    return NULL;
}

// A receive at the moment when the peer sends its last SDU and closes returns that SDU, and the next returns the close.
static void test_last_words(void) {
    ssize_t last = 4, end = 0;
    for (int round = 0; round < LAST_WORDS && last == 4 && end == 0; round++) {
        int ends[2];
        char bytes[8];
        pthread_t peer;
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) < 0) break;
        if (pthread_create(&peer, NULL, send_and_close, &ends[0]) != 0) break;
        while ((last = cbluez_l2cap_receive(ends[1], bytes, sizeof bytes)) == -EAGAIN) {}
        pthread_join(peer, NULL);
        end = cbluez_l2cap_receive(ends[1], bytes, sizeof bytes);
        close(ends[1]);
    }
    CHECK_NUMBER(last, 4);
    CHECK_NUMBER(end, 0);
}

static int read_event(int hci, const char *event, size_t size, int controller, int8_t *rssi, uint8_t *status) {
    uint16_t handle = 0;
    CHECK_NUMBER(send(controller, event, size, 0), size);
    cbluez_hci_answer answer;
    int result = cbluez_hci_read_answer(hci, &answer);
    if (result < 1) return result < 0 ? result : -1;
    *status = answer.status;
    return cbluez_hci_rssi(&answer, &handle, rssi) ? handle : -1;
}

static void test_rssi(void) {
    int ends[2];
    char request[16];
    int8_t rssi = 0;
    uint8_t status = 0;
    cbluez_hci_answer answer;
    CHECK_NUMBER(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    CHECK_NUMBER(cbluez_hci_request_rssi(ends[0], 0x0EFF), 0);
    CHECK_NUMBER(recv(ends[1], request, sizeof request, 0), 6);
    CHECK(memcmp(request, "\x01\x05\x14\x02\xFF\x0E", 6) == 0);
    CHECK_NUMBER(cbluez_hci_read_answer(ends[0], &answer), -EAGAIN);
    CHECK_NUMBER(read_event(ends[0], "\x04\x0E\x07\x01\x05\x14\x00\xFF\x0E\xC4", 10, ends[1], &rssi, &status), 0x0EFF);
    CHECK_NUMBER(rssi, -60);
    CHECK_NUMBER(status, 0);
    // Unknown connection, with its handle; unknown command, without a handle; a Command Status.
    CHECK_NUMBER(read_event(ends[0], "\x04\x0E\x07\x01\x05\x14\x02\x40\x00\x00", 10, ends[1], &rssi, &status), 0x40);
    CHECK_NUMBER(status, 2);
    CHECK_NUMBER(read_event(ends[0], "\x04\x0E\x04\x01\x05\x14\x01", 7, ends[1], &rssi, &status),
                 CBLUEZ_HANDLE_UNKNOWN);
    CHECK_NUMBER(rssi, CBLUEZ_RSSI_UNKNOWN);
    CHECK_NUMBER(status, 1);
    CHECK_NUMBER(read_event(ends[0], "\x04\x0F\x04\x0C\x01\x05\x14", 7, ends[1], &rssi, &status),
                 CBLUEZ_HANDLE_UNKNOWN);
    CHECK_NUMBER(status, 0x0C);
    // Other commands, other packets, and cut packets.
    CHECK_NUMBER(read_event(ends[0], "\x04\x0E\x07\x01\x06\x14\x00\xFF\x0E\xC4", 10, ends[1], &rssi, &status), -1);
    CHECK_NUMBER(read_event(ends[0], "\x02\x0E\x07\x01\x05\x14\x00\xFF\x0E\xC4", 10, ends[1], &rssi, &status), -1);
    CHECK_NUMBER(read_event(ends[0], "\x04\x0E\x03\x01\x05\x14", 6, ends[1], &rssi, &status), -1);
    CHECK_NUMBER(read_event(ends[0], "\x04", 1, ends[1], &rssi, &status), -1);
    close(ends[0]);
    close(ends[1]);
}

static void test_no_bluetooth(void) {
    cbluez_address local = {.kind = CBLUEZ_ADDRESS_PUBLIC};
    cbluez_address bredr = {.kind = 0};
    cbluez_hci_device devices[4];
    uint16_t psm = 0;
    // The shim refuses these before it asks the kernel.
    CHECK_NUMBER(cbluez_l2cap_listen(&bredr, 0x80, NULL, 1, &psm), -EINVAL);
    CHECK_NUMBER(cbluez_l2cap_dial(&local, &bredr, 0x80, NULL), -EINVAL);
    CHECK_NUMBER(cbluez_l2cap_dial(&local, &local, 0, NULL), -EINVAL);
    int probe = socket(AF_BLUETOOTH, SOCK_SEQPACKET, 0);
    if (probe >= 0) {
        close(probe); // this kernel has Bluetooth; the radio lab has the other tests
        return;
    }
    CHECK_NUMBER(errno, EAFNOSUPPORT);
    CHECK_NUMBER(cbluez_l2cap_listen(&local, 0x80, NULL, 1, &psm), -EAFNOSUPPORT);
    CHECK_NUMBER(cbluez_l2cap_dial(&local, &local, 0x80, NULL), -EAFNOSUPPORT);
    CHECK_NUMBER(cbluez_hci_devices(devices, 4), -EAFNOSUPPORT);
    CHECK_NUMBER(cbluez_hci_open_answers(0, CBLUEZ_READ_RSSI), -EAFNOSUPPORT);
}

// A pair of packet sockets with the monitor's filter.
static void test_monitor(void) {
    int ends[2];
    cbluez_monitor_packet packet;
    char data[MONITOR_TEST_BYTES];
    memset(data, 0x5A, sizeof data);
    CHECK_NUMBER(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    CHECK_NUMBER(cbluez_monitor_prepare(ends[1]), 0);
    CHECK_NUMBER(cbluez_monitor_read(ends[1], &packet), -EAGAIN);
    // An event of hci1: a link is lost.
    CHECK_NUMBER(send(ends[0], "\x03\x00\x01\x00\x06\x00\x05\x04\x00\x40\x00\x08", 12, 0), 12);
    CHECK_NUMBER(cbluez_monitor_read(ends[1], &packet), 1);
    CHECK_NUMBER(packet.opcode, CBLUEZ_MONITOR_EVENT);
    CHECK_NUMBER(packet.index, 1);
    CHECK_NUMBER(packet.length, 6);
    CHECK_NUMBER(packet.count, 6);
    CHECK(packet.microseconds > 1600000000LL * 1000000);
    CHECK(memcmp(packet.bytes, "\x05\x04\x00\x40\x00\x08", 6) == 0);
    // Data is cut after the headers, and a user's log is dropped.
    memcpy(data, "\x05\x00\x01\x00\x2C\x01", 6);
    CHECK_NUMBER(send(ends[0], data, sizeof data, 0), sizeof data);
    memcpy(data, "\x0D\x00\x01\x00\x2C\x01", 6);
    CHECK_NUMBER(send(ends[0], data, sizeof data, 0), sizeof data);
    CHECK_NUMBER(cbluez_monitor_read(ends[1], &packet), 1);
    CHECK_NUMBER(packet.opcode, CBLUEZ_MONITOR_RECEIVED_DATA);
    CHECK_NUMBER(packet.length, sizeof data - 6);
    CHECK_NUMBER(packet.count, 8 + CBLUEZ_MONITOR_SIGNAL);
    CHECK_NUMBER(cbluez_monitor_read(ends[1], &packet), -EAGAIN);
    // A packet without a whole header, and one that claims more bytes than it has.
    CHECK_NUMBER(send(ends[0], "\x03\x00\x01", 3, 0), 3);
    CHECK_NUMBER(cbluez_monitor_read(ends[1], &packet), 0);
    CHECK_NUMBER(send(ends[0], "\x03\x00\x01\x00\xFF\xFF\x05", 7, 0), 7);
    CHECK_NUMBER(cbluez_monitor_read(ends[1], &packet), 1);
    CHECK_NUMBER(packet.count, 1);
    close(ends[0]);
    close(ends[1]);
}

void test_sockets(void) {
    test_channel();
    test_last_words();
    test_rssi();
    test_monitor();
    test_no_bluetooth();
}
