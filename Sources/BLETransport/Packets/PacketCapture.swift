// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ
import Glibc
import NIOConcurrencyHelpers

/// Keeps the last packets between this system and the adapters of a node, in memory, for a process with CAP_NET_RAW. It
/// makes files of them that contain no address of a foreign device.
///
/// The radios report the adapters that they use and the devices to which they have had channels. The addresses of these
/// devices are written, all others are replaced.
public final class PacketCapture: Sendable {
    private struct State {
        var ring = PacketRing()
        /// The adapters that a radio has used.
        var adapters: Set<UInt16> = []
        var own: Set<Pseudonyms.Address> = []
        /// The devices with channels, the latest last.
        var peers: [Pseudonyms.Address] = []
    }

    private let poller: Poller
    private let socket: PacketSocket
    private let state = NIOLockedValueBox(State())

    /// Opens the kernel's monitor channel. Throws `notPermitted` without CAP_NET_RAW, and `noAdapter` if the kernel has
    /// no Bluetooth.
    public init() throws(BearerError) {
        let descriptor = cbluez_monitor_open()
        switch descriptor {
        case 0...: break
        case -EAFNOSUPPORT: throw BearerError(.noAdapter, "this system's kernel has no Bluetooth")
        case -EPERM, -EACCES: throw BearerError(.notPermitted, "CAP_NET_RAW is needed")
        default: throw BearerError(.failed, SystemError.text(-descriptor))
        }
        do {
            poller = try Poller()
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        socket = PacketSocket(descriptor, poller: poller)
    }

    /// Reads packets until `close`.
    public func run() async {
        while true {
            var packet = cbluez_monitor_packet()
            guard let read = try? await socket.perform(.readable, { Int(cbluez_monitor_read($0, &packet)) }), read >= 0
            else { return }
            if read == 1, let packet = MonitorPacket(packet, at: .now) { add(packet) }
        }
    }

    /// Stops reading. The packets in memory remain until this object is gone.
    public func close() {
        socket.close()
        poller.close()
    }

    /// A file of the packets of this time, in btsnoop's format. Nil without a packet in it.
    public func file(from: ContinuousClock.Instant, to: ContinuousClock.Instant) -> [UInt8]? {
        let (packets, known) = state.withLockedValue { state in
            (state.ring.packets(from: from, to: to), state.own.union(state.peers))
        }
        guard !packets.isEmpty else { return nil }
        var scrubber = PacketScrubber(known: known)
        return Btsnoop.file(packets.map { scrubber.scrub($0) })
    }

    private func add(_ packet: MonitorPacket) {
        state.withLockedValue { state in
            if state.adapters.contains(packet.adapter) { state.ring.add(packet) }
        }
    }

    // MARK: What radios report

    /// A radio uses an adapter.
    func use(_ adapter: Adapter) {
        let address = Self.bytes(adapter.address)
        state.withLockedValue { state in
            state.adapters.insert(adapter.index)
            state.own.insert(address)
        }
    }

    /// A radio has a channel to a device.
    func met(_ endpoint: BearerEndpoint) {
        let address = Self.bytes(endpoint)
        state.withLockedValue { state in
            state.peers.removeAll { $0 == address }
            state.peers.append(address)
            if state.peers.count > RadioLimits.packetPeers { state.peers.removeFirst() }
        }
    }

    private static func bytes(_ endpoint: BearerEndpoint) -> Pseudonyms.Address {
        withUnsafeBytes(of: endpoint.kernelAddress.bytes) { Array($0.reversed()) }
    }
}

extension MonitorPacket {
    /// Copies a packet of the shim. Nil if its kind is not known.
    init?(_ packet: cbluez_monitor_packet, at: ContinuousClock.Instant) {
        guard let kind = Kind(rawValue: packet.opcode) else { return nil }
        let bytes = withUnsafeBytes(of: packet.bytes) { Array($0.prefix(Int(packet.count))) }
        self.init(
            kind: kind, adapter: packet.index, at: at, microseconds: packet.microseconds, bytes: bytes,
            length: Int(packet.length))
    }
}
