// SPDX-License-Identifier: Apache-2.0

import Glibc
import MeshProtocol
import NIOConcurrencyHelpers

@testable import BLETransport

/// A real radio that dials as a phone does that has GATT alone: an ATT client of its own, on the kernel's fixed channel.
final class GattDialler: Radio {
    private let below: BlueZRadio
    private let poller: Poller
    private let link = NIOLockedValueBox<AttLink?>(nil)

    init(_ below: BlueZRadio) throws { (self.below, poller) = (below, try Poller()) }

    func dial(_ endpoint: RadioEndpoint) async throws(RadioError) -> any RadioChannel {
        let link = try await attLink(to: endpoint)
        while true {
            if let channel = try await link.open() { return channel.carryingChunks }
            // A host that is not there yet for those who dial, or whose places are all taken so far.
            try? await Task.sleep(for: .milliseconds(50))
            if Task.isCancelled { throw RadioError(.cancelled) }
        }
    }

    private func attLink(to endpoint: RadioEndpoint) async throws(RadioError) -> AttLink {
        if let open = link.withLockedValue({ $0 }), !open.hasEnded { return open }
        let made = try await AttLink(from: below.adapter.address, to: endpoint, poller: poller)
        link.withLockedValue { $0 = made }
        return made
    }

    var name: String { below.name }
    var events: AsyncStream<RadioEvent> { below.events }
    var dialsWhileDialled: Bool? { get async { await below.dialsWhileDialled } }
    var advertisedFlags: AdvertisedFlags { below.advertisedFlags }
    func open() async throws(RadioError) { try await below.open() }
    func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(RadioError) {
        try await below.advertise(advertisement, pace: pace)
    }
    func stopAdvertising() async { await below.stopAdvertising() }
    func scan(for service: ServiceUUID) async throws(RadioError) { try await below.scan(for: service) }
    func stopScanning() async { await below.stopScanning() }
    func close() async {
        link.withLockedValue { $0 }?.end()
        await below.close()
    }
}

/// A link to a GATT server (Core specification, Vol 3, Part F): one request at a time, and notifications by handle.
private final class AttLink: Sendable {
    private struct State: Sendable {
        var answer: CheckedContinuation<[UInt8]?, Never>?
        var subscribers: [UInt16: AsyncStream<[UInt8]>.Continuation] = [:]
        var hasEnded = false
    }

    private let socket: PacketSocket
    private let endpoint: RadioEndpoint
    private let state = NIOLockedValueBox(State())
    private let mtu = NIOLockedValueBox(23)

    private static let fixedChannel: UInt8 = 4
    private static let largestMTU = 517

    init(from local: RadioEndpoint, to endpoint: RadioEndpoint, poller: Poller) async throws(RadioError) {
        self.endpoint = endpoint
        let descriptor = Glibc.socket(
            31, Int32(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        socket = PacketSocket(descriptor, poller: poller)
        _ = try socket.attempt { Self.call(bind, $0, local) }
        let begun = try socket.attempt { Self.call(connect, $0, endpoint) }
        guard begun == 0 || begun == -Int(EINPROGRESS) else {
            throw RadioError(.dialFailed, SystemError.text(Int32(-begun)))
        }
        try await socket.wait(for: .writable)
        Task { await self.read() }
        guard let answer = await request([0x02] + Self.bytes(Self.largestMTU)), answer.first == 0x03 else {
            throw RadioError(.dialFailed, "no MTU")
        }
        mtu.withLockedValue { $0 = min(Self.largestMTU, Self.number(answer[1...])) }
    }

    deinit { end() }

    var hasEnded: Bool { state.withLockedValue { $0.hasEnded } }

    func end() {
        let waiting = state.withLockedValue { state in
            defer { (state.answer, state.subscribers, state.hasEnded) = (nil, [:], true) }
            return (state.answer, state.subscribers)
        }
        waiting.0?.resume(returning: nil)
        for subscriber in waiting.1.values { subscriber.finish() }
        socket.close()
    }

    /// Takes a place and subscribes to it. Nil where there is none now.
    func open() async throws(RadioError) -> (any RadioChannel)? {
        guard let handles = await characteristics(), let place = handles[GattCharacteristic.place.uuid],
            let read = await request([0x0A] + Self.bytes(Int(place))), read.first == 0x0B, read.count == 2,
            read[1] < RadioLimits.gattGuests,
            let toHost = handles[GattCharacteristic.toHost(Int(read[1])).uuid],
            let toGuest = handles[GattCharacteristic.toGuest(Int(read[1])).uuid]
        else {
            if hasEnded { throw RadioError(.dialFailed, "the link has ended") }
            return nil
        }
        let (values, sink) = AsyncStream<[UInt8]>.makeStream()
        state.withLockedValue { $0.subscribers[toGuest] = sink }
        // The descriptor that switches notifications follows its characteristic. What was left there is ended first.
        for isOn: UInt8 in [0, 1] {
            guard await request([0x12] + Self.bytes(Int(toGuest) + 1) + [isOn, 0])?.first == 0x13 else { return nil }
        }
        return AttChannel(self, endpoint: endpoint, toHost: toHost, toGuest: toGuest, values: values)
    }

    /// The handles of the service's values, by UUID.
    private func characteristics() async -> [String: UInt16]? {
        let service = Array(RadioPair.service.bytes.reversed())
        guard let found = await request([0x06, 1, 0, 0xFF, 0xFF, 0x00, 0x28] + service), found.first == 0x07 else {
            return nil
        }
        var (first, last) = (Self.number(found[1...]), Self.number(found[3...]))
        var handles: [String: UInt16] = [:]
        while first <= last, let page = await request([0x08] + Self.bytes(first) + Self.bytes(last) + [0x03, 0x28]),
            page.first == 0x09
        {
            let size = Int(page[1])
            for start in stride(from: 2, to: page.count - size + 1, by: size) {
                let entry = page[start..<(start + size)]
                first = Self.number(entry) + 1
                guard size == 21 else { continue }
                let uuid = ServiceUUID(bytes: Array(entry.suffix(16).reversed())).description
                handles[uuid] = UInt16(Self.number(entry.dropFirst(3)))
            }
        }
        return handles
    }

    fileprivate var valueBytes: Int { GattChannel.valueBytes(mtu: mtu.withLockedValue { $0 }) }

    fileprivate func send(_ pdu: [UInt8]) async throws(RadioError) {
        let sent = try await socket.perform(.writable) { Self.send(pdu, $0) }
        if sent < 0 { throw RadioError(.channelLost, SystemError.text(Int32(-sent))) }
    }

    fileprivate func sendAtOnce(_ pdu: [UInt8]) throws(RadioError) -> Bool {
        let sent = try socket.attempt { Self.send(pdu, $0) }
        if sent == -Int(EAGAIN) { return false }
        if sent < 0 { throw RadioError(.channelLost, SystemError.text(Int32(-sent))) }
        return true
    }

    fileprivate func unsubscribe(_ handle: UInt16) {
        state.withLockedValue { $0.subscribers.removeValue(forKey: handle) }?.finish()
        Task { _ = await request([0x12] + Self.bytes(Int(handle) + 1) + [0, 0]) }
    }

    private func request(_ pdu: [UInt8]) async -> [UInt8]? {
        await withCheckedContinuation { waiter in
            let isOpen = state.withLockedValue { state in
                guard !state.hasEnded, state.answer == nil else { return false }
                state.answer = waiter
                return true
            }
            guard isOpen else { return waiter.resume(returning: nil) }
            Task { try? await send(pdu) }
        }
    }

    private func read() async {
        while let (count, pdu) = try? await socket.receive(atMost: Self.largestMTU), count > 0, let opcode = pdu.first {
            switch opcode {
            case 0x1B:
                let handle = UInt16(Self.number(pdu[1...]))
                state.withLockedValue { _ = $0.subscribers[handle]?.yield(Array(pdu[3...])) }
            case 0x1D: _ = try? sendAtOnce([0x1E])
            // The other side's own client asks: there is nothing here.
            case 0x02: _ = try? sendAtOnce([0x03] + Self.bytes(Self.largestMTU))
            case _ where opcode & 0x41 == 0 && opcode != 0: _ = try? sendAtOnce([0x01, opcode, 1, 0, 0x0A])
            default:
                let waiter = state.withLockedValue { state in
                    defer { state.answer = nil }
                    return state.answer
                }
                waiter?.resume(returning: pdu)
            }
        }
        end()
    }

    // MARK: Bytes

    private static func bytes(_ number: Int) -> [UInt8] { [UInt8(number & 255), UInt8(number >> 8)] }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.prefix(2).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private static func send(_ pdu: [UInt8], _ descriptor: Int32) -> Int {
        let sent = Glibc.send(descriptor, pdu, pdu.count, Int32(MSG_NOSIGNAL))
        return sent < 0 ? -Int(errno) : sent
    }

    /// bind(2) or connect(2) with an address of L2CAP: family, PSM, address, channel and the address's kind.
    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32,
        _ endpoint: RadioEndpoint
    ) -> Int {
        let digits = endpoint.address.split(separator: ":").compactMap { UInt8($0, radix: 16) }
        let address: [UInt8] = [31, 0, 0, 0] + digits.reversed() + [fixedChannel, 0, endpoint.addressKind, 0]
        return address.withUnsafeBytes { bytes in
            let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return function(descriptor, pointer, socklen_t(bytes.count)) == 0 ? 0 : -Int(errno)
        }
    }
}

/// A place of a host's service, as its guest has it. A packet is a value.
private final class AttChannel: RadioChannel {
    let endpoint: RadioEndpoint
    private let link: AttLink
    private let head: [UInt8]
    private let toGuest: UInt16
    private let values: AsyncStream<[UInt8]>
    private let isClosed = NIOLockedValueBox(false)

    init(_ link: AttLink, endpoint: RadioEndpoint, toHost: UInt16, toGuest: UInt16, values: AsyncStream<[UInt8]>) {
        (self.link, self.endpoint, self.toGuest, self.values) = (link, endpoint, toGuest, values)
        head = [0x52, UInt8(toHost & 255), UInt8(toHost >> 8)]
    }

    var sendMTU: Int { link.valueBytes }

    func send(_ value: [UInt8]) async throws(RadioError) {
        try check()
        try await link.send(head + value)
    }

    func sendAtOnce(_ value: [UInt8]) throws(RadioError) -> Bool {
        try check()
        return try link.sendAtOnce(head + value)
    }

    private func check() throws(RadioError) {
        if isClosed.withLockedValue({ $0 }) { throw RadioError(.closed) }
    }

    func receive() async throws(RadioError) -> [UInt8]? {
        var iterator = values.makeAsyncIterator()
        let value = await iterator.next()
        if value == nil { try check() }
        return value
    }

    func signalStrength() async -> Int? { nil }

    func close() {
        let isFirst = isClosed.withLockedValue { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        if isFirst { link.unsubscribe(toGuest) }
    }
}
