// SPDX-License-Identifier: Apache-2.0
//
// The commands that tune one LE link, and the events that report the result (Core specification, Vol 4, Part E). The
// kernel's security filter (net/bluetooth/hci_sock.c) lets only a process with CAP_NET_RAW send and receive these.

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>

#include "hci.h"

#define SUBEVENT_CONNECTION_COMPLETE 0x01
#define SUBEVENT_CONNECTION_UPDATE 0x03
#define SUBEVENT_DATA_LENGTH 0x07
#define SUBEVENT_ENHANCED_CONNECTION_COMPLETE 0x0A
#define SUBEVENT_PHY_UPDATE 0x0C

// The connection event length (7.8.18): no preference.
#define EVENT_LENGTH_MAX 0xFFFF

int cbluez_hci_open_links(uint16_t index) {
    const struct hci_filter filter = {
        .type_mask = 1u << HCI_EVENT_PKT,
        .event_mask = {1u << EVT_DISCONN_COMPLETE | 1u << EVT_CMD_COMPLETE | 1u << EVT_CMD_STATUS,
                       1u << (EVT_LE_META_EVENT - 32)},
    };
    return hci_open_raw(index, &filter);
}

int cbluez_hci_set_phy(int hci, uint16_t handle, uint8_t phys) {
    // Handle, "all PHYs" (each direction has a preference), PHYs to send on, PHYs to receive on, options of the coded
    // PHY.
    uint8_t parameters[7] = {0, 0, 0, phys, phys, 0, 0};
    hci_put_le16(parameters, handle);
    return hci_send_command(hci, CBLUEZ_OPCODE_SET_PHY, parameters, sizeof parameters);
}

int cbluez_hci_set_data_length(int hci, uint16_t handle, uint16_t octets, uint16_t microseconds) {
    uint8_t parameters[6];
    hci_put_le16(parameters, handle);
    hci_put_le16(parameters + 2, octets);
    hci_put_le16(parameters + 4, microseconds);
    return hci_send_command(hci, CBLUEZ_OPCODE_DATA_LENGTH, parameters, sizeof parameters);
}

int cbluez_hci_update_link(int hci, uint16_t handle, const cbluez_link_parameters *link) {
    uint8_t parameters[14] = {0};
    hci_put_le16(parameters, handle);
    hci_put_le16(parameters + 2, link->interval_min);
    hci_put_le16(parameters + 4, link->interval_max);
    hci_put_le16(parameters + 8, link->timeout);
    hci_put_le16(parameters + 12, EVENT_LENGTH_MAX);
    return hci_send_command(hci, CBLUEZ_OPCODE_UPDATE, parameters, sizeof parameters);
}

// ---------------------------------------------------------------------------------------------------------------------
// Events
// ---------------------------------------------------------------------------------------------------------------------

// `body` starts after the subevent code. All these events begin with status and handle, except the one for the data
// length.
static bool take_connection(const uint8_t *body, size_t count, size_t interval, cbluez_link_event *event) {
    if (count < interval + 6) return false;
    event->kind = CBLUEZ_LINK_UP;
    event->is_central = body[3] == 0;
    event->interval = hci_read_le16(body + interval);
    event->timeout = hci_read_le16(body + interval + 4);
    // A failed dial has no link.
    return body[0] == 0;
}

static bool take_update(const uint8_t *body, size_t count, cbluez_link_event *event) {
    if (count < 9) return false;
    event->kind = CBLUEZ_LINK_UPDATED;
    event->interval = hci_read_le16(body + 3);
    event->timeout = hci_read_le16(body + 7);
    return true;
}

static bool take_phy(const uint8_t *body, size_t count, cbluez_link_event *event) {
    if (count < 5) return false;
    event->kind = CBLUEZ_LINK_PHY;
    event->phy = body[3];
    return true;
}

static bool take_data_length(const uint8_t *body, size_t count, cbluez_link_event *event) {
    if (count < 10) return false;
    event->kind = CBLUEZ_LINK_DATA_LENGTH;
    event->handle = hci_read_le16(body);
    event->octets = hci_read_le16(body + 2);
    return true;
}

static bool take_meta(const uint8_t *body, size_t count, cbluez_link_event *event) {
    if (count < 4) return false;
    uint8_t subevent = body[0];
    body++;
    count--;
    if (subevent == SUBEVENT_DATA_LENGTH) return take_data_length(body, count, event);
    event->status = body[0];
    event->handle = hci_read_le16(body + 1);
    switch (subevent) {
    // After the role come the peer's address and its type; the newer form also has two resolved addresses.
    case SUBEVENT_CONNECTION_COMPLETE: return take_connection(body, count, 11, event);
    case SUBEVENT_ENHANCED_CONNECTION_COMPLETE: return take_connection(body, count, 23, event);
    case SUBEVENT_CONNECTION_UPDATE: return take_update(body, count, event);
    case SUBEVENT_PHY_UPDATE: return take_phy(body, count, event);
    default: return false;
    }
}

static bool take_refusal(uint8_t status, uint16_t opcode, cbluez_link_event *event) {
    bool is_ours =
        opcode == CBLUEZ_OPCODE_UPDATE || opcode == CBLUEZ_OPCODE_DATA_LENGTH || opcode == CBLUEZ_OPCODE_SET_PHY;
    event->kind = CBLUEZ_LINK_REFUSED;
    event->status = status;
    event->opcode = opcode;
    return is_ours && status != 0;
}

static bool take_event(uint8_t code, const uint8_t *body, size_t count, cbluez_link_event *event) {
    switch (code) {
    case EVT_LE_META_EVENT: return take_meta(body, count, event);
    case EVT_CMD_STATUS: return count >= 4 && take_refusal(body[0], hci_read_le16(body + 2), event);
    case EVT_CMD_COMPLETE: return count >= 4 && take_refusal(body[3], hci_read_le16(body + 1), event);
    case EVT_DISCONN_COMPLETE:
        if (count < 4 || body[0] != 0) return false;
        event->kind = CBLUEZ_LINK_DOWN;
        event->handle = hci_read_le16(body + 1);
        return true;
    default: return false;
    }
}

int cbluez_hci_read_link(int hci, cbluez_link_event *event) {
    uint8_t frame[1 + HCI_MAX_EVENT_SIZE];
    *event = (cbluez_link_event){0};
    ssize_t count = hci_receive(hci, frame, sizeof frame);
    if (count < 0) return (int)count;
    // Packet type, code, length.
    if (count < 3 || frame[0] != HCI_EVENT_PKT) return 0;
    return take_event(frame[1], frame + 3, (size_t)count - 3, event) ? 1 : 0;
}
