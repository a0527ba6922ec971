// SPDX-License-Identifier: Apache-2.0
//
// The C shim between RoadMesh and Linux's Bluetooth stack: L2CAP channels and HCI through libbluetooth's headers, and
// bluetoothd through libdbus-1.
//
// Rules of this file:
//  - It decides nothing: no retry, no timer, no policy. One call does one thing.
//  - It keeps no global state. A file descriptor or a `cbluez_bus` is all there is, and the caller owns it.
//  - Nothing blocks: every descriptor is non-blocking and close-on-exec, and every D-Bus call ends as an event. The one
//    exception is `cbluez_hci_power_cycle`, for which the kernel has no other form.
//  - It returns a value >= 0, or a negative errno (`-ENODEV`); refusals over D-Bus have error names.
//  - A `cbluez_bus` is used by one thread at a time; the rest is safe from any thread.

#ifndef CBLUEZ_H
#define CBLUEZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "CBlueZLinux.h"

#if !__has_include(<bluetooth/bluetooth.h>)
#error "RoadMesh needs the package libbluetooth-dev: sudo apt-get install libbluetooth-dev"
#endif
#if !__has_include(<dbus/dbus.h>)
#error "RoadMesh needs the package libdbus-1-dev: sudo apt-get install libdbus-1-dev"
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------------------------------
// Addresses
// ---------------------------------------------------------------------------------------------------------------------

/// The kinds of LE address; the values are the kernel's (`BDADDR_LE_PUBLIC`, `BDADDR_LE_RANDOM`).
enum {
    CBLUEZ_ADDRESS_PUBLIC = 1,
    CBLUEZ_ADDRESS_RANDOM = 2,
};

/// A device address: six bytes in the order they are written (most significant first), and its kind.
typedef struct {
    uint8_t bytes[6];
    uint8_t kind;
} cbluez_address;

/// Length of `XX:XX:XX:XX:XX:XX` with its final NUL.
#define CBLUEZ_ADDRESS_TEXT 18

/// Reads `XX:XX:XX:XX:XX:XX`; `kind` is left alone. 0, or -EINVAL.
int cbluez_address_parse(const char *text, cbluez_address *address);
/// Writes `XX:XX:XX:XX:XX:XX` in capitals.
void cbluez_address_format(const cbluez_address *address, char text[CBLUEZ_ADDRESS_TEXT]);

// ---------------------------------------------------------------------------------------------------------------------
// L2CAP LE credit-based channels (Core specification, Vol 3, Part A, 10.1)
// ---------------------------------------------------------------------------------------------------------------------

/// Options set before listening or dialling; a zero leaves the kernel's default.
typedef struct {
    /// Largest SDU that we take (BT_RCVMTU), in bytes.
    uint16_t receive_mtu;
    /// Socket send buffer (SO_SNDBUF), in bytes. It is a latency queue: small is good.
    uint32_t send_buffer;
    /// Socket receive buffer (SO_RCVBUF), in bytes. The kernel grants credits while there is room in it.
    uint32_t receive_buffer;
    /// BT_SECURITY level: 0 leaves it, 1 low, 2 medium (encrypted), 3 high (MITM), 4 FIPS (Secure Connections).
    uint8_t security_level;
} cbluez_l2cap_options;

/// What the kernel says of a connected channel.
typedef struct {
    /// HCI connection handle (L2CAP_CONNINFO).
    uint16_t handle;
    /// Largest SDU the peer takes, and that we take, in bytes (BT_SNDMTU, BT_RCVMTU).
    uint16_t send_mtu;
    uint16_t receive_mtu;
    /// BT_PHY bit mask, 0 where the kernel does not tell.
    uint32_t phy;
    /// Bytes that wait in the socket's send queue, with the kernel's overhead (about 768 for a packet of 247); -1 where
    /// unknown. Closing throws away what waits; at 0 the controller has it all, and the peer receives it.
    int32_t send_queue;
} cbluez_link_info;

/// Opens a listening SOCK_SEQPACKET socket bound to a local adapter's address. `psm` 0 takes a free dynamic LE PSM.
/// `bound_psm` receives the PSM in use. Returns the descriptor, or a negative errno.
int cbluez_l2cap_listen(const cbluez_address *local, uint16_t psm, const cbluez_l2cap_options *options, int backlog,
                        uint16_t *bound_psm);
/// Accepts one channel: its descriptor and the peer's address, -EAGAIN when none waits, or a negative errno.
int cbluez_l2cap_accept(int listener, cbluez_address *peer);
/// Starts to dial from a local adapter's address. Returns the descriptor at once; the connection is in progress until
/// the descriptor is writable, and `cbluez_l2cap_dial_result` then tells. Closing the descriptor cancels the dial.
/// The kernel gives up after 40 s (L2CAP_CONN_TIMEOUT) with ECONNREFUSED, as when nobody listens at the PSM.
/// Close pending dials before an adapter is powered off: Linux 6.1 without ab4eedb790ca crashes on closing them later.
int cbluez_l2cap_dial(const cbluez_address *local, const cbluez_address *peer, uint16_t psm,
                      const cbluez_l2cap_options *options);
/// 0 when the dial ended in a connection, -EINPROGRESS while it goes on, or the negative errno it ended with (SO_ERROR,
/// which this clears).
int cbluez_l2cap_dial_result(int channel);
/// Sends one SDU, all or nothing. Returns its length, -EAGAIN without credits or room (whatever its size), -EMSGSIZE
/// above the peer's MTU, -EINVAL when it is empty: such an SDU cannot be sent.
ssize_t cbluez_l2cap_send(int channel, const void *bytes, size_t count);
/// Receives one SDU. Returns its length, 0 when the peer has closed and all that came before has been received, -EAGAIN
/// when none waits, -EMSGSIZE when it was longer than `capacity` (it is then gone), -EBADMSG when it was empty: no
/// honest peer sends one. What a link ended with is told once, by the next send or receive; then it is -ENOTCONN.
ssize_t cbluez_l2cap_receive(int channel, void *bytes, size_t capacity);
/// Fills in what the kernel knows of a connected channel. 0, or a negative errno.
int cbluez_l2cap_link_info(int channel, cbluez_link_info *info);
/// How the link below a connected channel is secured now (BT_SECURITY): `level` as in `cbluez_l2cap_options`, of the link's
/// encryption and not of what was asked for; `key_size` of that key in bytes, 0 where the link is not encrypted. 0, or a
/// negative errno.
int cbluez_l2cap_security(int channel, uint8_t *level, uint8_t *key_size);

// ---------------------------------------------------------------------------------------------------------------------
// HCI
// ---------------------------------------------------------------------------------------------------------------------

/// One adapter as the kernel lists it.
typedef struct {
    uint16_t index;
    char name[8];
    cbluez_address address;
    bool is_up;
    /// False on a BR/EDR-only controller.
    bool has_le;
} cbluez_hci_device;

/// Lists adapters into `devices`; returns how many were written (at most `capacity`), or a negative errno.
/// A kernel without Bluetooth answers -EAFNOSUPPORT; one without adapters 0.
int cbluez_hci_devices(cbluez_hci_device *devices, size_t capacity);

/// 1 where the adapter has an LE link that this peer has made, 0 where it has none, or a negative errno.
int cbluez_hci_is_incoming(uint16_t index, const cbluez_address *peer);
/// The handle of the LE link to this peer, -ENOENT where there is none, or a negative errno.
int cbluez_hci_link_handle(uint16_t index, const cbluez_address *peer);

/// What the kernel knows of a controller, up or not.
typedef struct {
    /// Core specification version (assigned numbers, 2.1): 8 is 4.2, 9 is 5.0. 0 before the controller was first up.
    uint8_t version;
    uint16_t manufacturer;
    /// The kernel's own advertising is on (`btmgmt advertising on`).
    bool advertises_itself;
    /// The kernel tells of roles at all (5.9 and later).
    bool tells_roles;
    /// Central and peripheral at once, and the driver vouches for it (HCI_QUIRK_VALID_LE_STATES).
    bool has_both_roles;
} cbluez_hci_facts;

/// Opens the kernel's management channel. It tells and reads without a capability; changing anything takes CAP_NET_ADMIN.
int cbluez_hci_open_control(void);
/// Reads what the kernel knows of an adapter; the kernel answers at once. 0, or a negative errno.
int cbluez_hci_read_facts(int control, uint16_t index, cbluez_hci_facts *facts);

/// What the kernel uses on an adapter where an advertisement or a dial names nothing else (mgmt-api.txt, Default System
/// Configuration): advertising intervals in 0.625 ms, connection intervals in 1.25 ms, supervision timeout in 10 ms.
typedef struct {
    uint16_t advertising_min;
    uint16_t advertising_max;
    uint16_t connection_min;
    uint16_t connection_max;
    uint16_t supervision_timeout;
} cbluez_hci_defaults;

/// Reads them; no capability is needed. 0, -EOPNOTSUPP on a kernel that does not tell (before 5.9), or a negative errno.
int cbluez_hci_read_defaults(int control, uint16_t index, cbluez_hci_defaults *defaults);
/// Sets them, for what is advertised and dialled from now on. 0, -EPERM where the channel was opened without CAP_NET_ADMIN,
/// or a negative errno. The kernel takes any values: who calls this checks them.
int cbluez_hci_set_defaults(int control, uint16_t index, const cbluez_hci_defaults *defaults);
/// Gives one device the connection parameters of `defaults` (Load Connection Parameters). The kernel keeps those of each device that
/// was dialled, or has asked for others since, and prefers them to the defaults; of devices that bluetoothd does not connect to by
/// itself it forgets the others'. As `cbluez_hci_set_defaults`.
int cbluez_hci_load_parameters(
    int control, uint16_t index, const cbluez_address *peer, const cbluez_hci_defaults *defaults);

/// Bytes of a legacy advertisement, and of its scan response.
#define CBLUEZ_ADVERTISED 31

/// An advertisement as it is on the air, and its scan response.
typedef struct {
    uint8_t count;
    uint8_t response_count;
    uint8_t bytes[CBLUEZ_ADVERTISED];
    uint8_t response[CBLUEZ_ADVERTISED];
} cbluez_advertised;

/// Commands of the management channel that the kernel answers later: see `cbluez_hci_read_reply`.
enum {
    CBLUEZ_ADD_ADVERTISING = 0x003e,
    CBLUEZ_REMOVE_ADVERTISING = 0x003f,
};

/// How many advertisements the kernel takes on an adapter, numbered from 1. -EPERM where the channel was opened without
/// CAP_NET_ADMIN, as for the next two, or a negative errno.
int cbluez_hci_advertising_instances(int control, uint16_t index);
/// Has the kernel itself advertise, connectable, at the adapter's default interval (Add Advertising); a former advertisement
/// of that number is replaced. bluetoothd is not asked and may run. The kernel ends it after `lifetime_s` seconds; 0: never.
/// 0, or a negative errno.
int cbluez_hci_add_advertising(
    int control, uint16_t index, uint8_t instance, const cbluez_advertised *contents, uint16_t lifetime_s);
/// Ends it. 0, or a negative errno. The reply is -EINVAL if the kernel has no advertisement of that number.
int cbluez_hci_remove_advertising(int control, uint16_t index, uint8_t instance);
/// Reads one waiting packet. 1 where the kernel has done what this command asks, 0 where the packet is another, -EAGAIN
/// where none waits, or a negative errno where it has refused: -EBUSY, -EINVAL, -ENODEV, -ENETDOWN, -EPERM, -EOPNOTSUPP.
int cbluez_hci_read_reply(int control, uint16_t index, uint16_t opcode);

/// Commands that ask a controller (Vol 4, Part E, 7.4.1, 7.8.3 and 7.5.4). LE Read Local Supported Features takes
/// CAP_NET_RAW, the others nothing.
enum {
    CBLUEZ_READ_LOCAL_VERSION = 0x1001,
    CBLUEZ_LE_READ_FEATURES = 0x2003,
    CBLUEZ_READ_RSSI = 0x1405,
};

/// A controller's answer to a command.
typedef struct {
    uint16_t opcode;
    /// 0 is good.
    uint8_t status;
    /// What follows the status, and how many bytes of it there are.
    uint8_t count;
    uint8_t bytes[32];
} cbluez_hci_answer;

/// Opens a raw HCI socket on an adapter that hears the answers to one command, or to all (opcode 0): other processes'
/// too.
int cbluez_hci_open_answers(uint16_t index, uint16_t opcode);
/// Sends a command without parameters. 0, -EPERM without the capability it takes, -ENETDOWN on an adapter that is off.
int cbluez_hci_request(int hci, uint16_t opcode);
/// Reads one waiting event. 1 when it was an answer, 0 when it was another, -EAGAIN when none waits, or a negative errno.
int cbluez_hci_read_answer(int hci, cbluez_hci_answer *answer);

/// A controller that refuses Read RSSI may leave out for which handle, and 127 dBm is the specification's "unknown".
#define CBLUEZ_HANDLE_UNKNOWN 0xFFFF
#define CBLUEZ_RSSI_UNKNOWN 127
/// Asks for the signal strength of a connection, by its handle. As `cbluez_hci_request`.
int cbluez_hci_request_rssi(int hci, uint16_t handle);
/// Whether an answer is one to Read RSSI: for whom, and dBm.
bool cbluez_hci_rssi(const cbluez_hci_answer *answer, uint16_t *handle, int8_t *rssi);

/// Switches an adapter off and on (HCIDEVDOWN, HCIDEVUP), with CAP_NET_ADMIN; -EPERM without. It blocks for as long as the
/// controller takes, some 15 s where that does not answer: call it on a thread that may wait. 0, or a negative errno.
int cbluez_hci_power_cycle(uint16_t index);

// ---------------------------------------------------------------------------------------------------------------------
// HCI: links, for a process with CAP_NET_RAW
// ---------------------------------------------------------------------------------------------------------------------

/// Opens a raw HCI socket on an adapter, filtered to what tells of LE links. Without CAP_NET_RAW it opens too, and hears
/// nothing of them.
int cbluez_hci_open_links(uint16_t index);

/// The bit of the 2M PHY in LE Set PHY.
#define CBLUEZ_PHY_2M 0x02

/// What LE Connection Update asks for (Vol 4, Part E, 7.8.18): intervals in 1.25 ms, timeout in 10 ms. No event is left out
/// (latency 0).
typedef struct {
    uint16_t interval_min;
    uint16_t interval_max;
    uint16_t timeout;
} cbluez_link_parameters;

/// Each sends one command: 0, -EPERM without CAP_NET_RAW, -EAGAIN, or a negative errno. What comes of it is told by
/// `cbluez_hci_read_link`.
/// LE Set PHY (7.8.49), the same in both directions.
int cbluez_hci_set_phy(int hci, uint16_t handle, uint8_t phys);
/// LE Set Data Length (7.8.33): payload of a packet in bytes, and the microseconds it may take.
int cbluez_hci_set_data_length(int hci, uint16_t handle, uint16_t octets, uint16_t microseconds);
/// LE Connection Update (7.8.18).
int cbluez_hci_update_link(int hci, uint16_t handle, const cbluez_link_parameters *parameters);

enum {
    /// A link is up: `interval`, `timeout`, and `is_central`.
    CBLUEZ_LINK_UP = 1,
    CBLUEZ_LINK_DOWN,
    /// `interval` and `timeout` are what they say from now on; where `status` is not 0 they stay what they were.
    CBLUEZ_LINK_UPDATED,
    /// `phy` (1: 1M, 2: 2M, 3: coded; what we send on), or a `status`.
    CBLUEZ_LINK_PHY,
    /// `octets`: payload of a packet that we send, in bytes.
    CBLUEZ_LINK_DATA_LENGTH,
    /// The controller has refused a command, with `status`: `opcode` says which. Not of which link.
    CBLUEZ_LINK_REFUSED,
};

/// The opcodes in CBLUEZ_LINK_REFUSED.
#define CBLUEZ_OPCODE_UPDATE 0x2013
#define CBLUEZ_OPCODE_DATA_LENGTH 0x2022
#define CBLUEZ_OPCODE_SET_PHY 0x2032

/// What happened to a link. A member counts where its kind says so.
typedef struct {
    int kind;
    uint16_t handle;
    uint8_t status;
    uint16_t opcode;
    bool is_central;
    /// In 1.25 ms, and in 10 ms.
    uint16_t interval;
    uint16_t timeout;
    uint8_t phy;
    uint16_t octets;
} cbluez_link_event;

/// Reads one waiting event. 1 when it was one of the above, 0 when it was another, -EAGAIN when none waits, or a negative
/// errno.
int cbluez_hci_read_link(int hci, cbluez_link_event *event);

// ---------------------------------------------------------------------------------------------------------------------
// bluetoothd over D-Bus
// ---------------------------------------------------------------------------------------------------------------------

/// A private connection to the message bus.
typedef struct cbluez_bus cbluez_bus;

/// Room for the text of an error.
#define CBLUEZ_ERROR_TEXT 256

/// Opens a private connection to the bus at `address` (NULL: the system bus, honouring DBUS_SYSTEM_BUS_ADDRESS), asks
/// for a unique name, and subscribes to what org.bluez says: objects, properties, and its own coming and going. None of
/// it is waited for: CBLUEZ_EVENT_READY comes when the bus has answered. 0 and `*bus`, or a negative errno and a D-Bus
/// error text in `error` (at most CBLUEZ_ERROR_TEXT bytes, may be NULL).
int cbluez_bus_open(const char *address, cbluez_bus **bus, char *error);
/// Closes the connection and frees everything. bluetoothd drops our advertisements and discovery by itself.
void cbluez_bus_close(cbluez_bus *bus);
/// The descriptor to wait on.
int cbluez_bus_descriptor(const cbluez_bus *bus);
/// True while output waits, or events that have not been taken, so that the descriptor should be watched for writing
/// too. To be asked before every wait: a call may have changed it.
bool cbluez_bus_wants_write(const cbluez_bus *bus);
/// Reads and writes what can be without blocking; afterwards `cbluez_bus_next` until it returns 0, which also tells the
/// calls whose time is up. 0, or -ENOTCONN when the bus has gone (`cbluez_bus_next` still tells what came before).
/// What is not taken waits, within bounds, and then on the bus's side: nothing more is read until it is.
int cbluez_bus_process(cbluez_bus *bus);
/// Milliseconds until `cbluez_bus_process` and `cbluez_bus_next` should be called again although nothing is readable: a
/// call's time is up then, or a turn of the authentication is due. -1 while there is no such time.
int cbluez_bus_next_deadline_ms(const cbluez_bus *bus);

enum {
    /// The bus has given us a name: calls can be answered from now on.
    CBLUEZ_EVENT_READY = 1,
    /// A call has ended: `serial`, and `error_name` and `error_text` when it failed.
    CBLUEZ_EVENT_REPLY,
    /// An adapter (org.bluez.Adapter1) exists or has changed: `path` and `fields`.
    CBLUEZ_EVENT_ADAPTER,
    CBLUEZ_EVENT_ADAPTER_REMOVED,
    /// A remote device (org.bluez.Device1) exists or has changed: `path` and `fields`.
    CBLUEZ_EVENT_DEVICE,
    CBLUEZ_EVENT_DEVICE_REMOVED,
    /// org.bluez came to the bus, or left it. After READY one of them is told at once, whichever is true.
    CBLUEZ_EVENT_BLUEZ_APPEARED,
    CBLUEZ_EVENT_BLUEZ_VANISHED,
    /// bluetoothd has dropped the advertisement at `path` (its `Release`).
    CBLUEZ_EVENT_ADVERTISEMENT_RELEASED,
    /// The agent is asked whether the device at `path` shows the number `passkey` too. `request` answers it.
    CBLUEZ_EVENT_AGENT_QUESTION,
    /// The question of that `request` is void: the pairing has ended, or the device is gone.
    CBLUEZ_EVENT_AGENT_CANCELLED,
    /// bluetoothd has dropped the agent (its `Release`); a question that was open is void.
    CBLUEZ_EVENT_AGENT_RELEASED,
    /// The device at `path` reads a characteristic of ours. `request` answers it, by `cbluez_bus_answer_read`.
    CBLUEZ_EVENT_GATT_READ,
    /// The device at `path` writes to a characteristic, or has subscribed to it, and bluetoothd wants a descriptor for the data: in
    /// packets of at most `mtu` less 3 bytes. `request` answers it, by `cbluez_bus_answer_acquire`.
    CBLUEZ_EVENT_GATT_ACQUIRE_WRITE,
    CBLUEZ_EVENT_GATT_ACQUIRE_NOTIFY,
    /// The connection to the bus is gone; nothing follows.
    CBLUEZ_EVENT_CLOSED,
};

/// Which members of an event are present.
enum {
    CBLUEZ_FIELD_ADDRESS = 1 << 0,
    CBLUEZ_FIELD_POWERED = 1 << 1,
    CBLUEZ_FIELD_DISCOVERING = 1 << 2,
    CBLUEZ_FIELD_CONNECTED = 1 << 3,
    CBLUEZ_FIELD_RSSI = 1 << 4,
    CBLUEZ_FIELD_NAME = 1 << 5,
    CBLUEZ_FIELD_MANUFACTURER = 1 << 6,
    CBLUEZ_FIELD_UUIDS = 1 << 7,
    CBLUEZ_FIELD_PAIRED = 1 << 8,
    /// The device is no longer heard (bluetoothd took its RSSI back).
    CBLUEZ_FIELD_RSSI_GONE = 1 << 9,
    /// Told of an adapter when objects are listed or it appears, not when they change.
    CBLUEZ_FIELD_ACTIVE_INSTANCES = 1 << 10,
    CBLUEZ_FIELD_FREE_INSTANCES = 1 << 11,
    CBLUEZ_FIELD_ICON = 1 << 12,
    /// A key is stored for the device (BlueZ 5.65 and later; before, only PAIRED is told).
    CBLUEZ_FIELD_BONDED = 1 << 13,
    /// What the person calls the device, or else its name.
    CBLUEZ_FIELD_ALIAS = 1 << 14,
};

/// Bytes of one company's manufacturer data that are kept: all that fits a legacy advertisement.
#define CBLUEZ_MANUFACTURER_DATA 29
/// Service UUIDs of one device that are kept, and the room for each as text with its NUL.
#define CBLUEZ_UUIDS 8
#define CBLUEZ_UUID_TEXT 37
/// Room for a device's or adapter's name, with its NUL (248 bytes, Vol 3, Part C, 3.2.2.1).
#define CBLUEZ_NAME_TEXT 249
/// Room for an object path, and for an error's name.
#define CBLUEZ_PATH_TEXT 256
/// Room for the name of a device's icon (freedesktop.org's icon naming), with its NUL.
#define CBLUEZ_ICON_TEXT 32

/// One event. A member counts only where its kind or `fields` says so. Texts are UTF-8, cut where too long.
typedef struct {
    int kind;
    uint32_t fields;
    uint32_t serial;
    char path[CBLUEZ_PATH_TEXT];
    char error_name[CBLUEZ_PATH_TEXT];
    char error_text[CBLUEZ_ERROR_TEXT];
    /// Address of a device or adapter, with its kind.
    cbluez_address address;
    bool powered;
    bool discovering;
    bool connected;
    bool paired;
    bool bonded;
    int16_t rssi;
    char name[CBLUEZ_NAME_TEXT];
    char alias[CBLUEZ_NAME_TEXT];
    /// The characteristic of a GATT event, by its place in the application, and the ATT MTU of its link.
    uint8_t characteristic;
    uint16_t mtu;
    /// The number that both sides compare, 0 to 999999, and which question it belongs to.
    uint32_t passkey;
    uint32_t request;
    uint16_t company;
    uint8_t manufacturer_data[CBLUEZ_MANUFACTURER_DATA];
    uint8_t manufacturer_count;
    /// Where there are more than fit, those assigned by the Bluetooth SIG are left out first.
    uint8_t uuid_count;
    char uuids[CBLUEZ_UUIDS][CBLUEZ_UUID_TEXT];
    /// An adapter's advertisements that are registered, and how many more it takes (org.bluez.LEAdvertisingManager1).
    uint8_t active_instances;
    uint8_t free_instances;
    /// What kind of device it is: `phone`, `audio-headset`.
    char icon[CBLUEZ_ICON_TEXT];
} cbluez_bus_event;

/// Takes the next event. 1 with an event, 0 when there is none, -ENOTCONN after CBLUEZ_EVENT_CLOSED.
int cbluez_bus_next(cbluez_bus *bus, cbluez_bus_event *event);

/// The calls. Each returns the serial (> 0) that its CBLUEZ_EVENT_REPLY will carry, or a negative errno: -EINVAL for a
/// path, text or timeout that cannot be, -ENOBUFS while 64 calls wait, -ENOTCONN when the bus has gone. A reply comes
/// always, as `org.freedesktop.DBus.Error.NoReply` after `timeout_ms` (> 0) at the latest. No call starts bluetoothd.
/// `list_objects` is answered by ADAPTER and DEVICE events for everything that exists, then by its REPLY.
int64_t cbluez_bus_list_objects(cbluez_bus *bus, int timeout_ms);
/// Adapter1.SetDiscoveryFilter with Transport=le and nothing else. BlueZ 5.87 crashes when a filter contains UUIDs
/// (bluez/bluez#2282), so the caller selects devices by their advertised services.
int64_t cbluez_bus_set_discovery_filter(cbluez_bus *bus, const char *adapter, int timeout_ms);
int64_t cbluez_bus_start_discovery(cbluez_bus *bus, const char *adapter, int timeout_ms);
int64_t cbluez_bus_stop_discovery(cbluez_bus *bus, const char *adapter, int timeout_ms);
/// Sets Adapter1.Powered.
int64_t cbluez_bus_set_powered(cbluez_bus *bus, const char *adapter, bool powered, int timeout_ms);
/// Adapter1.RemoveDevice: forgets a device, and drops its link.
int64_t cbluez_bus_remove_device(cbluez_bus *bus, const char *adapter, const char *device, int timeout_ms);

/// A legacy connectable advertisement (org.bluez.LEAdvertisement1, type "peripheral").
typedef struct {
    /// One 128-bit service UUID as text, or NULL.
    const char *uuid;
    uint16_t company;
    const uint8_t *manufacturer_data;
    size_t manufacturer_count;
    /// Goes into the scan response, or NULL.
    const char *local_name;
    /// Milliseconds; honoured by bluetoothd with -E before 5.77. 0: not given.
    uint32_t min_interval_ms;
    uint32_t max_interval_ms;
} cbluez_advertisement;

/// Exports `advertisement` at `path` and calls LEAdvertisingManager1.RegisterAdvertisement. Its members are copied. A
/// path that is registered already is replaced on our side, so unregister it first. -ENOSPC above 8 of them, -EINVAL
/// for texts or data that no advertisement can hold. All of them end with BLUEZ_VANISHED, without a Release.
int64_t cbluez_bus_register_advertisement(cbluez_bus *bus, const char *adapter, const char *path,
                                          const cbluez_advertisement *advertisement, int timeout_ms);
int64_t cbluez_bus_unregister_advertisement(cbluez_bus *bus, const char *adapter, const char *path, int timeout_ms);

enum {
    CBLUEZ_CHARACTERISTIC_READ = 1,
    /// Written without response.
    CBLUEZ_CHARACTERISTIC_WRITE,
    CBLUEZ_CHARACTERISTIC_NOTIFY,
};

/// A characteristic of ours: its UUID as text, and what can be done with it.
typedef struct {
    const char *uuid;
    int kind;
} cbluez_characteristic;

/// Characteristics of our service at most.
#define CBLUEZ_CHARACTERISTICS 16

/// Exports a GATT application at `path`, with one primary service, and calls GattManager1.RegisterApplication. Everything is
/// copied. One application at a time, -EBUSY above that, and 16 of its questions open; -EINVAL for what no service can have. It ends
/// with BLUEZ_VANISHED.
int64_t cbluez_bus_register_application(cbluez_bus *bus, const char *adapter, const char *path, const char *service,
                                        const cbluez_characteristic *characteristics, size_t count, int timeout_ms);
/// Its questions are void from now on.
int64_t cbluez_bus_unregister_application(cbluez_bus *bus, const char *adapter, const char *path, int timeout_ms);
/// Each answers a question. 0, -ENOENT where there is none of that number or of that kind, -ENOMEM.
/// With a value; the part of it that was asked for is sent.
int cbluez_bus_answer_read(cbluez_bus *bus, uint32_t request, const uint8_t *bytes, size_t count);
/// With a descriptor, which is duplicated: one end of a pair of SOCK_SEQPACKET sockets. It must not block, since bluetoothd would.
int cbluez_bus_answer_acquire(cbluez_bus *bus, uint32_t request, int descriptor, uint16_t mtu);
/// With no. What is written is dropped then.
int cbluez_bus_refuse_gatt(cbluez_bus *bus, uint32_t request);

/// Exports an agent (org.bluez.Agent1) at `path` and calls AgentManager1.RegisterAgent with DisplayYesNo. It compares
/// numbers and nothing else: every other question of bluetoothd's gets org.bluez.Error.Rejected. One agent at a time,
/// -EBUSY above that; it ends with BLUEZ_VANISHED, without a Release.
int64_t cbluez_bus_register_agent(cbluez_bus *bus, const char *path, int timeout_ms);
/// AgentManager1.RequestDefaultAgent: the agent speaks for pairings that others begin, and its capability is the
/// adapters'.
int64_t cbluez_bus_request_default_agent(cbluez_bus *bus, const char *path, int timeout_ms);
/// AgentManager1.UnregisterAgent. A question that is open is answered with no, and void.
int64_t cbluez_bus_unregister_agent(cbluez_bus *bus, const char *path, int timeout_ms);
/// Answers a question of the agent's. 0, -ENOENT when it is void, -ENOMEM.
int cbluez_bus_answer_agent(cbluez_bus *bus, uint32_t request, bool is_yes);
/// Device1.Pair. Its REPLY comes when the devices are bonded, or have failed to; give it time for people.
int64_t cbluez_bus_pair_device(cbluez_bus *bus, const char *device, int timeout_ms);
/// Device1.Disconnect: drops the link and keeps the bond.
int64_t cbluez_bus_disconnect_device(cbluez_bus *bus, const char *device, int timeout_ms);
/// Sets Device1.Alias, at most CBLUEZ_NAME_TEXT - 1 bytes.
int64_t cbluez_bus_set_alias(cbluez_bus *bus, const char *device, const char *alias, int timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
