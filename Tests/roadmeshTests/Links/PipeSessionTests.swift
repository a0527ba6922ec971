// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import roadmesh

/// Two sessions, the frames on their way, and the files at their ends.
private struct Pair {
    struct Side {
        var session: PipeSession
        var source: ArraySlice<UInt8>
        var destination: [UInt8] = []
        /// Arrived bytes that are not written yet.
        var unwritten: [[UInt8]] = []
        var mustClose = false
        var hasEnded = false
        var isReading = false
        var isClosed = false
        var incoming: [PipeFrame] = []
        var end: PipeEnd?
    }

    var sides: [Side]

    init(_ first: [UInt8], _ second: [UInt8]) {
        let name = Array(UInt8(0)..<16)
        sides = [
            Side(session: PipeSession(calling: name, .standard), source: first[...]),
            Side(session: PipeSession(answering: name, .standard), source: second[...]),
        ]
        perform(sides[0].session.start(), 0)
    }

    mutating func perform(_ actions: [PipeSession.Action], _ side: Int) {
        for action in actions {
            switch action {
            case .send(let frame): sides[1 - side].incoming.append(frame)
            case .begin: sides[side].isReading = true
            case .stream(_, .write(let bytes)): sides[side].unwritten.append(bytes)
            case .stream(_, .closeOutput): sides[side].mustClose = true
            case .stream, .connect: break
            case .end(let end): sides[side].end = end
            }
        }
    }

    /// Does one of the things that can happen next. Returns whether there was any.
    mutating func step(_ chance: inout SeededGenerator) -> Bool {
        var moves: [(inout Pair, inout SeededGenerator) -> Void] = []
        for side in 0...1 where sides[side].end == nil {
            if !sides[side].incoming.isEmpty { moves.append { pair, _ in pair.receive(side) } }
            if sides[side].isReading, !sides[side].hasEnded {
                let room = sides[side].session.readable(0)
                if sides[side].source.isEmpty {
                    moves.append { pair, _ in
                        pair.sides[side].hasEnded = true
                        pair.perform(pair.sides[side].session.endInput(0), side)
                    }
                } else if room > 0 {
                    moves.append { pair, chance in pair.read(side, room, &chance) }
                }
            }
            if !sides[side].unwritten.isEmpty {
                moves.append { pair, _ in pair.write(side) }
            } else if sides[side].mustClose, !sides[side].isClosed {
                moves.append { pair, _ in
                    pair.sides[side].isClosed = true
                    pair.perform(pair.sides[side].session.closedOutput(0), side)
                }
            }
        }
        guard let move = moves.randomElement(using: &chance) else { return false }
        move(&self, &chance)
        return true
    }

    private mutating func receive(_ side: Int) {
        let frame = sides[side].incoming.removeFirst()
        // The listener's session begins with the caller's hello.
        if side == 1, case .hello = frame { return perform(sides[1].session.start(), 1) }
        perform(sides[side].session.received(frame), side)
    }

    private mutating func read(_ side: Int, _ room: Int, _ chance: inout SeededGenerator) {
        let count = min(Int.random(in: 1...room, using: &chance), sides[side].source.count)
        let bytes = Array(sides[side].source.prefix(count))
        sides[side].source.removeFirst(count)
        perform(sides[side].session.read(bytes, 0), side)
    }

    private mutating func write(_ side: Int) {
        let bytes = sides[side].unwritten.removeFirst()
        sides[side].destination += bytes
        perform(sides[side].session.wrote(bytes.count, 0), side)
    }
}

@Suite("A session of two pipes")
struct PipeSessionTests {
    private static func bytes(_ count: Int, _ chance: inout SeededGenerator) -> [UInt8] {
        let first = Int.random(in: 0..<period, using: &chance)
        return Array(pattern[first..<first + count])
    }

    /// A prime, so that a lost or repeated chunk is noticed.
    private static let period = 251
    /// Bytes with that period, from which each stream takes a part.
    private static let pattern = (0..<PipeLimits.window + 2 * period).map { UInt8($0 % period) }

    @Test("in any order of events, both sides end complete with all bytes of both directions", arguments: 0..<60)
    func complete(seed: UInt64) {
        var chance = SeededGenerator(seed: seed)
        // Some are larger than the window.
        let sizes = [0, 1, 40_000, PipeLimits.window + 5]
        let first = Self.bytes(sizes.randomElement(using: &chance) ?? 0, &chance)
        let second = Self.bytes(sizes.randomElement(using: &chance) ?? 0, &chance)
        var pair = Pair(first, second)
        while pair.step(&chance) {}
        #expect(pair.sides.map(\.end) == [.complete, .complete])
        #expect(pair.sides[1].destination == first)
        #expect(pair.sides[0].destination == second)
    }

    @Test("if one side dies at any point, the other side is complete only if it has everything", arguments: 0..<200)
    func killed(seed: UInt64) {
        var chance = SeededGenerator(seed: seed)
        let first = Self.bytes(.random(in: 0...200_000, using: &chance), &chance)
        let second = Self.bytes(.random(in: 0...3, using: &chance), &chance)
        var pair = Pair(first, second)
        let victim = Int.random(in: 0...1, using: &chance)
        for _ in 0..<Int.random(in: 0...80, using: &chance) { _ = pair.step(&chance) }
        // Frames that the victim had sent may arrive, or be lost.
        let survivor = 1 - victim
        pair.sides[survivor].incoming.removeLast(
            Int.random(in: 0...pair.sides[survivor].incoming.count, using: &chance))
        let before = pair.sides[victim].end
        pair.sides[victim].end = .interrupted
        while pair.step(&chance) {}
        pair.perform(pair.sides[survivor].session.otherLeft(isLost: .random(using: &chance)), survivor)
        let whole = survivor == 1 ? first : second
        if pair.sides[survivor].end == .complete {
            #expect(pair.sides[survivor].destination == whole)
        } else {
            #expect(before != .complete, "the victim was complete, so the survivor had confirmed everything")
        }
    }

    @Test("Ctrl-C sends what was read and then says that it is not everything")
    func interrupted() {
        var session = PipeSession(calling: Array(0..<16), .standard)
        _ = session.start()
        _ = session.received(.hello(session: Array(0..<16), carries: .standard))
        #expect(session.read([1, 2], 0) == [.send(.data(0, [1, 2]))])
        #expect(session.interrupt() == [.send(.abort), .end(.interrupted)])
        #expect(session.sent == 2)
        #expect(session.interrupt() == [])
    }

    @Test(
        "a listener's answers before the session begins are refusals",
        arguments: [PipeRefusal.busy, .otherKind, .restarted])
    func refused(why: PipeRefusal) {
        var session = PipeSession(calling: Array(0..<16), .standard)
        _ = session.start()
        // The hello of another session is not for this one.
        #expect(session.received(.hello(session: Array(1..<17), carries: .standard)) == [])
        #expect(session.received(.refuse(why)) == [.end(.refused(why))])
    }

    @Test("a listener that has restarted has lost what it got before")
    func restarted() {
        var session = PipeSession(calling: Array(0..<16), .standard)
        _ = session.start()
        _ = session.received(.hello(session: Array(0..<16), carries: .standard))
        #expect(session.received(.refuse(.restarted)) == [.end(.cutShort(isLost: false))])
    }

    @Test("connections have streams of their own, and one that breaks leaves the others alone")
    func connections() throws {
        var caller = PipeSession(calling: Array(0..<16), .socket)
        var listener = PipeSession(answering: Array(0..<16), .socket)
        _ = caller.start()
        #expect(caller.open() == nil)
        #expect(listener.start() == [.send(.hello(session: Array(0..<16), carries: .socket))])
        _ = caller.received(.hello(session: Array(0..<16), carries: .socket))
        let (one, two) = (caller.open(), caller.open())
        let (first, second) = (try #require(one), try #require(two))
        #expect(first.actions == [.send(.open(1)), .begin(1)])
        #expect(listener.received(.open(1)) == [.connect(1)])
        #expect(listener.received(.open(second.stream)) == [.connect(2)])
        #expect(listener.fail(1) == [.send(.reset(1)), .stream(1, .broken)])
        #expect(caller.received(.reset(1)) == [.stream(1, .broken)])
        #expect(listener.connected(2) == [.begin(2)])
        #expect(listener.received(.data(2, [5])) == [.stream(2, .write([5]))])
        #expect(caller.openStreams == 1 && listener.openStreams == 1)
        #expect(caller.otherLeft(isLost: false) == [.stream(2, .broken), .end(.cutShort(isLost: false))])
    }

    @Test("a caller cannot open more connections than the limit")
    func limit() {
        var caller = PipeSession(calling: Array(0..<16), .socket)
        var listener = PipeSession(answering: Array(0..<16), .socket)
        _ = (caller.start(), listener.start())
        _ = caller.received(.hello(session: Array(0..<16), carries: .socket))
        for number in 1...PipeLimits.connections {
            #expect(caller.open()?.stream == UInt32(number))
            #expect(listener.received(.open(UInt32(number))) == [.connect(UInt32(number))])
        }
        #expect(caller.open() == nil)
        let extra = UInt32(PipeLimits.connections + 1)
        #expect(listener.received(.open(extra)) == [.send(.reset(extra))])
    }
}
