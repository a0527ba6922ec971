// SPDX-License-Identifier: Apache-2.0

import Bearers
import NIOConcurrencyHelpers
import CBlueZ
import Glibc
import MeshProtocol

/// An LE L2CAP credit-based channel: one read or write is one SDU (Core specification, Vol 3, Part A, 10.1).
final class L2CAPChannel: BearerChannel {
    let endpoint: BearerEndpoint
    let sendMTU: Int

    private let socket: PacketSocket
    private let refused = NIOLockedValueBox<RefusalReason?>(nil)
    /// The controller's handle of the link.
    let handle: UInt16
    private let link: ChannelLink
    private let toldUse = UseTeller()
    /// Whether anything has arrived. A read must wait until this time (see `receive`).
    private let hasArrived = NIOLockedValueBox(false)
    private let whenClosed: NIOLockedValueBox<(@Sendable () -> Void)?>

    /// Takes ownership of a connected channel's descriptor. `whenClosed` is called once, when the channel closes.
    init(
        _ descriptor: Int32, endpoint: BearerEndpoint, poller: Poller, link: ChannelLink,
        whenClosed: @escaping @Sendable (UInt16) -> Void
    ) {
        var info = cbluez_link_info()
        // The kernel gives no information on a channel that was closed as soon as it opened. Nothing can be sent on it.
        let isTold = cbluez_l2cap_link_info(descriptor, &info) == 0
        sendMTU = isTold ? min(Int(info.send_mtu), Limits.sduBytes) : 0
        handle = info.handle
        self.whenClosed = NIOLockedValueBox { [handle = info.handle] in whenClosed(handle) }
        self.link = link
        self.endpoint = endpoint
        socket = PacketSocket(descriptor, poller: poller)
    }

    /// The link's current encryption. Nil if the kernel does not report it.
    var security: LinkSecurity? {
        var (level, keyBytes): (UInt8, UInt8) = (0, 0)
        let status = try? socket.attempt { Int(cbluez_l2cap_security($0, &level, &keyBytes)) }
        return status == 0 ? LinkSecurity(level: level, keyBytes: Int(keyBytes)) : nil
    }

    var refusal: RefusalReason? { refused.withLockedValue { $0 } }

    /// Records that the peer at the other end must not be admitted.
    func refuse(_ reason: RefusalReason) { refused.withLockedValue { $0 = reason } }

    func send(_ sdu: [UInt8]) async throws(BearerError) {
        guard sdu.count <= sendMTU else { throw BearerError(.tooLarge, "\(sdu.count) bytes") }
        let sent = try await socket.perform(.writable) { cbluez_l2cap_send($0, sdu, sdu.count) }
        guard sent >= 0 else { throw SystemError.channelError(Int32(-sent)) }
        if sent > link.idleBytesSent { tellUse() }
    }

    func sendAtOnce(_ sdu: [UInt8]) throws(BearerError) -> Bool {
        guard sdu.count <= sendMTU else { throw BearerError(.tooLarge, "\(sdu.count) bytes") }
        let sent = try socket.attempt { cbluez_l2cap_send($0, sdu, sdu.count) }
        if sent == -Int(EAGAIN) || sent == -Int(EINTR) { return false }
        guard sent >= 0 else { throw SystemError.channelError(Int32(-sent)) }
        if sent > link.idleBytesSent { tellUse() }
        return true
    }

    func receive() async throws(BearerError) -> [UInt8]? {
        var sdu: [UInt8] = []
        let receive: (Int32) -> Int = { descriptor in
            var count = 0
            sdu = [UInt8](unsafeUninitializedCapacity: Limits.sduBytes) { buffer, initialized in
                count = cbluez_l2cap_receive(descriptor, buffer.baseAddress, buffer.count)
                initialized = max(count, 0)
            }
            return count
        }
        // Since Linux 6.1.93 and 6.8.12, a read that finds nothing on a new channel sends flow-control credits. On a
        // preemptible kernel they can precede the response to the connection request. The peer rejects them, and this
        // kernel then deletes the channel (docs/bluez.md).
        if !hasArrived.withLockedValue({ $0 }) {
            try await socket.wait(for: .readable)
            hasArrived.withLockedValue { $0 = true }
        }
        let received = try await socket.perform(.readable, receive)
        if received > link.idleBytesReceived { tellUse() }
        if received > 0 { return sdu }
        guard received < 0 else { return nil }
        // The end of a link overtakes data that arrived before it. The socket first returns its error once, and then
        // the rest of its queue. The last message in the queue is often a goodbye.
        if received != -Int(EMSGSIZE), try socket.attempt(receive) > 0 { return sdu }
        throw SystemError.channelError(Int32(-received))
    }

    func signalStrength() async -> Int? { await link.signalStrength(handle) }

    private func tellUse() {
        if toldUse.isDue() { link.whenUsed(handle) }
    }

    func linkCondition() async -> LinkCondition? {
        var info = cbluez_link_info()
        let isTold = try? socket.attempt { Int(cbluez_l2cap_link_info($0, &info)) }
        return await link.condition(handle, isTold == 0 ? Self.phy(info.phy) : nil)
    }

    func heed(_ note: AirNote) async { await link.heed(handle, note) }

    /// The kernel's bits of the PHY to send on (BT_PHY in its bluetooth.h).
    private static func phy(_ bits: UInt32) -> String? {
        if bits & (1 << 13) != 0 { return "coded" }
        if bits & (1 << 11) != 0 { return "2M" }
        return bits & (1 << 9) != 0 ? "1M" : nil
    }

    func close() {
        socket.close()
        let tell = whenClosed.withLockedValue { whenClosed in
            defer { whenClosed = nil }
            return whenClosed
        }
        tell?()
    }

    deinit { close() }
}

/// The encryption of a channel's link, as the kernel reports it (BT_SECURITY of the socket).
struct LinkSecurity: Hashable, Sendable {
    /// 1: not encrypted. 2: the key does not protect against a man in the middle. 3: legacy pairing has compared or
    /// typed the key. 4: LE Secure Connections has compared or typed it.
    var level: UInt8
    /// Length of the key in bytes. 0 if the link is not encrypted.
    var keyBytes: Int

    /// The level that a valid bond gives.
    static let bondLevel: UInt8 = 4
    /// A full-length key. Two controllers may agree on as little as 7 bytes (Core specification, Vol 3, Part H, 2.3.4),
    /// and an attacker in between can force this (KNOB). Not every kernel checks it.
    static let wholeKeyBytes = 16

    /// Whether a valid bond encrypts the link.
    var isOfBond: Bool { level >= Self.bondLevel && keyBytes >= Self.wholeKeyBytes }
}
