// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NIOConcurrencyHelpers

/// Sends SDUs over a channel that does not keep their boundaries: `StreamPieces`, `ChunkPieces`.
package protocol PieceFraming: Sendable {
    /// The pieces of an SDU, each of at most `room` bytes.
    mutating func pieces(of sdu: [UInt8], room: Int) -> [[UInt8]]

    /// Handles a piece that has arrived and returns the result. If it completes several SDUs, `next` returns the
    /// others.
    mutating func take(_ piece: [UInt8], now: MeshInstant) -> PieceOutcome

    /// The next result from pieces that have arrived.
    mutating func next() -> PieceOutcome

    /// The piece that reports that this side has closed. Nil if the channel reports this.
    var end: [UInt8]? { get }

    /// Deadline for the rest of the current SDU. Nil without a deadline.
    var deadline: MeshInstant? { get }
}

/// The result of arrived pieces.
package enum PieceOutcome: Hashable, Sendable {
    /// A complete SDU.
    case sdu([UInt8])
    /// The SDU is incomplete.
    case incomplete
    /// The other side has closed.
    case ended
    /// The channel must end, for this reason.
    case broken(String)
}

/// A channel for SDUs on top of a channel that carries a stream, or packets too small for SDUs.
///
/// It sends one SDU after another, since every channel has a single writer. A piece that cannot be sent ends the
/// channel, because the other side cannot use the rest without it.
package final class FramedChannel<Framing: PieceFraming>: BearerChannel {
    package let sendMTU = Limits.sduBytes

    private struct Outgoing: Sendable {
        var framing: Framing
        /// Sends the rest of an SDU that `sendAtOnce` has accepted.
        var leaving: Task<Result<Void, BearerError>, Never>?
        /// The end is sent once.
        var isClosed = false
    }

    private let below: any BearerChannel
    private let room: Int
    private let outgoing: NIOLockedValueBox<Outgoing>
    private let incoming: NIOLockedValueBox<Framing>
    private let origin = ContinuousClock.now

    /// Takes ownership of a channel. Pieces have at most `room` bytes, and at most the channel's `sendMTU`.
    package init(_ below: any BearerChannel, framing: Framing, room: Int = .max) {
        self.below = below
        self.room = min(room, below.sendMTU)
        outgoing = NIOLockedValueBox(Outgoing(framing: framing))
        incoming = NIOLockedValueBox(framing)
    }

    package var endpoint: BearerEndpoint { below.endpoint }
    package var refusal: RefusalReason? { below.refusal }
    package var framesPerSecond: Int { below.framesPerSecond }
    private var now: MeshInstant { ContinuousClock.now - origin }

    deinit { close() }

    // MARK: Sending

    package func send(_ sdu: [UInt8]) async throws(BearerError) {
        try check(sdu)
        if let leaving = outgoing.withLockedValue({ $0.leaving }) {
            try await leaving.value.get()
            outgoing.withLockedValue { $0.leaving = nil }
        }
        try await send(pieces: outgoing.withLockedValue { $0.framing.pieces(of: sdu, room: room) }[...])
    }

    package func sendAtOnce(_ sdu: [UInt8]) throws(BearerError) -> Bool {
        try check(sdu)
        var (framing, isLeaving) = outgoing.withLockedValue { ($0.framing, $0.leaving != nil) }
        guard !isLeaving else { return false }
        var pieces = framing.pieces(of: sdu, room: room)[...]
        guard let first = pieces.popFirst(), try below.sendAtOnce(first) else { return false }
        outgoing.withLockedValue { [framing] in $0.framing = framing }
        while let piece = pieces.first, try below.sendAtOnce(piece) { pieces = pieces.dropFirst() }
        guard !pieces.isEmpty else { return true }
        let rest = pieces
        let leaving = Task { () -> Result<Void, BearerError> in
            do throws(BearerError) {
                try await self.send(pieces: rest)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        outgoing.withLockedValue { $0.leaving = leaving }
        return true
    }

    private func check(_ sdu: [UInt8]) throws(BearerError) {
        guard (1...sendMTU).contains(sdu.count) else { throw BearerError(.tooLarge, "\(sdu.count) bytes") }
        // The channel closed before its MTU was known.
        guard room >= ChunkWriter.leastPacketBytes else { throw BearerError(.channelLost) }
    }

    private func send(pieces: ArraySlice<[UInt8]>) async throws(BearerError) {
        do throws(BearerError) {
            for piece in pieces { try await below.send(piece) }
        } catch {
            close()
            throw error
        }
    }

    // MARK: Receiving

    package func receive() async throws(BearerError) -> [UInt8]? {
        var outcome = incoming.withLockedValue { $0.next() }
        var alarm: Task<Void, Never>?
        defer { alarm?.cancel() }
        while true {
            switch outcome {
            case .sdu(let sdu): return sdu
            case .ended:
                below.close()
                return nil
            case .broken(let cause):
                close()
                throw BearerError(.channelLost, cause)
            case .incomplete: break
            }
            if alarm == nil, let deadline = incoming.withLockedValue({ $0.deadline }) { alarm = close(at: deadline) }
            guard let piece = try await below.receive() else { return nil }
            outcome = incoming.withLockedValue { $0.take(piece, now: now) }
        }
    }

    private func close(at deadline: MeshInstant) -> Task<Void, Never> {
        Task {
            try? await Task.sleep(until: origin + deadline, clock: .continuous)
            if !Task.isCancelled { close() }
        }
    }

    // MARK: The channel below

    package func signalStrength() async -> Int? { await below.signalStrength() }
    package func linkCondition() async -> LinkCondition? { await below.linkCondition() }
    package func heed(_ note: AirNote) async { await below.heed(note) }

    package func close() {
        // Send the end only if no SDU is being sent: the other side also notices the end by the missing pieces of an
        // SDU. A closed channel throws.
        let end = outgoing.withLockedValue { outgoing -> [UInt8]? in
            guard !outgoing.isClosed else { return nil }
            outgoing.isClosed = true
            return outgoing.leaving == nil ? outgoing.framing.end : nil
        }
        if let end { _ = try? below.sendAtOnce(end) }
        below.close()
    }
}

/// SDUs in a stream, each after its length (`docs/protocol.md`, "Streams").
package struct StreamPieces: PieceFraming {
    private var reader = StreamReader()

    /// The framing at the beginning of a stream.
    package init() {}

    package var deadline: MeshInstant? { nil }
    package var end: [UInt8]? { nil }

    package mutating func pieces(of sdu: [UInt8], room: Int) -> [[UInt8]] {
        let stream = StreamFraming.framed(sdu)
        return stride(from: 0, to: stream.count, by: room).map { Array(stream[$0..<min($0 + room, stream.count)]) }
    }

    package mutating func take(_ piece: [UInt8], now: MeshInstant) -> PieceOutcome {
        reader.append(piece)
        return next()
    }

    package mutating func next() -> PieceOutcome {
        switch reader.next() {
        case .sdu(let sdu): .sdu(sdu)
        case .incomplete: .incomplete
        case .broken: .broken("a length that no SDU has")
        }
    }
}

/// SDUs in chunks (`docs/protocol.md`, "Chunks").
package struct ChunkPieces: PieceFraming {
    private var writer = ChunkWriter()
    private var reader = ChunkReader()

    package var deadline: MeshInstant? { reader.deadline }
    package var end: [UInt8]? { writer.end }

    package mutating func pieces(of sdu: [UInt8], room: Int) -> [[UInt8]] { writer.chunks(of: sdu, room: room) }

    package mutating func take(_ piece: [UInt8], now: MeshInstant) -> PieceOutcome {
        switch reader.add(piece, now: now) {
        case .sdu(let sdu): .sdu(sdu)
        case .incomplete: .incomplete
        case .ended: .ended
        case .broken(let fault): .broken("a chunk: \(fault)")
        }
    }

    package mutating func next() -> PieceOutcome { .incomplete }
}
