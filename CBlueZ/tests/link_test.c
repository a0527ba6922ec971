// SPDX-License-Identifier: Apache-2.0
//
// The commands that tune a link, byte by byte, and the events about links, over a pair of Unix sockets.

#define _GNU_SOURCE // SOCK_NONBLOCK

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CBlueZ.h"
#include "check.h"

static void check_sent(int far, const char *bytes, size_t count) {
    uint8_t sent[64];
    CHECK_NUMBER(recv(far, sent, sizeof sent, 0), count);
    CHECK(memcmp(sent, bytes, count) == 0);
}

static void test_commands(int near, int far) {
    const cbluez_link_parameters parameters = {.interval_min = 6, .interval_max = 12, .timeout = 72};
    CHECK_NUMBER(cbluez_hci_set_phy(near, 0x0EFF, CBLUEZ_PHY_2M), 0);
    check_sent(far, "\x01\x32\x20\x07\xFF\x0E\x00\x02\x02\x00\x00", 11);
    CHECK_NUMBER(cbluez_hci_set_data_length(near, 1, 251, 2120), 0);
    check_sent(far, "\x01\x22\x20\x06\x01\x00\xFB\x00\x48\x08", 10);
    CHECK_NUMBER(cbluez_hci_update_link(near, 1, &parameters), 0);
    check_sent(far, "\x01\x13\x20\x0E\x01\x00\x06\x00\x0C\x00\x00\x00\x48\x00\x00\x00\xFF\xFF", 18);
}

static int read_event(int near, int far, const char *bytes, size_t count, cbluez_link_event *event) {
    CHECK_NUMBER(send(far, bytes, count, 0), count);
    return cbluez_hci_read_link(near, event);
}

#define READ(bytes) read_event(near, far, bytes, sizeof bytes - 1, &event)

static void test_link_events(int near, int far) {
    cbluez_link_event event;
    CHECK_NUMBER(READ("\x04\x3E\x13\x01\x00\x40\x00\x00\x00\x01\x02\x03\x04\x05\x06\x28\x00\x00\x00\x2A\x00\x00"), 1);
    CHECK_NUMBER(event.kind, CBLUEZ_LINK_UP);
    CHECK_NUMBER(event.handle, 0x40);
    CHECK(event.is_central);
    CHECK_NUMBER(event.interval, 40);
    CHECK_NUMBER(event.timeout, 42);
    CHECK_NUMBER(READ("\x04\x3E\x1F\x0A\x00\x41\x00\x01\x00\x01\x02\x03\x04\x05\x06"
                      "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x18\x00\x00\x00\x48\x00\x00"),
                 1);
    CHECK_NUMBER(event.kind, CBLUEZ_LINK_UP);
    CHECK(!event.is_central);
    CHECK_NUMBER(event.interval, 24);
    CHECK_NUMBER(event.timeout, 72);
    CHECK_NUMBER(READ("\x04\x3E\x0A\x03\x00\x41\x00\x0C\x00\x00\x00\x48\x00"), 1);
    CHECK_NUMBER(event.kind, CBLUEZ_LINK_UPDATED);
    CHECK_NUMBER(event.interval, 12);
    CHECK_NUMBER(event.timeout, 72);
    CHECK_NUMBER(READ("\x04\x3E\x06\x0C\x00\x41\x00\x02\x02"), 1);
    CHECK_NUMBER(event.kind, CBLUEZ_LINK_PHY);
    CHECK_NUMBER(event.phy, 2);
    CHECK_NUMBER(READ("\x04\x3E\x0B\x07\x41\x00\xFB\x00\x48\x08\xFB\x00\x48\x08"), 1);
    CHECK_NUMBER(event.kind, CBLUEZ_LINK_DATA_LENGTH);
    CHECK_NUMBER(event.handle, 0x41);
    CHECK_NUMBER(event.octets, 251);
    CHECK_NUMBER(READ("\x04\x05\x04\x00\x41\x00\x08"), 1);
    CHECK_NUMBER(event.kind, CBLUEZ_LINK_DOWN);
    CHECK_NUMBER(event.handle, 0x41);
}

static void test_refusals(int near, int far) {
    cbluez_link_event event;
    CHECK_NUMBER(READ("\x04\x0F\x04\x01\x01\x32\x20"), 1);
    CHECK_NUMBER(event.kind, CBLUEZ_LINK_REFUSED);
    CHECK_NUMBER(event.opcode, CBLUEZ_OPCODE_SET_PHY);
    CHECK_NUMBER(event.status, 1);
    CHECK_NUMBER(READ("\x04\x0E\x06\x01\x22\x20\x02\x41\x00"), 1);
    CHECK_NUMBER(event.opcode, CBLUEZ_OPCODE_DATA_LENGTH);
    CHECK_NUMBER(event.status, 2);
    // An accepted command; another process's command; a failed dial; a link that did not end.
    CHECK_NUMBER(READ("\x04\x0F\x04\x00\x01\x32\x20"), 0);
    CHECK_NUMBER(READ("\x04\x0F\x04\x0C\x01\x05\x14"), 0);
    CHECK_NUMBER(READ("\x04\x3E\x13\x01\x02\x00\x00\x00\x00\x01\x02\x03\x04\x05\x06\x00\x00\x00\x00\x00\x00\x00"), 0);
    CHECK_NUMBER(READ("\x04\x05\x04\x0C\x41\x00\x08"), 0);
}

// An event cut after any of its bytes is ignored, and no bytes after it are read.
static void test_cut(int near, int far) {
    static const char update[] = "\x04\x3E\x0A\x03\x00\x41\x00\x0C\x00\x00\x00\x48\x00";
    static const char up[] = "\x04\x3E\x13\x01\x00\x40\x00\x00\x00\x01\x02\x03\x04\x05\x06\x28\x00\x00\x00\x2A\x00";
    static const char length[] = "\x04\x3E\x0B\x07\x41\x00\xFB\x00\x48\x08\xFB\x00\x48\x08";
    static const char down[] = "\x04\x05\x04\x00\x41\x00\x08";
    static const struct {
        const char *bytes;
        size_t count;
    } events[] = {
        {update, sizeof update - 1}, {up, sizeof up - 1}, {length, sizeof length - 1}, {down, sizeof down - 1}};
    cbluez_link_event event;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        for (size_t count = 1; count < events[i].count; count++) {
            CHECK_NUMBER(read_event(near, far, events[i].bytes, count, &event), 0);
        }
    }
    CHECK_NUMBER(cbluez_hci_read_link(near, &event), -EAGAIN);
}

void test_links(void) {
    int ends[2];
    CHECK_NUMBER(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    test_commands(ends[0], ends[1]);
    test_link_events(ends[0], ends[1]);
    test_refusals(ends[0], ends[1]);
    test_cut(ends[0], ends[1]);
    close(ends[0]);
    close(ends[1]);
    int probe = socket(AF_BLUETOOTH, SOCK_SEQPACKET, 0);
    if (probe >= 0) {
        close(probe); // this kernel has Bluetooth; the radio lab has the other tests
        return;
    }
    CHECK_NUMBER(cbluez_hci_open_links(0), -EAFNOSUPPORT);
    CHECK_NUMBER(cbluez_hci_power_cycle(0), -EAFNOSUPPORT);
}
