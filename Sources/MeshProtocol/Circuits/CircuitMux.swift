// SPDX-License-Identifier: Apache-2.0

import DequeModule

/// The circuits on one link, seen from one of its ends: their numbers, their credits, and what waits to leave
/// (`docs/protocol.md`, "Circuits"). What a circuit is for is its owner's business.
struct CircuitMux: Sendable {
    /// A circuit's number on its link.
    typealias Number = UInt64

    /// What a frame of the other side has led to.
    enum Event: Hashable, Sendable {
        /// The other side asks for a circuit: answer with `accept` or `close`.
        case offered(CircuitOpen)
        /// The circuit that this side has asked for is open, or one has credits again: something may leave.
        case ready(Number)
        /// An SDU has come.
        case received(Number, [UInt8])
        /// A circuit is over.
        case closed(Number, CircuitEnd)
        /// A number that nobody may give out.
        case malformed
    }

    /// What a circuit that ends here has to send.
    enum Supply: Hashable, Sendable {
        case sdu([UInt8])
        case nothing
        /// Something that fits an empty record.
        case tooLong
    }

    private struct Circuit: Sendable {
        /// The other side has said that it is open.
        var isOpen: Bool
        /// SDUs that may be sent.
        var credits: UInt64
        /// SDUs that the other side may send.
        var granted: UInt64
        /// Largest SDU that the other side takes.
        var sendMTU: Int
        /// Largest SDU that this side takes.
        var receiveMTU: Int
        /// SDUs that wait to leave: of a circuit that is passed on, or the last ones of one that is over.
        var queue: Deque<[UInt8]> = []
        /// Why it is over once its queue has left.
        var end: CircuitEnd?
        /// SDUs that may be sent again: told with the next record.
        var owed: UInt64 = 0
        /// What has come was handled, and the credits for it are held back.
        var isHeld = false
    }

    private var circuits: [Number: Circuit] = [:]
    /// Frames about circuits that wait to leave, in order.
    private var frames: Deque<Frame> = []
    /// Those that may have something to say, in the order of their turns.
    private var turns: Deque<Number> = []
    /// Refusals among `frames`: the other side can provoke them without end.
    private var refusals = 0
    private let role: LinkRole
    private var lastOwn: Number?
    private var lastTheirs: Number?

    /// How many the other side may have.
    var limit = Limits.circuitsOfGuest

    init(_ role: LinkRole) { self.role = role }

    /// How many there are.
    var count: Int { circuits.count }

    /// The numbers of all, in order.
    var numbers: [Number] { circuits.keys.sorted() }

    /// Bytes that wait in queues.
    var queuedBytes: Int { circuits.values.reduce(0) { $0 + $1.queue.reduce(0) { $0 + $1.count } } }

    /// Frames that wait.
    var waitingFrames: Int { frames.count }

    /// The largest SDU that leaves on a circuit.
    func sendMTU(of number: Number) -> Int? { circuits[number]?.sendMTU }

    // MARK: What this side does

    /// Asks for a circuit. Nil where there are as many as there may be.
    mutating func open(_ host: Peer.ID, hopsLeft: UInt8, receiveMTU: Int, passed: [Peer.ID]) -> Number? {
        guard circuits.count < Limits.relayedCircuits else { return nil }
        let number = lastOwn.map { $0 + 2 } ?? (role == .initiator ? 0 : 1)
        lastOwn = number
        circuits[number] = Circuit(
            isOpen: false, credits: 1, granted: Limits.circuitCredits, sendMTU: Limits.leastSDUBytes,
            receiveMTU: receiveMTU)
        frames.append(
            .circuitOpen(
                CircuitOpen(
                    circuit: number, host: host, hopsLeft: hopsLeft, innerMTU: receiveMTU, passed: passed)))
        frames.append(.circuitCredit(circuit: number, credits: Limits.circuitCredits))
        turns.append(number)
        return number
    }

    /// Says that a circuit is open that the other side has asked for. Whether it was not.
    @discardableResult
    mutating func accept(_ number: Number, receiveMTU: Int) -> Bool {
        let isTheirs = number.isMultiple(of: 2) == (role == .responder)
        guard isTheirs, circuits[number]?.isOpen == false else { return false }
        circuits[number]?.isOpen = true
        circuits[number]?.receiveMTU = receiveMTU
        circuits[number]?.granted += Limits.circuitCredits
        frames.append(.circuitCredit(circuit: number, credits: Limits.circuitCredits, sendMTU: receiveMTU))
        turns.append(number)
        return true
    }

    /// An SDU waits to leave on a circuit that is passed on.
    mutating func enqueue(_ sdu: [UInt8], on number: Number) {
        circuits[number]?.queue.append(sdu)
        turns.append(number)
    }

    /// Something waits for a circuit to ask for it.
    mutating func wake(_ number: Number) { if circuits[number] != nil { turns.append(number) } }

    /// An SDU of the other side was handled, or passed on: it may send another.
    mutating func handled(_ number: Number) {
        guard circuits[number] != nil else { return }
        circuits[number]?.owed += 1
        tellOwed(number)
    }

    /// Holds back the credits of a circuit, or no longer.
    mutating func hold(_ number: Number, _ isHeld: Bool) {
        circuits[number]?.isHeld = isHeld
        tellOwed(number)
    }

    private mutating func tellOwed(_ number: Number) {
        // Half of them at once: a frame for each would cost the air as much as what it is for.
        guard let circuit = circuits[number], !circuit.isHeld, circuit.owed * 2 >= Limits.circuitCredits else { return }
        circuits[number]?.owed = 0
        circuits[number]?.granted += circuit.owed
        frames.append(.circuitCredit(circuit: number, credits: circuit.owed))
    }

    /// Ends a circuit, when its last SDUs have left.
    mutating func close(_ number: Number, _ end: CircuitEnd, after last: [[UInt8]] = []) {
        guard var circuit = circuits[number], circuit.end == nil else { return }
        circuit.queue += last
        // What nobody takes would wait for ever.
        if circuit.queue.isEmpty || circuit.credits == 0 {
            circuits[number] = nil
            return frames.append(.circuitClose(circuit: number, end))
        }
        circuit.end = end
        circuits[number] = circuit
        turns.append(number)
    }

    /// Refuses a circuit that was offered. Of those that wait to be refused only some are kept.
    mutating func refuse(_ number: Number, _ end: CircuitEnd) {
        circuits[number] = nil
        guard refusals < Limits.circuitRefusals else { return }
        refusals += 1
        frames.append(.circuitClose(circuit: number, end))
    }

    // MARK: What the other side says

    /// A frame about a circuit has come.
    mutating func received(_ frame: Frame) -> [Event] {
        switch frame {
        case .circuitOpen(let open): return offered(open)
        case .circuitData(let number, let sdu): return received(sdu, on: number)
        case .circuitCredit(let number, let credits, let sendMTU): return credited(number, credits, sendMTU)
        case .circuitClose(let number, let end):
            guard circuits.removeValue(forKey: number) != nil else { return [] }
            return [.closed(number, end)]
        default: return []
        }
    }

    private mutating func offered(_ open: CircuitOpen) -> [Event] {
        let isTheirs = open.circuit.isMultiple(of: 2) == (role == .responder)
        guard isTheirs, open.circuit < Limits.circuitNumbers, lastTheirs.map({ open.circuit > $0 }) != false else {
            return [.malformed]
        }
        lastTheirs = open.circuit
        guard circuits.count < limit else {
            refuse(open.circuit, .noRoom)
            return []
        }
        circuits[open.circuit] = Circuit(
            isOpen: false, credits: 0, granted: 1, sendMTU: max(open.innerMTU, 0), receiveMTU: Limits.leastSDUBytes)
        guard open.innerMTU >= Limits.leastSDUBytes else {
            refuse(open.circuit, .misused)
            return []
        }
        return [.offered(open)]
    }

    private mutating func received(_ sdu: [UInt8], on number: Number) -> [Event] {
        guard let circuit = circuits[number], circuit.end == nil else { return [] }
        guard circuit.granted > 0, sdu.count <= circuit.receiveMTU, !sdu.isEmpty else {
            circuits[number] = nil
            frames.append(.circuitClose(circuit: number, .misused))
            return [.closed(number, .misused)]
        }
        circuits[number]?.granted -= 1
        return [.received(number, sdu)]
    }

    private mutating func credited(_ number: Number, _ credits: UInt64, _ sendMTU: Int?) -> [Event] {
        guard let circuit = circuits[number] else { return [] }
        // More than anybody needs is as good as that.
        circuits[number]?.credits = min(circuit.credits + min(credits, Limits.mostCredits), Limits.mostCredits)
        if !circuit.isOpen, let sendMTU {
            circuits[number]?.isOpen = true
            circuits[number]?.sendMTU = max(sendMTU, Limits.leastSDUBytes)
        }
        turns.append(number)
        return [.ready(number)]
    }

    // MARK: What leaves

    /// What leaves next, in at most this many bytes: frames about circuits first, then an SDU of each circuit in turn. `inner`
    /// makes one of at most so many bytes for a circuit that ends here. `passedOn` is the circuit of an SDU that had waited.
    mutating func next(fitting room: Int, inner: (Number, Int) -> Supply) -> (frame: Frame, passedOn: Number?)? {
        if let frame = frames.first {
            guard frame.byteCount <= room else { return nil }
            frames.removeFirst()
            if case .circuitClose = frame { refusals = max(0, refusals - 1) }
            return (frame, nil)
        }
        // Each turn is either used up or put behind the others, so this ends.
        for _ in 0..<turns.count {
            guard let number = turns.first else { return nil }
            guard let circuit = circuits[number], circuit.credits > 0 else {
                turns.removeFirst()
                continue
            }
            let limit = min(circuit.sendMTU, room - Self.overhead(of: number))
            if let sdu = circuit.queue.first {
                guard sdu.count <= limit else { return nil }
                circuits[number]?.queue.removeFirst()
                return (leaves(sdu, on: number), number)
            }
            guard circuit.end == nil, limit >= Self.worthAsking else { return nil }
            switch inner(number, limit) {
            case .sdu(let sdu): return (leaves(sdu, on: number), nil)
            case .tooLong: return nil
            case .nothing: turns.removeFirst()
            }
        }
        return nil
    }

    private mutating func leaves(_ sdu: [UInt8], on number: Number) -> Frame {
        circuits[number]?.credits -= 1
        turns.removeFirst()
        turns.append(number)
        if let circuit = circuits[number], circuit.queue.isEmpty || circuit.credits == 0, let end = circuit.end {
            circuits[number] = nil
            frames.append(.circuitClose(circuit: number, end))
        }
        return .circuitData(circuit: number, sdu: sdu)
    }

    /// Bytes of a frame that are not the SDU's.
    static func overhead(of number: Number) -> Int { 1 + 3 + WireWriter.varintBytes(number) }

    /// With less room than this a record would be mostly overhead.
    private static let worthAsking = 64
}
