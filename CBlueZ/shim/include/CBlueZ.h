// SPDX-License-Identifier: Apache-2.0
//
// The C shim between RoadMesh and Linux's Bluetooth stack: L2CAP channels and HCI through libbluetooth's headers, and
// bluetoothd through libdbus-1.
//
// Rules of this file:
//  - It makes no decisions: no retry, no timer, no policy. One call does one thing.
//  - It keeps no global state. The only state is a file descriptor or a `cbluez_bus`, and the caller owns it.
//  - Nothing blocks: every descriptor is non-blocking and close-on-exec, and every D-Bus call ends as an event. The one
//    exception is `cbluez_hci_power_cycle`, because the kernel has no non-blocking call for it.
//  - It returns a value >= 0, or a negative errno (`-ENODEV`). Refusals over D-Bus have error names.
//  - A `cbluez_bus` may be used by one thread at a time. Everything else is safe from any thread.

#ifndef CBLUEZ_H
#define CBLUEZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

/// Reads `XX:XX:XX:XX:XX:XX`, and does not change `kind`. Returns 0, or -EINVAL.
int cbluez_address_parse(const char *text, cbluez_address *address);
/// Writes `XX:XX:XX:XX:XX:XX` in capitals.
void cbluez_address_format(const cbluez_address *address, char text[CBLUEZ_ADDRESS_TEXT]);

// ---------------------------------------------------------------------------------------------------------------------
// L2CAP LE credit-based channels (Core specification, Vol 3, Part A, 10.1)
// ---------------------------------------------------------------------------------------------------------------------

/// Options set before listening or dialling; a zero leaves the kernel's default.
typedef struct {
    /// Largest SDU that we accept (BT_RCVMTU), in bytes.
    uint16_t receive_mtu;
    /// Socket send buffer (SO_SNDBUF), in bytes. A small buffer keeps latency low.
    uint32_t send_buffer;
    /// Socket receive buffer (SO_RCVBUF), in bytes. The kernel grants credits while there is room in it.
    uint32_t receive_buffer;
    /// BT_SECURITY level: 0 does not set it, 1 low, 2 medium (encrypted), 3 high (MITM), 4 FIPS (Secure Connections).
    uint8_t security_level;
} cbluez_l2cap_options;

/// The kernel's data about a connected channel.
typedef struct {
    /// HCI connection handle (L2CAP_CONNINFO).
    uint16_t handle;
    /// Largest SDU that the peer accepts, and that we accept, in bytes (BT_SNDMTU, BT_RCVMTU).
    uint16_t send_mtu;
    uint16_t receive_mtu;
    /// BT_PHY bit mask, 0 if the kernel does not report it.
    uint32_t phy;
    /// Bytes in the socket's send queue, with the kernel's overhead (about 768 for a packet of 247); -1 if unknown.
    /// Closing drops them. At 0 the controller has all data, and the peer receives it.
    int32_t send_queue;
} cbluez_link_info;

/// Opens a listening SOCK_SEQPACKET socket bound to a local adapter's address. `psm` 0 chooses a free dynamic LE PSM.
/// `bound_psm` receives the PSM in use. Returns the descriptor, or a negative errno.
int cbluez_l2cap_listen(const cbluez_address *local, uint16_t psm, const cbluez_l2cap_options *options, int backlog,
                        uint16_t *bound_psm);
/// Accepts one channel. Returns its descriptor and the peer's address, -EAGAIN if no channel waits, or a negative
/// errno.
int cbluez_l2cap_accept(int listener, cbluez_address *peer);
/// Starts to dial from a local adapter's address. Returns the descriptor at once. The dial is pending until the
/// descriptor is writable; then `cbluez_l2cap_dial_result` has its result. Closing the descriptor cancels the dial.
/// The kernel gives up after 40 s (L2CAP_CONN_TIMEOUT) with ECONNREFUSED, as if the peer did not listen at the PSM.
/// Close pending dials before an adapter is powered off: Linux 6.1 without ab4eedb790ca crashes if they are closed
/// later.
int cbluez_l2cap_dial(const cbluez_address *local, const cbluez_address *peer, uint16_t psm,
                      const cbluez_l2cap_options *options);
/// Returns 0 if the dial has connected, -EINPROGRESS while it is pending, or the negative errno that it failed with
/// (SO_ERROR, which this clears).
int cbluez_l2cap_dial_result(int channel);
/// Sends one SDU, all or nothing. Returns its length, -EAGAIN without credits or room (whatever its size), -EMSGSIZE
/// above the peer's MTU, or -EINVAL if it is empty, because empty SDUs cannot be sent.
ssize_t cbluez_l2cap_send(int channel, const void *bytes, size_t count);
/// Receives one SDU. Returns its length; 0 if the peer has closed and everything before that has been received; -EAGAIN
/// if no SDU waits; -EMSGSIZE if it was longer than `capacity` (it is then lost); -EBADMSG if it was empty, which no
/// honest peer sends. The next send or receive reports once why a link ended; after that, the result is -ENOTCONN.
ssize_t cbluez_l2cap_receive(int channel, void *bytes, size_t capacity);
/// Fills in what the kernel knows of a connected channel. 0, or a negative errno.
int cbluez_l2cap_link_info(int channel, cbluez_link_info *info);
/// The current security of the link below a connected channel (BT_SECURITY). `level` is as in `cbluez_l2cap_options`,
/// but states the link's encryption, not what was asked for. `key_size` is in bytes, 0 if the link is not encrypted.
/// Returns 0, or a negative errno.
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

/// Lists adapters into `devices`. Returns how many were written (at most `capacity`), -EAFNOSUPPORT on a kernel without
/// Bluetooth, or another negative errno.
int cbluez_hci_devices(cbluez_hci_device *devices, size_t capacity);

/// Returns 1 if the adapter has an LE link that this peer initiated, 0 if it has not, or a negative errno.
int cbluez_hci_is_incoming(uint16_t index, const cbluez_address *peer);
/// Returns the handle of the LE link to this peer, -ENOENT without one, or another negative errno.
int cbluez_hci_link_handle(uint16_t index, const cbluez_address *peer);

/// What the kernel knows of a controller, up or not.
typedef struct {
    /// Core specification version (assigned numbers, 2.1): 8 is 4.2, 9 is 5.0. 0 until the controller has been up once.
    uint8_t version;
    uint16_t manufacturer;
    /// The kernel's own advertising is on (`btmgmt advertising on`).
    bool advertises_itself;
    /// The kernel reports the roles (5.9 and later).
    bool tells_roles;
    /// The controller can be central and peripheral at once, and the driver confirms that (HCI_QUIRK_VALID_LE_STATES).
    bool has_both_roles;
} cbluez_hci_facts;

/// Opens the kernel's management channel. Events and reads need no capability; every change needs CAP_NET_ADMIN.
int cbluez_hci_open_control(void);
/// Reads the kernel's data about an adapter. The kernel answers at once. Returns 0, or a negative errno.
int cbluez_hci_read_facts(int control, uint16_t index, cbluez_hci_facts *facts);

/// Values that the kernel uses on an adapter if an advertisement or a dial sets no others (mgmt-api.txt, Default System
/// Configuration): advertising intervals in 0.625 ms, connection intervals in 1.25 ms, supervision timeout in 10 ms.
typedef struct {
    uint16_t advertising_min;
    uint16_t advertising_max;
    uint16_t connection_min;
    uint16_t connection_max;
    uint16_t supervision_timeout;
} cbluez_hci_defaults;

/// Reads the defaults; no capability is needed. Returns 0, -EOPNOTSUPP on a kernel that does not report them (before
/// 5.9), or another negative errno.
int cbluez_hci_read_defaults(int control, uint16_t index, cbluez_hci_defaults *defaults);
/// Sets the defaults for later advertisements and dials. Returns 0, -EPERM if the channel was opened without
/// CAP_NET_ADMIN, or another negative errno. The kernel accepts any values, so the caller must check them.
int cbluez_hci_set_defaults(int control, uint16_t index, const cbluez_hci_defaults *defaults);
/// Sets the connection parameters of one device to those of `defaults` (Load Connection Parameters). The kernel keeps
/// the parameters of each device that was dialled or has asked for other parameters since, and prefers them to the
/// defaults. This call drops those of other devices that bluetoothd does not connect to on its own. Results as for
/// `cbluez_hci_set_defaults`.
int cbluez_hci_load_parameters(
    int control, uint16_t index, const cbluez_address *peer, const cbluez_hci_defaults *defaults);

/// Bytes of a legacy advertisement and of a scan response.
#define CBLUEZ_ADVERTISED 31

/// An advertisement as it is sent on the air, and its scan response.
typedef struct {
    uint8_t count;
    uint8_t response_count;
    uint8_t bytes[CBLUEZ_ADVERTISED];
    uint8_t response[CBLUEZ_ADVERTISED];
} cbluez_advertised;

/// Commands of the management channel that the kernel answers later. `cbluez_hci_read_reply` reads the answer.
enum {
    CBLUEZ_ADD_ADVERTISING = 0x003e,
    CBLUEZ_REMOVE_ADVERTISING = 0x003f,
};

/// Returns how many advertisements the kernel accepts on an adapter; they are numbered from 1. Sets the bit of each number
/// below 32 in `used` that is in use. Returns -EPERM if the channel was opened without CAP_NET_ADMIN, or another negative
/// errno. The next two calls need that capability too.
int cbluez_hci_advertising_instances(int control, uint16_t index, uint32_t *used);
/// Makes the kernel advertise, connectable, at the adapter's default interval (Add Advertising). An earlier
/// advertisement with that number is replaced. bluetoothd is not involved, and may be running. The kernel stops after
/// `lifetime_s` seconds; 0: never. Returns 0, or a negative errno.
int cbluez_hci_add_advertising(
    int control, uint16_t index, uint8_t instance, const cbluez_advertised *contents, uint16_t lifetime_s);
/// Stops an advertisement. Returns 0, or a negative errno. The reply is -EINVAL if the kernel has no advertisement with
/// that number.
int cbluez_hci_remove_advertising(int control, uint16_t index, uint8_t instance);
/// Reads one waiting packet. Returns 1 if the kernel has carried out this command, 0 if it is another packet, -EAGAIN
/// if none waits, or the negative errno of a refusal: -EBUSY, -EINVAL, -ENODEV, -ENETDOWN, -EPERM, -EOPNOTSUPP.
int cbluez_hci_read_reply(int control, uint16_t index, uint16_t opcode);

/// Commands that query a controller (Vol 4, Part E, 7.4.1, 7.8.3 and 7.5.4). LE Read Local Supported Features needs
/// CAP_NET_RAW, the others no capability.
enum {
    CBLUEZ_READ_LOCAL_VERSION = 0x1001,
    CBLUEZ_LE_READ_FEATURES = 0x2003,
    CBLUEZ_READ_RSSI = 0x1405,
};

/// A controller's answer to a command.
typedef struct {
    uint16_t opcode;
    /// 0 means success.
    uint8_t status;
    /// Number of bytes after the status, and the bytes.
    uint8_t count;
    uint8_t bytes[32];
} cbluez_hci_answer;

/// Opens a raw HCI socket on an adapter that receives the answers to one command, or to all (opcode 0). It also
/// receives answers to other processes' commands.
int cbluez_hci_open_answers(uint16_t index, uint16_t opcode);
/// Sends a command without parameters. Returns 0, -EPERM without the capability that it needs, -ENETDOWN if the adapter
/// is off, or another negative errno.
int cbluez_hci_request(int hci, uint16_t opcode);
/// Reads one waiting event. Returns 1 if it is an answer, 0 if it is another event, -EAGAIN if none waits, or another
/// negative errno.
int cbluez_hci_read_answer(int hci, cbluez_hci_answer *answer);

/// A controller that refuses Read RSSI may leave out the handle. 127 dBm is the specification's "unknown".
#define CBLUEZ_HANDLE_UNKNOWN 0xFFFF
#define CBLUEZ_RSSI_UNKNOWN 127
/// Asks for the signal strength of a connection. Results as for `cbluez_hci_request`.
int cbluez_hci_request_rssi(int hci, uint16_t handle);
/// Whether an answer is one to Read RSSI; sets its handle and strength in dBm.
bool cbluez_hci_rssi(const cbluez_hci_answer *answer, uint16_t *handle, int8_t *rssi);

/// Switches an adapter off and on (HCIDEVDOWN, HCIDEVUP). Needs CAP_NET_ADMIN; -EPERM without. It blocks until the
/// controller answers, some 15 s if it does not, so call it on a thread that may wait. Returns 0, or a negative errno.
int cbluez_hci_power_cycle(uint16_t index);

// ---------------------------------------------------------------------------------------------------------------------
// HCI: links, for a process with CAP_NET_RAW
// ---------------------------------------------------------------------------------------------------------------------

/// Opens a raw HCI socket on an adapter, filtered to events of LE links. Without CAP_NET_RAW the call succeeds, but the
/// socket receives no such events.
int cbluez_hci_open_links(uint16_t index);

/// The bit of the 2M PHY in LE Set PHY.
#define CBLUEZ_PHY_2M 0x02

/// Parameters of LE Connection Update (Vol 4, Part E, 7.8.18): intervals in 1.25 ms, timeout in 10 ms. No event is
/// skipped (latency 0).
typedef struct {
    uint16_t interval_min;
    uint16_t interval_max;
    uint16_t timeout;
} cbluez_link_parameters;

/// Each of these sends one command. Returns 0, -EPERM without CAP_NET_RAW, -EAGAIN, or another negative errno.
/// `cbluez_hci_read_link` reports the result of the command.
/// LE Set PHY (7.8.49), with the same PHYs in both directions.
int cbluez_hci_set_phy(int hci, uint16_t handle, uint8_t phys);
/// LE Set Data Length (7.8.33): payload of a packet in bytes, and its longest time on the air in microseconds.
int cbluez_hci_set_data_length(int hci, uint16_t handle, uint16_t octets, uint16_t microseconds);
/// LE Connection Update (7.8.18).
int cbluez_hci_update_link(int hci, uint16_t handle, const cbluez_link_parameters *parameters);

enum {
    /// A link is up: `interval`, `timeout`, and `is_central`.
    CBLUEZ_LINK_UP = 1,
    CBLUEZ_LINK_DOWN,
    /// `interval` and `timeout` are valid from now on. If `status` is not 0, the link keeps the earlier ones.
    CBLUEZ_LINK_UPDATED,
    /// `phy` (1: 1M, 2: 2M, 3: coded; the one we send on), or a `status`.
    CBLUEZ_LINK_PHY,
    /// `octets`: payload of a packet that we send, in bytes.
    CBLUEZ_LINK_DATA_LENGTH,
    /// The controller has refused a command with `status`. `opcode` is the command; the link is not reported.
    CBLUEZ_LINK_REFUSED,
};

/// The opcodes in CBLUEZ_LINK_REFUSED.
#define CBLUEZ_OPCODE_UPDATE 0x2013
#define CBLUEZ_OPCODE_DATA_LENGTH 0x2022
#define CBLUEZ_OPCODE_SET_PHY 0x2032

/// An event of a link. A member is valid only for the kinds that name it.
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

/// Reads one waiting event. Returns 1 if it is one of the above, 0 if it is another, -EAGAIN if none waits, or another
/// negative errno.
int cbluez_hci_read_link(int hci, cbluez_link_event *event);

// ---------------------------------------------------------------------------------------------------------------------
// HCI: the monitor channel, for a process with CAP_NET_RAW
// ---------------------------------------------------------------------------------------------------------------------

/// The kinds of packets that the monitor passes on (net/bluetooth/hci_mon.h in the kernel's sources).
#define CBLUEZ_MONITOR_NEW_INDEX 0
#define CBLUEZ_MONITOR_DELETE_INDEX 1
#define CBLUEZ_MONITOR_COMMAND 2
#define CBLUEZ_MONITOR_EVENT 3
#define CBLUEZ_MONITOR_SENT_DATA 4
#define CBLUEZ_MONITOR_RECEIVED_DATA 5
#define CBLUEZ_MONITOR_OPEN_INDEX 8
#define CBLUEZ_MONITOR_CLOSE_INDEX 9
#define CBLUEZ_MONITOR_INDEX_INFO 10

/// The longest command or event: three bytes and 255 of parameters.
#define CBLUEZ_MONITOR_BYTES 258
/// Bytes of data after the headers of ACL and L2CAP: the longest command that opens an LE channel has 18.
#define CBLUEZ_MONITOR_SIGNAL 24

/// A packet of the monitor channel.
typedef struct {
    /// Its kind, and the number of its adapter.
    uint16_t opcode;
    uint16_t index;
    /// The length of the packet, and how many bytes of it are here: data is cut.
    uint16_t length;
    uint16_t count;
    /// When the kernel saw it, in microseconds since 1970.
    int64_t microseconds;
    uint8_t bytes[CBLUEZ_MONITOR_BYTES];
} cbluez_monitor_packet;

/// Opens the monitor channel. It passes on only the kinds of packets above. Returns a descriptor, -EPERM without
/// CAP_NET_RAW, or another negative errno.
int cbluez_monitor_open(void);
/// Sets the filter and the time stamps of a monitor. `cbluez_monitor_open` calls it; tests use it on other sockets.
int cbluez_monitor_prepare(int monitor);
/// Reads one waiting packet. Returns 1, 0 if the packet is not valid, -EAGAIN if none waits, or another negative errno.
int cbluez_monitor_read(int monitor, cbluez_monitor_packet *packet);

// ---------------------------------------------------------------------------------------------------------------------
// bluetoothd over D-Bus
// ---------------------------------------------------------------------------------------------------------------------

/// A private connection to the message bus.
typedef struct cbluez_bus cbluez_bus;

/// Room for the text of an error.
#define CBLUEZ_ERROR_TEXT 256

/// Opens a private connection to the bus at `address` (NULL: the system bus, honouring DBUS_SYSTEM_BUS_ADDRESS), asks
/// for a unique name, and subscribes to the signals of org.bluez: objects, properties and changes of its owner. The
/// call does not wait for answers: CBLUEZ_EVENT_READY comes when the bus has answered. Returns 0 and `*bus`, or a
/// negative errno and a D-Bus error text in `error` (at most CBLUEZ_ERROR_TEXT bytes, may be NULL).
int cbluez_bus_open(const char *address, cbluez_bus **bus, char *error);
/// The process and the user that own org.bluez on that bus, by the word of the bus. It waits for the answers, for
/// `timeout_ms` at most. 0, -ESRCH without an org.bluez, or another negative errno.
int cbluez_bus_process_of_bluez(const char *address, int timeout_ms, pid_t *process, uid_t *user);
/// Closes the connection and frees everything. bluetoothd then drops our advertisements and discovery.
void cbluez_bus_close(cbluez_bus *bus);
/// The descriptor to wait on.
int cbluez_bus_descriptor(const cbluez_bus *bus);
/// True while output or unread events are queued. The caller should then also poll the descriptor for writing. Ask
/// before every wait, because a call may have changed it.
bool cbluez_bus_wants_write(const cbluez_bus *bus);
/// Reads and writes as much as possible without blocking. Call `cbluez_bus_next` afterwards until it returns 0; it also
/// reports calls that have timed out. Returns 0, or -ENOTCONN if the bus has gone (`cbluez_bus_next` still reports
/// earlier events). Unread events stay queued, up to a bound, and beyond it on the bus: nothing more is read until they
/// are taken.
int cbluez_bus_process(cbluez_bus *bus);
/// Milliseconds until `cbluez_bus_process` and `cbluez_bus_next` should be called again even if nothing is readable,
/// because a call times out or an authentication step is due. -1 without such a time.
int cbluez_bus_next_deadline_ms(const cbluez_bus *bus);

enum {
    /// The bus has assigned a unique name. Calls can be answered from now on.
    CBLUEZ_EVENT_READY = 1,
    /// A call has ended: `serial`; if it failed, also `error_name` and `error_text`.
    CBLUEZ_EVENT_REPLY,
    /// An adapter (org.bluez.Adapter1) exists or has changed: `path` and `fields`.
    CBLUEZ_EVENT_ADAPTER,
    CBLUEZ_EVENT_ADAPTER_REMOVED,
    /// A remote device (org.bluez.Device1) exists or has changed: `path` and `fields`.
    CBLUEZ_EVENT_DEVICE,
    CBLUEZ_EVENT_DEVICE_REMOVED,
    /// org.bluez has come to the bus, or left it. One of them follows READY at once, to report the current state.
    CBLUEZ_EVENT_BLUEZ_APPEARED,
    CBLUEZ_EVENT_BLUEZ_VANISHED,
    /// bluetoothd has dropped the advertisement at `path` (its `Release`).
    CBLUEZ_EVENT_ADVERTISEMENT_RELEASED,
    /// The agent is asked whether the device at `path` shows the number `passkey` too. `request` answers it.
    CBLUEZ_EVENT_AGENT_QUESTION,
    /// The question with that `request` is void: the pairing has ended, or the device is gone.
    CBLUEZ_EVENT_AGENT_CANCELLED,
    /// bluetoothd has dropped the agent (its `Release`). An open question is void.
    CBLUEZ_EVENT_AGENT_RELEASED,
    /// The device at `path` reads one of our characteristics. Answer `request` with `cbluez_bus_answer_read`.
    CBLUEZ_EVENT_GATT_READ,
    /// The device at `path` writes a first value to a characteristic. Answer `request` with `cbluez_bus_take_writes`.
    CBLUEZ_EVENT_GATT_WRITE,
    /// The device at `path` has subscribed to a characteristic, and bluetoothd needs a descriptor for the data, in packets
    /// of at most `mtu` less 3 bytes. Answer `request` with `cbluez_bus_answer_acquire`.
    CBLUEZ_EVENT_GATT_ACQUIRE_NOTIFY,
    /// The connection to the bus has ended. This is the last event.
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
    /// The device is no longer received (bluetoothd has invalidated its RSSI).
    CBLUEZ_FIELD_RSSI_GONE = 1 << 9,
    /// Reported for an adapter when objects are listed or it appears, not when they change.
    CBLUEZ_FIELD_ACTIVE_INSTANCES = 1 << 10,
    CBLUEZ_FIELD_FREE_INSTANCES = 1 << 11,
    CBLUEZ_FIELD_ICON = 1 << 12,
    /// A key is stored for the device (BlueZ 5.65 and later; earlier versions report only PAIRED).
    CBLUEZ_FIELD_BONDED = 1 << 13,
    /// The name that the user gave the device, or else its own name.
    CBLUEZ_FIELD_ALIAS = 1 << 14,
};

/// Bytes of one company's manufacturer data that are kept: all that fit a legacy advertisement.
#define CBLUEZ_MANUFACTURER_DATA 29
/// Service UUIDs of one device that are kept, and the size of each as text with its NUL.
#define CBLUEZ_UUIDS 8
#define CBLUEZ_UUID_TEXT 37
/// Room for a device's or adapter's name, with its NUL (248 bytes, Vol 3, Part C, 3.2.2.1).
#define CBLUEZ_NAME_TEXT 249
/// Room for an object path, and for an error's name.
#define CBLUEZ_PATH_TEXT 256
/// Room for the name of a device's icon (freedesktop.org's icon naming), with its NUL.
#define CBLUEZ_ICON_TEXT 32

/// One event. A member is valid only if the kind or `fields` says so. Texts are UTF-8, cut if too long.
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
    /// Index of a GATT event's characteristic in the application, and the ATT MTU of its link.
    uint8_t characteristic;
    uint16_t mtu;
    /// The number that both sides compare, 0 to 999999, and the request number of the question.
    uint32_t passkey;
    uint32_t request;
    uint16_t company;
    uint8_t manufacturer_data[CBLUEZ_MANUFACTURER_DATA];
    uint8_t manufacturer_count;
    /// If there are more UUIDs than fit, those assigned by the Bluetooth SIG are dropped first.
    uint8_t uuid_count;
    char uuids[CBLUEZ_UUIDS][CBLUEZ_UUID_TEXT];
    /// An adapter's registered advertisements, and how many more it accepts (org.bluez.LEAdvertisingManager1).
    uint8_t active_instances;
    uint8_t free_instances;
    /// The type of device: `phone`, `audio-headset`.
    char icon[CBLUEZ_ICON_TEXT];
} cbluez_bus_event;

/// Takes the next event. Returns 1 with an event, 0 without one, -ENOTCONN after CBLUEZ_EVENT_CLOSED.
int cbluez_bus_next(cbluez_bus *bus, cbluez_bus_event *event);

/// The calls. Each returns the serial (> 0) that its CBLUEZ_EVENT_REPLY will have, or a negative errno: -EINVAL for an
/// invalid path, text or timeout, -ENOBUFS while 64 calls are pending, -ENOTCONN if the bus has gone. A reply always
/// comes, after `timeout_ms` (> 0) at the latest as `org.freedesktop.DBus.Error.NoReply`. No call starts bluetoothd.
/// `list_objects` is answered with ADAPTER and DEVICE events for all existing objects, then with its REPLY.
int64_t cbluez_bus_list_objects(cbluez_bus *bus, int timeout_ms);
/// Adapter1.SetDiscoveryFilter with Transport=le and nothing else. BlueZ 5.87 crashes when a filter contains UUIDs
/// (bluez/bluez#2282), so the caller selects devices by their advertised services.
int64_t cbluez_bus_set_discovery_filter(cbluez_bus *bus, const char *adapter, int timeout_ms);
int64_t cbluez_bus_start_discovery(cbluez_bus *bus, const char *adapter, int timeout_ms);
int64_t cbluez_bus_stop_discovery(cbluez_bus *bus, const char *adapter, int timeout_ms);
/// Sets Adapter1.Powered.
int64_t cbluez_bus_set_powered(cbluez_bus *bus, const char *adapter, bool powered, int timeout_ms);
/// Adapter1.RemoveDevice: forgets a device and drops its link.
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
    /// In milliseconds. bluetoothd before 5.77 honours it only with -E. 0: not set.
    uint32_t min_interval_ms;
    uint32_t max_interval_ms;
} cbluez_advertisement;

/// Exports `advertisement` at `path` and calls LEAdvertisingManager1.RegisterAdvertisement. Its members are copied. An
/// advertisement already registered at this path is replaced on our side only, so unregister it first. -ENOSPC above 8
/// advertisements, -EINVAL for texts or data that no advertisement can hold. BLUEZ_VANISHED ends all of them, without a
/// Release.
int64_t cbluez_bus_register_advertisement(cbluez_bus *bus, const char *adapter, const char *path,
                                          const cbluez_advertisement *advertisement, int timeout_ms);
int64_t cbluez_bus_unregister_advertisement(cbluez_bus *bus, const char *adapter, const char *path, int timeout_ms);

enum {
    CBLUEZ_CHARACTERISTIC_READ = 1,
    /// Written without response.
    CBLUEZ_CHARACTERISTIC_WRITE,
    CBLUEZ_CHARACTERISTIC_NOTIFY,
};

/// One of our characteristics: its UUID as text, and its operation. `buffer`: SO_SNDBUF of the values that are written and not
/// read yet; 0 for the default of the system.
typedef struct {
    const char *uuid;
    int kind;
    int buffer;
} cbluez_characteristic;

/// Maximum number of characteristics of our service.
#define CBLUEZ_CHARACTERISTICS 16

/// Exports a GATT application with one primary service at `path`, and calls GattManager1.RegisterApplication.
/// Everything is copied. One application at a time (else -EBUSY), with at most 16 open questions. -EINVAL for values
/// that no service can have. BLUEZ_VANISHED ends it.
int64_t cbluez_bus_register_application(cbluez_bus *bus, const char *adapter, const char *path, const char *service,
                                        const cbluez_characteristic *characteristics, size_t count, int timeout_ms);
/// The application's questions are void from now on.
int64_t cbluez_bus_unregister_application(cbluez_bus *bus, const char *adapter, const char *path, int timeout_ms);
/// Each answers a question. Returns 0, -ENOENT without an open question of that number and kind, or -ENOMEM.
/// Answers with a value. The part that the question asked for is sent.
int cbluez_bus_answer_read(cbluez_bus *bus, uint32_t request, const uint8_t *bytes, size_t count);
/// Takes what the device writes: a non-blocking SOCK_SEQPACKET socket, which the caller closes. Its first packet is the value
/// that raised the question, and each packet is a value. Values that find no room are dropped. Closing it ends the device's
/// turn: its next value is a new question. Returns the descriptor instead of 0.
int cbluez_bus_take_writes(cbluez_bus *bus, uint32_t request);
/// Answers with a descriptor, which is duplicated: one end of a pair of SOCK_SEQPACKET sockets. It must be
/// non-blocking, or bluetoothd would block.
int cbluez_bus_answer_acquire(cbluez_bus *bus, uint32_t request, int descriptor, uint16_t mtu);
/// Refuses. Data written to that characteristic are dropped.
int cbluez_bus_refuse_gatt(cbluez_bus *bus, uint32_t request);

/// Exports an agent (org.bluez.Agent1) at `path` and calls AgentManager1.RegisterAgent with DisplayYesNo. It only
/// compares numbers: every other question of bluetoothd gets org.bluez.Error.Rejected. One agent at a time (else
/// -EBUSY). BLUEZ_VANISHED ends it, without a Release.
int64_t cbluez_bus_register_agent(cbluez_bus *bus, const char *path, int timeout_ms);
/// AgentManager1.RequestDefaultAgent: the agent then handles pairings that other devices start, and the adapters use
/// its capability.
int64_t cbluez_bus_request_default_agent(cbluez_bus *bus, const char *path, int timeout_ms);
/// AgentManager1.UnregisterAgent. An open question is answered with no, and is then void.
int64_t cbluez_bus_unregister_agent(cbluez_bus *bus, const char *path, int timeout_ms);
/// Answers a question of the agent. Returns 0, -ENOENT if it is void, or -ENOMEM.
int cbluez_bus_answer_agent(cbluez_bus *bus, uint32_t request, bool is_yes);
/// Device1.Pair. Its REPLY comes when the devices are bonded or bonding has failed. The timeout must leave people time
/// to answer.
int64_t cbluez_bus_pair_device(cbluez_bus *bus, const char *device, int timeout_ms);
/// Device1.Disconnect: drops the link and keeps the bond.
int64_t cbluez_bus_disconnect_device(cbluez_bus *bus, const char *device, int timeout_ms);
/// Sets Device1.Alias, at most CBLUEZ_NAME_TEXT - 1 bytes.
int64_t cbluez_bus_set_alias(cbluez_bus *bus, const char *device, const char *alias, int timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
