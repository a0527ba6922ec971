// SPDX-License-Identifier: Apache-2.0

import DequeModule

/// The circuits on one link, as one of its ends sees them: their numbers, credits, and data to send
/// (`docs/protocol.md`, "Circuits"). Only the owner knows the purpose of a circuit.
struct CircuitMux: Sendable {
    /// A circuit's number on its link.
    typealias Number = UInt64

    /// The result of a frame from the other side.
    enum Event: Hashable, Sendable {
        /// The other side requests a circuit: answer with `accept` or `close`.
        case offered(CircuitOpen)
        /// A circuit that this side has requested is open, or a circuit has credits again, so it may send.
        case ready(Number)
        /// An SDU has arrived.
        case received(Number, [UInt8])
        /// A circuit has ended.
        case closed(Number, CircuitEnd)
        /// A number that no side may use.
        case malformed
    }

    /// The next data of a circuit that ends here.
    enum Supply: Hashable, Sendable {
        case sdu([UInt8])
        case nothing
        /// The next SDU does not fit now, but fits an empty record.
        case tooLong
    }

    private struct Circuit: Sendable {
        /// The other side has accepted it.
        var isOpen: Bool
        /// SDUs that this side may send.
        var credits: UInt64
        /// The other side has given its first credits.
        var isCredited = false
        /// One SDU has left before the first credits. It uses up one of these credits.
        var hasAdvanced = false
        /// SDUs that the other side may send.
        var granted: UInt64
        /// Largest SDU that the other side accepts.
        var sendMTU: Int
        /// Largest SDU that this side accepts.
        var receiveMTU: Int
        /// SDUs to send: those of a relayed circuit, or the last ones of a circuit that has ended.
        var queue: Deque<[UInt8]> = []
        /// Why the circuit has ended. The close frame is sent when the queue is empty.
        var end: CircuitEnd?
        /// Credits for the other side that are not granted yet.
        var owed: UInt64 = 0
        /// The received SDUs were handled, but their credits are held back.
        var isHeld = false

        /// The request for the circuit, until it has been sent.
        var asks: CircuitOpen?
        /// Credits that are granted with the next record.
        var due: UInt64 = 0
        /// The first grant also accepts the circuit, with this MTU.
        var opens: Int?
        /// The circuit is in `notes`.
        var hasNote = false
        /// The circuit is in `turns`.
        var hasTurn = false
    }

    private var circuits: [Number: Circuit] = [:]
    /// Circuits that have a frame about themselves to send, each once.
    private var notes: Deque<Number> = []
    /// Circuits that may have an SDU to send, each once, in order.
    private var turns: Deque<Number> = []
    /// Closed circuits whose close frame is unsent.
    private var ending = 0
    /// Refused circuits. The other side can cause any number of refusals.
    private var refusals: Deque<(number: Number, end: CircuitEnd)> = []
    private let role: LinkRole
    private var lastOwn: Number?
    private var lastTheirs: Number?

    /// Maximum number of circuits of the other side. A closed circuit counts until its close frame is sent, so a peer
    /// that does not read cannot open more.
    var limit = Limits.circuitsOfGuest

    init(_ role: LinkRole) { self.role = role }

    /// Number of circuits that have not ended.
    var count: Int { circuits.count - ending }

    /// Whether no circuit can have anything to send.
    var isEmpty: Bool { circuits.isEmpty && refusals.isEmpty }

    /// Whether no circuit is known to have anything to send, without asking the circuits that end here.
    var hasNothing: Bool { turns.isEmpty && notes.isEmpty && refusals.isEmpty }

    /// The numbers of all circuits, in order.
    var numbers: [Number] { circuits.keys.sorted() }

    /// Bytes in all queues.
    var queuedBytes: Int { circuits.values.reduce(0) { $0 + $1.queue.reduce(0) { $0 + $1.count } } }

    /// Circuits and refusals with a frame to send.
    var waitingFrames: Int { notes.count + refusals.count }

    /// Whether this side gives out a number.
    private func isOwn(_ number: Number) -> Bool { number.isMultiple(of: 2) == (role == .initiator) }

    /// The largest SDU that leaves on a circuit.
    func sendMTU(of number: Number) -> Int? { circuits[number]?.sendMTU }

    // MARK: Calls of this side

    /// Requests a circuit. Nil if there are too many.
    mutating func open(_ host: Peer.ID, hopsLeft: UInt8, receiveMTU: Int, passed: [Peer.ID]) -> Number? {
        guard circuits.count < Limits.relayedCircuits else { return nil }
        let number = lastOwn.map { $0 + 2 } ?? (role == .initiator ? 0 : 1)
        lastOwn = number
        let asks = CircuitOpen(
            circuit: number, host: host, hopsLeft: hopsLeft, innerMTU: receiveMTU, passed: passed)
        circuits[number] = Circuit(
            isOpen: false, credits: 1, granted: Limits.circuitCredits, sendMTU: Limits.leastSDUBytes,
            receiveMTU: receiveMTU, asks: asks, due: Limits.circuitCredits)
        note(number)
        turn(number)
        return number
    }

    /// Accepts a requested circuit. Returns whether it was not open before.
    @discardableResult
    mutating func accept(_ number: Number, receiveMTU: Int) -> Bool {
        guard !isOwn(number), circuits[number]?.isOpen == false else { return false }
        circuits[number]?.isOpen = true
        circuits[number]?.receiveMTU = receiveMTU
        circuits[number]?.opens = receiveMTU
        grant(Limits.circuitCredits, on: number)
        turn(number)
        return true
    }

    /// Queues an SDU on a relayed circuit.
    mutating func enqueue(_ sdu: [UInt8], on number: Number) {
        circuits[number]?.queue.append(sdu)
        turn(number)
    }

    /// A circuit that ends here has an SDU to send.
    mutating func wake(_ number: Number) { turn(number) }

    /// An SDU of the other side was handled or forwarded, so the other side may send another.
    mutating func handled(_ number: Number) {
        guard circuits[number] != nil else { return }
        circuits[number]?.owed += 1
        tellOwed(number)
    }

    /// Holds back the credits of a circuit, or releases them.
    mutating func hold(_ number: Number, _ isHeld: Bool) {
        circuits[number]?.isHeld = isHeld
        tellOwed(number)
    }

    private mutating func tellOwed(_ number: Number) {
        // Grants half of the credits at once: a frame for each would cost as much airtime as the data.
        guard let circuit = circuits[number], !circuit.isHeld, circuit.owed * 2 >= Limits.circuitCredits else { return }
        circuits[number]?.owed = 0
        grant(circuit.owed, on: number)
    }

    private mutating func grant(_ credits: UInt64, on number: Number) {
        circuits[number]?.granted += credits
        circuits[number]?.due += credits
        note(number)
    }

    /// Closes a circuit when its last SDUs have been sent. They wait for credits as long as the link lasts, so a slow
    /// reader still gets the host's last message.
    mutating func close(_ number: Number, _ end: CircuitEnd, after last: [[UInt8]] = []) {
        guard let circuit = circuits[number], circuit.end == nil else { return }
        // If the request was not sent, the other side need not know of the circuit.
        guard circuit.asks == nil else { return remove(number) }
        circuits[number]?.queue += last
        circuits[number]?.end = end
        ending += 1
        circuit.queue.isEmpty && last.isEmpty ? note(number) : turn(number)
    }

    /// Refuses an offered circuit. Only a limited number of refusals is kept.
    mutating func refuse(_ number: Number, _ end: CircuitEnd) {
        remove(number)
        if refusals.count < Limits.circuitRefusals { refusals.append((number, end)) }
    }

    private mutating func remove(_ number: Number) {
        guard let circuit = circuits.removeValue(forKey: number) else { return }
        if circuit.hasNote { notes.removeAll { $0 == number } }
        if circuit.hasTurn { turns.removeAll { $0 == number } }
        if circuit.end != nil { ending -= 1 }
    }

    private mutating func note(_ number: Number) {
        guard circuits[number]?.hasNote == false else { return }
        circuits[number]?.hasNote = true
        notes.append(number)
    }

    private mutating func turn(_ number: Number) {
        guard circuits[number]?.hasTurn == false else { return }
        circuits[number]?.hasTurn = true
        turns.append(number)
    }

    /// The first circuit in the queue has sent all its SDUs.
    private mutating func endTurn() {
        if let number = turns.popFirst() { circuits[number]?.hasTurn = false }
    }

    // MARK: Frames of the other side

    /// A frame about a circuit has arrived.
    mutating func received(_ frame: Frame) -> [Event] {
        switch frame {
        case .circuitOpen(let open): return offered(open)
        case .circuitData(let number, let sdu): return received(sdu, on: number)
        case .circuitCredit(let number, let credits, let sendMTU): return credited(number, credits, sendMTU)
        case .circuitClose(let number, let end):
            guard circuits[number] != nil else { return [] }
            remove(number)
            return [.closed(number, end)]
        default: return []
        }
    }

    private mutating func offered(_ open: CircuitOpen) -> [Event] {
        guard !isOwn(open.circuit), open.circuit < Limits.circuitNumbers, lastTheirs.map({ open.circuit > $0 }) != false
        else {
            return [.malformed]
        }
        lastTheirs = open.circuit
        guard circuits.count < limit else {
            refuse(open.circuit, .noRoom)
            return []
        }
        // One answer may leave before the opener's first credits: it would come late, or never, without them.
        circuits[open.circuit] = Circuit(
            isOpen: false, credits: 1, granted: 1, sendMTU: max(open.innerMTU, 0), receiveMTU: Limits.leastSDUBytes)
        guard open.innerMTU >= Limits.leastSDUBytes else {
            refuse(open.circuit, .misused)
            return []
        }
        return [.offered(open)]
    }

    private mutating func received(_ sdu: [UInt8], on number: Number) -> [Event] {
        guard let circuit = circuits[number], circuit.end == nil else { return [] }
        guard circuit.granted > 0, sdu.count <= circuit.receiveMTU, !sdu.isEmpty else {
            circuits[number]?.queue = []
            close(number, .misused)
            return [.closed(number, .misused)]
        }
        circuits[number]?.granted -= 1
        return [.received(number, sdu)]
    }

    private mutating func credited(_ number: Number, _ credits: UInt64, _ sendMTU: Int?) -> [Event] {
        guard var circuit = circuits[number] else { return [] }
        let isFirst = !circuit.isCredited
        circuit.isCredited = true
        var new = min(credits, Limits.mostCredits)
        if isFirst, !isOwn(number) {
            new -= circuit.hasAdvanced ? min(new, 1) : 0
            circuit.credits = 0
        }
        // Credits are capped at the maximum.
        circuit.credits = min(circuit.credits + new, Limits.mostCredits)
        // The opener's SDU size is in its `circuitOpen`.
        if isFirst, isOwn(number) {
            circuit.isOpen = true
            circuit.sendMTU = max(sendMTU ?? 0, Limits.leastSDUBytes)
        }
        circuits[number] = circuit
        turn(number)
        return circuit.end == nil ? [.ready(number)] : []
    }

    // MARK: Sending

    /// The next frame to send, in at most `room` bytes: frames about circuits first, then an SDU of each circuit in
    /// turn. `inner` returns an SDU of a circuit that ends here, up to a size. `passedOn` is the circuit of a queued
    /// SDU.
    mutating func next(fitting room: Int, inner: (Number, Int) -> Supply) -> (frame: Frame, passedOn: Number?)? {
        while let number = notes.first {
            guard let frame = frame(about: number) else {
                notes.removeFirst()
                circuits[number]?.hasNote = false
                continue
            }
            guard frame.byteCount <= room else { return nil }
            told(frame, number)
            return (frame, nil)
        }
        if let (number, end) = refusals.first {
            let frame = Frame.circuitClose(circuit: number, end)
            guard frame.byteCount <= room else { return nil }
            refusals.removeFirst()
            return (frame, nil)
        }
        // Each turn is used or moved to the end, so the loop ends.
        for _ in 0..<turns.count {
            guard let number = turns.first else { return nil }
            guard let circuit = circuits[number], circuit.credits > 0, circuit.end == nil || !circuit.queue.isEmpty
            else {
                endTurn()
                continue
            }
            let limit = min(circuit.sendMTU, room - Self.overhead(of: number))
            if let sdu = circuit.queue.first {
                guard sdu.count <= limit else { return nil }
                circuits[number]?.queue.removeFirst()
                return (leaves(sdu, on: number), number)
            }
            guard limit >= Self.worthAsking else { return nil }
            switch inner(number, limit) {
            case .sdu(let sdu): return (leaves(sdu, on: number), nil)
            case .tooLong: return nil
            case .nothing: endTurn()
            }
        }
        return nil
    }

    /// The next frame about a circuit itself.
    private func frame(about number: Number) -> Frame? {
        guard let circuit = circuits[number] else { return nil }
        if let asks = circuit.asks { return .circuitOpen(asks) }
        if circuit.due > 0 {
            return .circuitCredit(circuit: number, credits: circuit.due, sendMTU: circuit.opens)
        }
        guard let end = circuit.end, circuit.queue.isEmpty else { return nil }
        return .circuitClose(circuit: number, end)
    }

    private mutating func told(_ frame: Frame, _ number: Number) {
        switch frame {
        case .circuitOpen: circuits[number]?.asks = nil
        case .circuitCredit:
            circuits[number]?.due = 0
            circuits[number]?.opens = nil
        default: remove(number)
        }
    }

    private mutating func leaves(_ sdu: [UInt8], on number: Number) -> Frame {
        circuits[number]?.credits -= 1
        if circuits[number]?.isCredited == false { circuits[number]?.hasAdvanced = true }
        // Others are next.
        endTurn()
        turn(number)
        if let circuit = circuits[number], circuit.end != nil, circuit.queue.isEmpty { note(number) }
        return .circuitData(circuit: number, sdu: sdu)
    }

    /// Bytes of a frame in addition to the SDU.
    static func overhead(of number: Number) -> Int { 1 + 2 + WireWriter.varintBytes(number) }

    /// With less room than this, a record would be mostly overhead.
    private static let worthAsking = 64
}
