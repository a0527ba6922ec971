// SPDX-License-Identifier: Apache-2.0
//
// An LE L2CAP channel without anything above it: the limit of the kernel and the air for any program. Runs inside a box.
//
//     bare serve ADAPTER PSM               accepts channels: echoes SDUs, or counts them
//     bare dial ADAPTER PEER PSM [BYTES]   opens a channel, sends BYTES and waits until they come back, then obeys its
//                                          standard input: `echo BYTES`, `flood SIZE COUNT`
//     bare intervals INDEX UNITS           requests connection intervals of UNITS * 1.25 ms from the kernel (CAP_NET_ADMIN)
//
// ADAPTER and PEER are addresses. Events are printed as JSON, one object per line. The first byte of an SDU is its
// purpose: ECHO is sent back, COUNT is counted, LAST is counted and reported.

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/l2cap.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ECHO = 1, COUNT = 2, LAST = 3 };

// The largest SDU of the tests: nine full link-layer packets.
enum { MTU = 2221 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

static void fail(const char *what) {
    tell("{\"event\":\"failed\",\"what\":\"%s\",\"reason\":\"%s\"}", what, strerror(errno));
    exit(1);
}

static struct sockaddr_l2 address(const char *text, int psm) {
    struct sockaddr_l2 made = {.l2_family = AF_BLUETOOTH, .l2_psm = htobs(psm), .l2_bdaddr_type = BDADDR_LE_PUBLIC};
    str2ba(text, &made.l2_bdaddr);
    return made;
}

static int channel(const char *adapter, int psm) {
    int made = socket(AF_BLUETOOTH, SOCK_SEQPACKET, BTPROTO_L2CAP);
    struct sockaddr_l2 local = address(adapter, psm);
    if (made < 0 || bind(made, (struct sockaddr *)&local, sizeof local) < 0) fail("bind");
    uint16_t mtu = MTU;
    if (setsockopt(made, SOL_BLUETOOTH, BT_RCVMTU, &mtu, sizeof mtu) < 0) fail("receive MTU");
    return made;
}

// Counts the SDUs between the first of a flood, which only starts the clock, and the last.
static void serve_channel(int peer) {
    char sdu[MTU];
    double began = 0;
    long bytes = 0, sdus = 0;
    ssize_t length;
    while ((length = recv(peer, sdu, sizeof sdu, 0)) > 0) {
        if (sdu[0] == ECHO) {
            if (send(peer, sdu, length, 0) < 0) break;
            continue;
        }
        if (began == 0) {
            began = now();
        } else {
            bytes += length;
            sdus += 1;
        }
        if (sdu[0] == LAST) {
            tell("{\"event\":\"counted\",\"bytes\":%ld,\"sdus\":%ld,\"seconds\":%.6f}", bytes, sdus, now() - began);
            began = bytes = sdus = 0;
        }
    }
    tell("{\"event\":\"closed\"}");
    close(peer);
}

static void serve(const char *adapter, int psm) {
    int listener = channel(adapter, psm);
    if (listen(listener, 4) < 0) fail("listen");
    tell("{\"event\":\"listening\",\"psm\":%d}", psm);
    for (;;) {
        int peer = accept(listener, NULL, NULL);
        if (peer < 0) fail("accept");
        tell("{\"event\":\"accepted\"}");
        serve_channel(peer);
    }
}

static void echo(int line, int size) {
    char sdu[MTU] = {ECHO};
    double began = now();
    if (send(line, sdu, size, 0) < 0 || recv(line, sdu, sizeof sdu, 0) <= 0) fail("echo");
    tell("{\"event\":\"echo\",\"milliseconds\":%.3f}", (now() - began) * 1e3);
}

static void flood(int line, int size, long count) {
    char sdu[MTU] = {COUNT};
    for (long number = 1; number <= count; number++) {
        sdu[0] = number == count ? LAST : COUNT;
        if (send(line, sdu, size, 0) < 0) fail("flood");
    }
    tell("{\"event\":\"flooded\"}");
}

static void dial(const char *adapter, const char *peer, int psm, int first) {
    double began = now();
    int line = channel(adapter, 0);
    struct sockaddr_l2 remote = address(peer, psm);
    tell("{\"event\":\"dialling\"}");
    if (connect(line, (struct sockaddr *)&remote, sizeof remote) < 0) fail("connect");
    tell("{\"event\":\"connected\",\"seconds\":%.6f}", now() - began);
    if (first > 0) echo(line, first);
    char command[64];
    int size;
    long count;
    while (fgets(command, sizeof command, stdin)) {
        if (sscanf(command, "echo %d", &size) == 1 && size > 0 && size <= MTU) echo(line, size);
        if (sscanf(command, "flood %d %ld", &size, &count) == 2 && size > 0 && size <= MTU) flood(line, size, count);
    }
}

// Management command Set Default System Configuration: the effect of main.conf's [LE] section when bluetoothd starts.
static void intervals(int index, int units) {
    struct sockaddr_hci control = {.hci_family = AF_BLUETOOTH, .hci_dev = HCI_DEV_NONE, .hci_channel = HCI_CHANNEL_CONTROL};
    int management = socket(AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI);
    if (management < 0 || bind(management, (struct sockaddr *)&control, sizeof control) < 0) fail("management");
    unsigned char request[] = {
        0x4C, 0x00, index, 0, 10, 0,
        0x17, 0x00, 2, units, 0,  // the minimum connection interval
        0x18, 0x00, 2, units, 0,  // the maximum
    };
    if (send(management, request, sizeof request, 0) < 0) fail("intervals");
    unsigned char event[64];
    while (recv(management, event, sizeof event, 0) >= 9) {
        if (event[6] != 0x4C || event[7] != 0) continue;
        tell("{\"event\":\"intervals\",\"status\":%d}", event[8]);
        return;
    }
    fail("intervals");
}

int main(int count, char **arguments) {
    if (count == 4 && !strcmp(arguments[1], "serve")) {
        serve(arguments[2], strtol(arguments[3], NULL, 0));
    } else if (count >= 5 && !strcmp(arguments[1], "dial")) {
        dial(arguments[2], arguments[3], strtol(arguments[4], NULL, 0), count > 5 ? atoi(arguments[5]) : 0);
    } else if (count == 4 && !strcmp(arguments[1], "intervals")) {
        intervals(atoi(arguments[2]), atoi(arguments[3]));
    } else {
        fprintf(stderr, "usage: bare serve | dial | intervals\n");
        return 64;
    }
    return 0;
}
