// SPDX-License-Identifier: Apache-2.0
//
// The shim as a program: it reads commands from its standard input, and prints each result as a line of JSON. shim.py
// runs it in the radio lab's boxes.

#define _GNU_SOURCE

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "CBlueZ.h"

#define WORDS 16
#define CALL_MS 10000

static cbluez_bus *bus;
static char adapter[64] = "/org/bluez/hci0";
static int listener = -1;
static int channel = -1;
static int hci = -1;
static bool is_dialling;
static bool is_draining;
static double dial_start;
static long drained_sdus;
static long drained_bytes;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// ---------------------------------------------------------------------------------------------------------------------
// Output
// ---------------------------------------------------------------------------------------------------------------------

static void say_text(const char *key, const char *text) {
    printf(", \"%s\": \"", key);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') putchar('\\');
        putchar((unsigned char)*text < ' ' ? ' ' : *text);
    }
    putchar('"');
}

static void say_number(const char *key, long long number) {
    printf(", \"%s\": %lld", key, number);
}

static void begin(const char *event) {
    printf("{\"event\": \"%s\"", event);
}

static void end(void) {
    printf("}\n");
    fflush(stdout);
}

// Prints a value >= 0 as a number, and a negative errno as its name.
static void say_result(long long result) {
    say_number("result", result);
    if (result < 0) say_text("error", strerrorname_np((int)-result));
}

static void say(const char *event, long long result) {
    begin(event);
    say_result(result);
    end();
}

static void say_address(const cbluez_address *address) {
    char text[CBLUEZ_ADDRESS_TEXT];
    cbluez_address_format(address, text);
    say_text("address", text);
    say_number("kind", address->kind);
}

static void say_bus_event(const cbluez_bus_event *event) {
    static const char *const kinds[] = {"",       "ready",          "reply",    "adapter",  "adapterRemoved",
                                        "device", "deviceRemoved",  "appeared", "vanished", "released",
                                        "closed"};
    begin(kinds[event->kind]);
    if (event->serial) say_number("serial", event->serial);
    if (event->path[0]) say_text("path", event->path);
    if (event->kind == CBLUEZ_EVENT_REPLY) {
        say_text("error", event->error_name);
        say_text("text", event->error_text);
    }
    uint32_t has = event->fields;
    if (has & CBLUEZ_FIELD_ADDRESS) say_address(&event->address);
    if (has & CBLUEZ_FIELD_POWERED) say_number("powered", event->powered);
    if (has & CBLUEZ_FIELD_DISCOVERING) say_number("discovering", event->discovering);
    if (has & CBLUEZ_FIELD_CONNECTED) say_number("connected", event->connected);
    if (has & CBLUEZ_FIELD_PAIRED) say_number("paired", event->paired);
    if (has & CBLUEZ_FIELD_RSSI) say_number("rssi", event->rssi);
    if (has & CBLUEZ_FIELD_RSSI_GONE) say_number("rssiGone", 1);
    if (has & CBLUEZ_FIELD_NAME) say_text("name", event->name);
    if (has & CBLUEZ_FIELD_MANUFACTURER) {
        char data[2 * CBLUEZ_MANUFACTURER_DATA + 1] = "";
        for (int i = 0; i < event->manufacturer_count; i++) {
            snprintf(data + 2 * i, 3, "%02x", event->manufacturer_data[i]);
        }
        say_number("company", event->company);
        say_text("data", data);
    }
    if (has & CBLUEZ_FIELD_UUIDS) {
        printf(", \"uuids\": [");
        for (int i = 0; i < event->uuid_count; i++) printf("%s\"%s\"", i ? ", " : "", event->uuids[i]);
        printf("]");
    }
    end();
}

// ---------------------------------------------------------------------------------------------------------------------
// Commands
// ---------------------------------------------------------------------------------------------------------------------

static unsigned number(const char *word) {
    return word ? (unsigned)strtoul(word, NULL, 0) : 0;
}

static cbluez_address address_of(const char *word) {
    cbluez_address address = {.kind = CBLUEZ_ADDRESS_PUBLIC};
    if (!word || cbluez_address_parse(word, &address) < 0) fprintf(stderr, "no address: %s\n", word);
    return address;
}

// MTU, send buffer, receive buffer, security level.
static cbluez_l2cap_options options_of(char **words) {
    return (cbluez_l2cap_options){
        .receive_mtu = (uint16_t)number(words[0]),
        .send_buffer = words[0] ? number(words[1]) : 0,
        .receive_buffer = words[0] && words[1] ? number(words[2]) : 0,
        .security_level = words[0] && words[1] && words[2] ? (uint8_t)number(words[3]) : 0,
    };
}

static void devices(void) {
    cbluez_hci_device found[16];
    int count = cbluez_hci_devices(found, 16);
    say("devices", count);
    for (int i = 0; i < count; i++) {
        begin("controller");
        say_number("index", found[i].index);
        say_text("name", found[i].name);
        say_address(&found[i].address);
        say_number("up", found[i].is_up);
        say_number("le", found[i].has_le);
        end();
    }
}

static void open_bus(const char *address) {
    char error[CBLUEZ_ERROR_TEXT] = "";
    int result = cbluez_bus_open(address, &bus, error);
    begin("opened");
    say_result(result);
    say_text("text", error);
    end();
}

static void advertise(char **words) {
    uint8_t data[CBLUEZ_MANUFACTURER_DATA];
    cbluez_advertisement advertisement = {.uuid = words[1], .company = 0xFFFF, .manufacturer_data = data};
    for (const char *hex = words[2]; hex && hex[0] && hex[1]; hex += 2) {
        char byte[3] = {hex[0], hex[1], 0};
        data[advertisement.manufacturer_count++] = (uint8_t)strtoul(byte, NULL, 16);
    }
    advertisement.local_name = words[3];
    advertisement.min_interval_ms = number(words[4]);
    advertisement.max_interval_ms = number(words[5]);
    say("called", cbluez_bus_register_advertisement(bus, adapter, words[0], &advertisement, CALL_MS));
}

static void listen_on(char **words) {
    cbluez_address local = address_of(words[0]);
    cbluez_l2cap_options options = options_of(words + 2);
    uint16_t psm = 0;
    listener = cbluez_l2cap_listen(&local, (uint16_t)number(words[1]), &options, 4, &psm);
    begin("listening");
    say_result(listener < 0 ? listener : 0);
    say_number("psm", psm);
    end();
}

static void dial(char **words) {
    cbluez_address local = address_of(words[0]);
    cbluez_address peer = address_of(words[1]);
    cbluez_l2cap_options options = options_of(words + 3);
    dial_start = now();
    channel = cbluez_l2cap_dial(&local, &peer, (uint16_t)number(words[2]), &options);
    is_dialling = channel >= 0;
    begin("dialling");
    say_result(channel < 0 ? channel : 0);
    if (is_dialling) say_number("now", cbluez_l2cap_dial_result(channel));
    end();
}

static void send_sdus(long size, long count) {
    static uint8_t bytes[65536];
    long sent = 0;
    ssize_t result = 0;
    for (; sent < count; sent++) {
        result = cbluez_l2cap_send(channel, bytes, (size_t)size);
        if (result < 0) break;
    }
    begin("sent");
    say_result(result);
    say_number("count", sent);
    end();
}

static void receive(long capacity) {
    static uint8_t bytes[65536];
    say("received", cbluez_l2cap_receive(channel, bytes, (size_t)capacity));
}

static void link_info(void) {
    cbluez_link_info info;
    int result = cbluez_l2cap_link_info(channel, &info);
    begin("info");
    say_result(result);
    say_number("handle", info.handle);
    say_number("sendMTU", info.send_mtu);
    say_number("receiveMTU", info.receive_mtu);
    say_number("phy", info.phy);
    say_number("sendQueue", info.send_queue);
    int buffer = 0;
    socklen_t size = sizeof buffer;
    if (getsockopt(channel, SOL_SOCKET, SO_SNDBUF, &buffer, &size) == 0) say_number("sendBuffer", buffer);
    if (getsockopt(channel, SOL_SOCKET, SO_RCVBUF, &buffer, &size) == 0) say_number("receiveBuffer", buffer);
    end();
}

static void rssi(const char *word) {
    cbluez_link_info info = {0};
    if (!word) cbluez_l2cap_link_info(channel, &info);
    say("asked", cbluez_hci_request_rssi(hci, word ? (uint16_t)number(word) : info.handle));
}

static void read_rssi(void) {
    uint16_t handle = 0;
    int8_t dbm = 0;
    cbluez_hci_answer answer;
    int result = cbluez_hci_read_answer(hci, &answer);
    if (result == 1 && !cbluez_hci_rssi(&answer, &handle, &dbm)) result = 0;
    begin("rssi");
    say_result(result);
    say_number("handle", handle);
    say_number("dbm", dbm);
    say_number("status", answer.status);
    end();
    if (result < 0) {
        close(hci);
        hci = -1;
    }
}

static void close_one(int *descriptor) {
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
}

static bool obey_bus(const char *verb, char **words) {
    int64_t serial = 0;
    if (strcmp(verb, "list") == 0) serial = cbluez_bus_list_objects(bus, CALL_MS);
    if (strcmp(verb, "filter") == 0) serial = cbluez_bus_set_discovery_filter(bus, adapter, CALL_MS);
    if (strcmp(verb, "discover") == 0) serial = cbluez_bus_start_discovery(bus, adapter, CALL_MS);
    if (strcmp(verb, "stop") == 0) serial = cbluez_bus_stop_discovery(bus, adapter, CALL_MS);
    if (strcmp(verb, "power") == 0) serial = cbluez_bus_set_powered(bus, adapter, number(words[0]) != 0, CALL_MS);
    if (strcmp(verb, "remove") == 0) serial = cbluez_bus_remove_device(bus, adapter, words[0], CALL_MS);
    if (strcmp(verb, "unadvertise") == 0) {
        serial = cbluez_bus_unregister_advertisement(bus, adapter, words[0], CALL_MS);
    }
    if (serial) say("called", serial);
    return serial != 0;
}

static void obey(char *line) {
    char *words[WORDS + 1] = {0};
    int count = 0;
    for (char *word = strtok(line, " \n"); word && count < WORDS; word = strtok(NULL, " \n")) words[count++] = word;
    if (count == 0) return;
    const char *verb = words[0];
    char **rest = words + 1;
    if (bus && obey_bus(verb, rest)) return;
    if (strcmp(verb, "devices") == 0) devices();
    if (strcmp(verb, "bus") == 0) open_bus(rest[0]);
    if (strcmp(verb, "adapter") == 0) snprintf(adapter, sizeof adapter, "%s", rest[0]);
    if (strcmp(verb, "advertise") == 0) advertise(rest);
    if (strcmp(verb, "listen") == 0) listen_on(rest);
    if (strcmp(verb, "dial") == 0) dial(rest);
    if (strcmp(verb, "send") == 0) send_sdus((long)number(rest[0]), rest[1] ? (long)number(rest[1]) : 1);
    if (strcmp(verb, "receive") == 0) receive((long)number(rest[0]));
    if (strcmp(verb, "drain") == 0) is_draining = number(rest[0]) != 0;
    if (strcmp(verb, "info") == 0) link_info();
    if (strcmp(verb, "hci") == 0) say("hci", hci = cbluez_hci_open_answers((uint16_t)number(rest[0]), CBLUEZ_READ_RSSI));
    if (strcmp(verb, "rssi") == 0) rssi(rest[0]);
    if (strcmp(verb, "close") == 0) close_one(&channel);
    if (strcmp(verb, "unlisten") == 0) close_one(&listener);
    if (strcmp(verb, "quit") == 0) exit(0);
}

// ---------------------------------------------------------------------------------------------------------------------
// Events
// ---------------------------------------------------------------------------------------------------------------------

static void accept_one(void) {
    cbluez_address peer = {0};
    int accepted = cbluez_l2cap_accept(listener, &peer);
    begin("accepted");
    say_result(accepted < 0 ? accepted : 0);
    if (accepted >= 0) say_address(&peer);
    end();
    if (accepted >= 0) channel = accepted;
}

static void watch_channel(void) {
    static uint8_t bytes[65536];
    if (is_dialling) {
        int result = cbluez_l2cap_dial_result(channel);
        is_dialling = false;
        begin("dialled");
        say_result(result);
        say_number("milliseconds", (long long)((now() - dial_start) * 1e3));
        end();
        if (result < 0) close_one(&channel);
        return;
    }
    ssize_t count;
    while ((count = cbluez_l2cap_receive(channel, bytes, sizeof bytes)) > 0) {
        drained_sdus++;
        drained_bytes += count;
    }
    if (count == -EAGAIN) return;
    begin("ended");
    say_result(count);
    say_number("sdus", drained_sdus);
    say_number("bytes", drained_bytes);
    end();
    drained_sdus = drained_bytes = 0;
    close_one(&channel);
}

static void watch_bus(void) {
    cbluez_bus_event event;
    int result;
    cbluez_bus_process(bus);
    while ((result = cbluez_bus_next(bus, &event)) == 1) say_bus_event(&event);
    if (result < 0) {
        cbluez_bus_close(bus);
        bus = NULL;
    }
}

int main(void) {
    char line[512];
    setvbuf(stdin, NULL, _IONBF, 0);
    begin("started");
    say_number("uid", getuid());
    end();
    for (;;) {
        struct pollfd states[] = {
            {.fd = STDIN_FILENO, .events = POLLIN},
            {.fd = bus ? cbluez_bus_descriptor(bus) : -1, .events = POLLIN},
            {.fd = listener, .events = POLLIN},
            {.fd = is_dialling || is_draining ? channel : -1, .events = is_dialling ? POLLOUT : POLLIN},
            {.fd = hci, .events = POLLIN},
        };
        if (bus && cbluez_bus_wants_write(bus)) states[1].events |= POLLOUT;
        poll(states, sizeof states / sizeof states[0], bus ? cbluez_bus_next_deadline_ms(bus) : -1);
        if (bus) watch_bus();
        if (listener >= 0 && states[2].revents) accept_one();
        if (channel >= 0 && states[3].revents) watch_channel();
        if (hci >= 0 && states[4].revents) read_rssi();
        if (states[0].revents) {
            if (!fgets(line, sizeof line, stdin)) return 0;
            obey(line);
        }
    }
}
