// SPDX-License-Identifier: Apache-2.0

import Bearers
import TestSupport
import Testing

/// The program of the tutorial "Your own application", run over the virtual radio.
@Suite("stops", .timeLimit(.minutes(2)))
struct StopsTests {
    private let air: VirtualAir

    init() throws { air = try VirtualAir(directory: newFolder()) }

    /// A node that runs until it is cancelled or its host leaves.
    private struct Node {
        let shown: EventQueue<String>
        let propose: AsyncStream<String>.Continuation
        let running: Task<Void, any Error>
    }

    private func host(in folder: String) throws -> Node {
        let radio = try VirtualBearer(air: air, address: "lead")
        let (lines, shown) = AsyncStream<String>.makeStream()
        let running = Task { try await hostStops(as: "Lead car", on: radio, in: folder) { shown.yield($0) } }
        return Node(shown: EventQueue(lines), propose: AsyncStream<String>.makeStream().continuation, running: running)
    }

    private func guest(_ name: String, in folder: String) throws -> Node {
        let radio = try VirtualBearer(air: air, address: name)
        let (lines, shown) = AsyncStream<String>.makeStream()
        let (stops, propose) = AsyncStream<String>.makeStream()
        let running = Task {
            try await joinStops(as: name, on: radio, in: folder, stops: stops) { shown.yield($0) }
        }
        return Node(shown: EventQueue(lines), propose: propose, running: running)
    }

    @Test("all guests see the stops of all, and a later guest sees the stops of a host that has restarted")
    func board() async throws {
        let folder = newFolder()
        let host = try host(in: folder)
        let (ana, ben) = (try guest("Ana", in: newFolder()), try guest("Ben", in: newFolder()))
        ana.propose.yield("Lake")
        try await ben.shown.line("Lake (Ana)")
        ben.propose.yield("Castle")
        try await ana.shown.line("Lake (Ana), Castle (Ben)")
        host.running.cancel()
        try await host.running.value
        try await ana.running.value
        try await ben.running.value
        let restarted = try self.host(in: folder)
        let cleo = try guest("Cleo", in: newFolder())
        try await cleo.shown.line("Lake (Ana), Castle (Ben)")
        restarted.running.cancel()
        try await restarted.running.value
        try await cleo.running.value
    }

    @Test("a stop that was proposed in a tunnel reaches the host once, also if the guest restarts in the tunnel")
    func tunnel() async throws {
        let folder = newFolder()
        let host = try host(in: newFolder())
        let ana = try guest("Ana", in: folder)
        try await host.shown.line("Ana has joined")
        ana.propose.yield("Lake")
        try await host.shown.line("Ana proposes Lake")
        try await ana.shown.line("Lake (Ana)")
        try air.cut("Ana")
        ana.propose.yield("Castle")
        try await ana.shown.line("Castle will reach the host")
        ana.running.cancel()
        await #expect(throws: CancellationError.self) { try await ana.running.value }
        try await host.shown.line("Ana has left")
        air.heal("Ana")
        let restarted = try guest("Ana", in: folder)
        restarted.propose.yield("Fuel")
        for proposal in ["Ana proposes Castle", "Ana proposes Fuel"] {
            #expect(try await host.shown.first { $0.contains("proposes") ? $0 : nil } == proposal)
        }
        try await restarted.shown.line("Lake (Ana), Castle (Ana), Fuel (Ana)")
        host.running.cancel()
        try await host.running.value
        try await restarted.running.value
    }

    @Test("a board refuses what does not fit a message, and counts a stop once")
    func limits() {
        var board = Board()
        board.add("", by: "Ana")
        board.add(String(repeating: "x", count: Board.nameBytes + 1), by: "Ana")
        #expect(board.stops.isEmpty)
        for number in 0...Board.stopsAtMost + 1 { board.add("\(number / 2)", by: "Ana") }
        #expect(board.stops.map(\.name) == (0...Board.stopsAtMost / 2).map { "\($0)" })
        for number in 0...Board.stopsAtMost { board.add("more \(number)", by: "Ana") }
        #expect(board.stops.count == Board.stopsAtMost)
    }
}

extension EventQueue<String> {
    /// Waits for a line.
    fileprivate func line(_ line: String) async throws { _ = try await first { $0 == line ? line : nil } }
}
