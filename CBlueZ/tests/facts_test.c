// SPDX-License-Identifier: Apache-2.0
//
// Reading the facts about a controller. Packet sockets replace the kernel's channels, and the replies are queued in
// them.

#define _GNU_SOURCE

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CBlueZ.h"
#include "check.h"

#define INDEX 3

// Command Complete of an adapter: header, opcode, status.
#define COMPLETE(index, opcode, status) "\x01\x00" index "\x00\x00\x00" opcode "\x00" status
// Address, version 5.0, manufacturer 0x05F1, supported and current settings; class and names follow.
#define INFO "\x01\x02\x03\x04\x05\x06" "\x09" "\xF1\x05" "\xFF\xFE\x01\x00" "\x81\x0A\x00\x00"
#define INFO_SIZE (9 + 280)
#define ROLES "\xd6\x49\xb0\xd1\x28\xeb\x27\x92\x96\x46\xc0\x42\xb5\x10\x1b\x67" "\x00\x00\x00\x00"
#define OTHER "\x1c\xda\x47\x1c\x48\x6c\x01\xab\x9f\x46\xec\xb9\x30\x25\x99\xd4" "\x01\x00\x00\x00"

static void tell(int kernel, const char *bytes, size_t size) {
    CHECK_NUMBER(send(kernel, bytes, size, 0), size);
}

static void tell_info(int kernel) {
    char packet[INFO_SIZE] = COMPLETE("\x03", "\x04", "\x00") INFO;
    tell(kernel, packet, sizeof packet);
}

static void test_info(int control, int kernel) {
    cbluez_hci_facts facts;
    char request[16];
    // Another adapter's reply, another event and a cut packet come first.
    tell(kernel, COMPLETE("\x02", "\x04", "\x00"), 9);
    tell(kernel, "\x06\x00\x03\x00\x04\x00\x81\x0A\x00\x00", 10);
    tell(kernel, "\x01\x00", 2);
    tell_info(kernel);
    tell(kernel, COMPLETE("\x03", "\x49", "\x00") "\x02\x00" OTHER ROLES, 9 + 2 + 40);
    CHECK_NUMBER(cbluez_hci_read_facts(control, INDEX, &facts), 0);
    CHECK_NUMBER(facts.version, 9);
    CHECK_NUMBER(facts.manufacturer, 0x05F1);
    CHECK(facts.tells_roles && facts.has_both_roles);
    CHECK(!facts.advertises_itself);
    CHECK_NUMBER(recv(kernel, request, sizeof request, 0), 6);
    CHECK(memcmp(request, "\x04\x00\x03\x00\x00\x00", 6) == 0);
    CHECK_NUMBER(recv(kernel, request, sizeof request, 0), 6);
    CHECK(memcmp(request, "\x49\x00\x03\x00\x00\x00", 6) == 0);
    char advertising[INFO_SIZE] = COMPLETE("\x03", "\x04", "\x00") INFO;
    advertising[9 + 6 + 8] |= 0x04;
    tell(kernel, advertising, sizeof advertising);
    tell(kernel, "\x02\x00\x03\x00\x03\x00\x49\x00\x01", 9);
    CHECK_NUMBER(cbluez_hci_read_facts(control, INDEX, &facts), 0);
    CHECK(facts.advertises_itself);
    while (recv(kernel, request, sizeof request, 0) > 0) continue;
}

static void test_roles(int control, int kernel) {
    cbluez_hci_facts facts;
    // A list without simultaneous roles; a list that is shorter than its count says; a kernel without the command.
    tell_info(kernel);
    tell(kernel, COMPLETE("\x03", "\x49", "\x00") "\x01\x00" OTHER, 9 + 2 + 20);
    CHECK_NUMBER(cbluez_hci_read_facts(control, INDEX, &facts), 0);
    CHECK(facts.tells_roles && !facts.has_both_roles);
    tell_info(kernel);
    tell(kernel, COMPLETE("\x03", "\x49", "\x00") "\xFF\xFF" OTHER "\xd6\x49", 9 + 2 + 22);
    CHECK_NUMBER(cbluez_hci_read_facts(control, INDEX, &facts), 0);
    CHECK(facts.tells_roles && !facts.has_both_roles);
    tell_info(kernel);
    tell(kernel, "\x02\x00\x03\x00\x03\x00\x49\x00\x01", 9);
    CHECK_NUMBER(cbluez_hci_read_facts(control, INDEX, &facts), 0);
    CHECK(!facts.tells_roles && !facts.has_both_roles);
}

static void test_refusals(int control, int kernel) {
    cbluez_hci_facts facts;
    tell(kernel, "\x02\x00\x03\x00\x03\x00\x04\x00\x11", 9);
    CHECK_NUMBER(cbluez_hci_read_facts(control, INDEX, &facts), -ENODEV);
    tell(kernel, "\x02\x00\x03\x00\x03\x00\x04\x00\x01", 9);
    CHECK_NUMBER(cbluez_hci_read_facts(control, INDEX, &facts), -EOPNOTSUPP);
    tell(kernel, COMPLETE("\x03", "\x04", "\x00") INFO, 9 + 17);
    CHECK_NUMBER(cbluez_hci_read_facts(control, INDEX, &facts), -EBADMSG);
    CHECK_NUMBER(cbluez_hci_read_facts(control, INDEX, &facts), -EAGAIN);
    CHECK_NUMBER(facts.version, 0);
}

// Entries of the defaults: type, length, value.
#define SCAN_TYPE "\x00\x00\x02\x01\x00"
#define INTERVALS "\x0a\x00\x02\x20\x00" "\x0b\x00\x02\x30\x00" "\x17\x00\x02\x18\x00" "\x18\x00\x02\x28\x00"
#define TIMEOUT "\x1a\x00\x02\x2a\x00"
#define FLAG "\x1f\x00\x01\x01"

static void take_requests(int kernel) {
    char request[64];
    while (recv(kernel, request, sizeof request, 0) > 0) continue;
}

static void test_reading_defaults(int control, int kernel) {
    cbluez_hci_defaults defaults;
    char request[64];
    tell(kernel, COMPLETE("\x03", "\x4b", "\x00") SCAN_TYPE INTERVALS TIMEOUT FLAG, 9 + 6 * 5 + 4);
    CHECK_NUMBER(cbluez_hci_read_defaults(control, INDEX, &defaults), 0);
    CHECK_NUMBER(defaults.advertising_min, 32);
    CHECK_NUMBER(defaults.advertising_max, 48);
    CHECK_NUMBER(defaults.connection_min, 24);
    CHECK_NUMBER(defaults.connection_max, 40);
    CHECK_NUMBER(defaults.supervision_timeout, 42);
    CHECK_NUMBER(recv(kernel, request, sizeof request, 0), 6);
    CHECK(memcmp(request, "\x4b\x00\x03\x00\x00\x00", 6) == 0);
    // One default is missing; an entry is longer than the packet; a kernel without the command.
    tell(kernel, COMPLETE("\x03", "\x4b", "\x00") INTERVALS FLAG, 9 + 4 * 5 + 4);
    CHECK_NUMBER(cbluez_hci_read_defaults(control, INDEX, &defaults), -EBADMSG);
    tell(kernel, COMPLETE("\x03", "\x4b", "\x00") INTERVALS "\x1a\x00\xff\x2a\x00", 9 + 5 * 5);
    CHECK_NUMBER(cbluez_hci_read_defaults(control, INDEX, &defaults), -EBADMSG);
    tell(kernel, "\x02\x00\x03\x00\x03\x00\x4b\x00\x01", 9);
    CHECK_NUMBER(cbluez_hci_read_defaults(control, INDEX, &defaults), -EOPNOTSUPP);
    take_requests(kernel);
}

static void test_setting_defaults(int control, int kernel) {
    const cbluez_hci_defaults defaults = {32, 48, 6, 7, 72};
    char request[64];
    tell(kernel, COMPLETE("\x03", "\x4c", "\x00"), 9);
    CHECK_NUMBER(cbluez_hci_set_defaults(control, INDEX, &defaults), 0);
    CHECK_NUMBER(recv(kernel, request, sizeof request, 0), 6 + 25);
    CHECK(memcmp(request, "\x4c\x00\x03\x00\x19\x00" "\x0a\x00\x02\x20\x00" "\x0b\x00\x02\x30\x00", 16) == 0);
    CHECK(memcmp(request + 16, "\x17\x00\x02\x06\x00" "\x18\x00\x02\x07\x00" "\x1a\x00\x02\x48\x00", 15) == 0);
    tell(kernel, COMPLETE("\x03", "\x35", "\x00"), 9);
    const cbluez_address peer = {{0x02, 0x00, 0x00, 0x4c, 0x41, 0x01}, CBLUEZ_ADDRESS_RANDOM};
    CHECK_NUMBER(cbluez_hci_load_parameters(control, INDEX, &peer, &defaults), 0);
    CHECK_NUMBER(recv(kernel, request, sizeof request, 0), 6 + 17);
    CHECK(memcmp(request, "\x35\x00\x03\x00\x11\x00\x01\x00" "\x01\x41\x4c\x00\x00\x02\x02", 15) == 0);
    CHECK(memcmp(request + 15, "\x06\x00\x07\x00\x00\x00\x48\x00", 8) == 0);
    // Permission denied, and values that the kernel refuses.
    tell(kernel, "\x02\x00\x03\x00\x03\x00\x4c\x00\x14", 9);
    CHECK_NUMBER(cbluez_hci_set_defaults(control, INDEX, &defaults), -EPERM);
    tell(kernel, "\x02\x00\x03\x00\x03\x00\x4c\x00\x0d", 9);
    CHECK_NUMBER(cbluez_hci_set_defaults(control, INDEX, &defaults), -EINVAL);
    take_requests(kernel);
}

static void test_answers(int hci, int controller) {
    cbluez_hci_answer answer;
    char request[8];
    CHECK_NUMBER(cbluez_hci_request(hci, CBLUEZ_READ_LOCAL_VERSION), 0);
    CHECK_NUMBER(recv(controller, request, sizeof request, 0), 4);
    CHECK(memcmp(request, "\x01\x01\x10\x00", 4) == 0);
    CHECK_NUMBER(cbluez_hci_read_answer(hci, &answer), -EAGAIN);
    tell(controller, "\x04\x0E\x0C\x01\x01\x10\x00\x09\x34\x12\x09\xF1\x05\x78\x56", 15);
    CHECK_NUMBER(cbluez_hci_read_answer(hci, &answer), 1);
    CHECK(answer.opcode == CBLUEZ_READ_LOCAL_VERSION && answer.status == 0 && answer.count == 8);
    CHECK(memcmp(answer.bytes, "\x09\x34\x12", 3) == 0);
    tell(controller, "\x04\x0F\x04\x01\x01\x03\x20", 7);
    CHECK_NUMBER(cbluez_hci_read_answer(hci, &answer), 1);
    CHECK(answer.opcode == CBLUEZ_LE_READ_FEATURES && answer.status == 1 && answer.count == 0);
    // Other packets and events, cut packets, and a reply longer than the buffer.
    tell(controller, "\x02\x0E\x04\x01\x01\x10\x00", 7);
    CHECK_NUMBER(cbluez_hci_read_answer(hci, &answer), 0);
    tell(controller, "\x04\x3E\x04\x01\x01\x10\x00", 7);
    CHECK_NUMBER(cbluez_hci_read_answer(hci, &answer), 0);
    tell(controller, "\x04\x0E\x03\x01\x01\x10", 6);
    CHECK_NUMBER(cbluez_hci_read_answer(hci, &answer), 0);
    char much[7 + 100] = "\x04\x0E\x67\x01\x01\x10\x00";
    tell(controller, much, sizeof much);
    CHECK_NUMBER(cbluez_hci_read_answer(hci, &answer), 1);
    CHECK_NUMBER(answer.count, sizeof answer.bytes);
}

static void test_advertising(int control, int kernel) {
    uint8_t request[128];
    cbluez_advertised contents = {.count = 3, .response_count = 2, .bytes = {2, 1, 6}, .response = {1, 9}};
    uint32_t used = 1;
    tell(kernel, COMPLETE("\x03", "\x3d", "\x00") "\xff\x3f\x00\x00\xfb\xfb\x04\x02\x01\x04", 9 + 10);
    CHECK_NUMBER(cbluez_hci_advertising_instances(control, INDEX, &used), 4);
    CHECK_NUMBER(used, 1 << 1 | 1 << 4);
    take_requests(kernel);
    CHECK_NUMBER(cbluez_hci_add_advertising(control, INDEX, 4, &contents, 30), 0);
    CHECK_NUMBER(recv(kernel, request, sizeof request, 0), 6 + 11 + 5);
    CHECK(memcmp(request, "\x3e\x00\x03\x00\x10\x00" "\x04" "\x01\x00\x00\x00" "\x00\x00" "\x1e\x00" "\x03\x02"
                          "\x02\x01\x06\x01\x09", 22) == 0);
    // The reply comes after the controller's answer; other packets may come first.
    CHECK_NUMBER(cbluez_hci_read_reply(control, INDEX, CBLUEZ_ADD_ADVERTISING), -EAGAIN);
    tell(kernel, "\x23\x00\x03\x00\x01\x00\x04", 7);
    tell(kernel, COMPLETE("\x03", "\x3e", "\x00") "\x04", 10);
    CHECK_NUMBER(cbluez_hci_read_reply(control, INDEX, CBLUEZ_ADD_ADVERTISING), 0);
    CHECK_NUMBER(cbluez_hci_read_reply(control, INDEX, CBLUEZ_ADD_ADVERTISING), 1);
    tell(kernel, "\x02\x00\x03\x00\x03\x00\x3e\x00\x0a", 9);
    CHECK_NUMBER(cbluez_hci_read_reply(control, INDEX, CBLUEZ_ADD_ADVERTISING), -EBUSY);
    CHECK_NUMBER(cbluez_hci_remove_advertising(control, INDEX, 4), 0);
    CHECK_NUMBER(recv(kernel, request, sizeof request, 0), 7);
    CHECK(memcmp(request, "\x3f\x00\x03\x00\x01\x00\x04", 7) == 0);
    contents.count = CBLUEZ_ADVERTISED + 1;
    CHECK_NUMBER(cbluez_hci_add_advertising(control, INDEX, 4, &contents, 30), -EINVAL);
    tell(kernel, COMPLETE("\x03", "\x3d", "\x00") "\xff\x3f", 9 + 2);
    CHECK_NUMBER(cbluez_hci_advertising_instances(control, INDEX, &used), -EBADMSG);
    // More numbers than the answer has.
    tell(kernel, COMPLETE("\x03", "\x3d", "\x00") "\xff\x3f\x00\x00\xfb\xfb\x04\x02\x01", 9 + 9);
    CHECK_NUMBER(cbluez_hci_advertising_instances(control, INDEX, &used), -EBADMSG);
}

void test_facts(void) {
    int ends[2];
    CHECK_NUMBER(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    test_info(ends[0], ends[1]);
    test_roles(ends[0], ends[1]);
    test_refusals(ends[0], ends[1]);
    take_requests(ends[1]);
    test_reading_defaults(ends[0], ends[1]);
    test_setting_defaults(ends[0], ends[1]);
    take_requests(ends[1]);
    test_advertising(ends[0], ends[1]);
    close(ends[0]);
    close(ends[1]);
    CHECK_NUMBER(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    test_answers(ends[0], ends[1]);
    close(ends[0]);
    close(ends[1]);
    int probe = socket(AF_BLUETOOTH, SOCK_SEQPACKET, 0);
    if (probe >= 0) {
        close(probe); // this kernel has Bluetooth; the radio lab has the other tests
        return;
    }
    CHECK_NUMBER(cbluez_hci_open_control(), -EAFNOSUPPORT);
    CHECK_NUMBER(cbluez_hci_open_answers(0, 0), -EAFNOSUPPORT);
}
