// SPDX-License-Identifier: Apache-2.0

import Bearers
import Glibc
import MeshProtocol
import NIOConcurrencyHelpers

/// A GATT link of a guest. From one file descriptor the host reads the values that the guest has written. To a second
/// descriptor it writes values, which bluetoothd sends as notifications. A packet is a GATT value. bluetoothd has the
/// opposite ends of both descriptors, so values need no D-Bus messages.
final class GattChannel: BearerChannel {
    let endpoint: BearerEndpoint
    let sendMTU: Int

    private let incoming: PacketSocket
    private let outgoing: PacketSocket
    private let handle: UInt16
    private let link: ChannelLink
    private let toldUse = UseTeller()
    private let whenClosed: NIOLockedValueBox<(@Sendable () -> Void)?>
    private let watch = NIOLockedValueBox<Task<Void, Never>?>(nil)

    /// Takes ownership of both descriptors. `whenClosed` is called once, when sent data has had its time to leave.
    init(
        incoming: PacketSocket, outgoing: PacketSocket, endpoint: BearerEndpoint, mtu: Int, handle: UInt16,
        link: ChannelLink, whenClosed: @escaping @Sendable () -> Void
    ) {
        (self.incoming, self.outgoing, self.endpoint) = (incoming, outgoing, endpoint)
        (self.handle, self.link) = (handle, link)
        sendMTU = Self.valueBytes(mtu: mtu)
        self.whenClosed = NIOLockedValueBox(whenClosed)
        watch.withLockedValue { watch in
            watch = Task { [weak self, outgoing] in
                // Nothing ever arrives on this descriptor. It becomes readable when bluetoothd closes its end: the
                // guest has ended its subscription or has gone.
                try? await outgoing.wait(for: .readable)
                if !Task.isCancelled { self?.lose() }
            }
        }
    }

    deinit { close() }

    /// The bytes in front of an SDU that fits one chunk.
    private static let overheadBytes = 1 + StreamFraming.lengthBytes

    /// The largest value of a link with this ATT MTU (Core specification, Vol 3, Part F, 3.2.8 and 3.4.7.1).
    static func valueBytes(mtu: Int) -> Int {
        min(max(mtu, ChunkWriter.leastPacketBytes + 3) - 3, RadioLimits.gattValueBytes)
    }

    func send(_ value: [UInt8]) async throws(BearerError) {
        try check(value)
        try sent(await outgoing.perform(.writable) { Self.send(value, over: $0) })
    }

    func sendAtOnce(_ value: [UInt8]) throws(BearerError) -> Bool {
        try check(value)
        let result = try outgoing.attempt { Self.send(value, over: $0) }
        if result == -Int(EAGAIN) || result == -Int(EINTR) { return false }
        try sent(result)
        return true
    }

    private func check(_ value: [UInt8]) throws(BearerError) {
        guard value.count <= sendMTU else { throw BearerError(.tooLarge, "\(value.count) bytes") }
    }

    private static func send(_ value: [UInt8], over descriptor: Int32) -> Int {
        let sent = Glibc.send(descriptor, value, value.count, Int32(MSG_NOSIGNAL))
        return sent < 0 ? -Int(errno) : sent
    }

    private func sent(_ result: Int) throws(BearerError) {
        guard result >= 0 else { throw SystemError.channelError(Int32(-result)) }
        tellUse(result, idle: link.idleBytesSent)
    }

    func receive() async throws(BearerError) -> [UInt8]? {
        let (result, value) = try await incoming.receive(atMost: RadioLimits.gattValueBytes)
        guard result >= 0 else { throw SystemError.channelError(Int32(-result)) }
        // No GATT value is this large, so the packet does not come from bluetoothd.
        guard result <= RadioLimits.gattValueBytes else { throw SystemError.channelError(EPROTO) }
        tellUse(result, idle: link.idleBytesReceived)
        return value.isEmpty ? nil : value
    }

    private func tellUse(_ bytes: Int, idle: Int) {
        if bytes > idle + Self.overheadBytes, toldUse.isDue() { link.whenUsed(handle) }
    }

    /// The guest has ended the link or has gone. Data that arrived before can still be read.
    func lose() {
        outgoing.close()
        _ = try? incoming.attempt { Int(shutdown($0, Int32(SHUT_RDWR))) }
    }

    func signalStrength() async -> Int? { await link.signalStrength(handle) }
    func linkCondition() async -> LinkCondition? { await link.condition(handle, nil) }
    func heed(_ note: AirNote) async { await link.heed(handle, note) }

    func close() {
        incoming.close()
        let whenClosed = whenClosed.withLockedValue { whenClosed in
            defer { whenClosed = nil }
            return whenClosed
        }
        guard let whenClosed else { return }
        watch.withLockedValue { $0?.cancel() }
        // bluetoothd drops unread data of a closed descriptor, most importantly the message that the link has ended.
        Task { [outgoing] in
            try? await Task.sleep(for: Limits.goodbyeTimeout)
            outgoing.close()
            whenClosed()
        }
    }
}
