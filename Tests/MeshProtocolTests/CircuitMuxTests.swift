// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

@Suite("The circuits of one link")
struct CircuitMuxTests {
    private func offered(_ number: UInt64, to circuits: inout CircuitMux) {
        let host = String(repeating: "0", count: 32)
        _ = circuits.received(
            .circuitOpen(CircuitOpen(circuit: number, host: host, hopsLeft: 1, innerMTU: 600, passed: [])))
        circuits.accept(number, receiveMTU: 600)
    }

    private func frames(_ circuits: inout CircuitMux, inner: (UInt64, Int) -> CircuitMux.Supply = { _, _ in .nothing })
        -> [Frame]
    {
        var frames: [Frame] = []
        while let next = circuits.next(fitting: 1_000, inner: inner) { frames.append(next.frame) }
        return frames
    }

    @Test("closed circuits leave nothing, and others have one queued frame each, even if the peer reads nothing")
    func boundedFrames() {
        var circuits = CircuitMux(.responder)
        for number in 0..<1_000 {
            offered(UInt64(2 * number), to: &circuits)
            _ = circuits.received(.circuitClose(circuit: UInt64(2 * number), .ended))
        }
        #expect(circuits.waitingFrames == 0 && circuits.isEmpty)
        offered(2_000, to: &circuits)
        for _ in 0..<1_000 {
            _ = circuits.received(.circuitData(circuit: 2_000, sdu: [1]))
            circuits.handled(2_000)
        }
        #expect(circuits.waitingFrames == 1)
        #expect(frames(&circuits) == [.circuitCredit(circuit: 2_000, credits: 1_004, sendMTU: 600)])
    }

    @Test("the limit of circuits includes closed ones whose close frame is unsent")
    func boundedCircuits() {
        var circuits = CircuitMux(.responder)
        for number in 0..<100 {
            offered(UInt64(2 * number), to: &circuits)
            circuits.close(UInt64(2 * number), .ended)
        }
        #expect(circuits.numbers.count == Limits.circuitsOfGuest)
        #expect(circuits.count == 0)
        let closes = frames(&circuits).filter { if case .circuitClose = $0 { true } else { false } }
        #expect(closes.count == Limits.circuitsOfGuest + Limits.circuitRefusals)
        #expect(circuits.isEmpty)
    }

    @Test("circuits take turns, however many SDUs one of them has queued")
    func turns() {
        var circuits = CircuitMux(.responder)
        for number in [UInt64(0), 2] {
            offered(number, to: &circuits)
            _ = circuits.received(.circuitCredit(circuit: number, credits: 6))
        }
        _ = frames(&circuits)
        for _ in 0..<5 { circuits.enqueue([0], on: 0) }
        for _ in 0..<5 { circuits.enqueue([2], on: 2) }
        let order = frames(&circuits).compactMap { frame -> UInt64? in
            if case .circuitData(let number, _) = frame { number } else { nil }
        }
        #expect(order == [0, 2, 0, 2, 0, 2, 0, 2, 0, 2])
    }

    @Test("a circuit whose request was not sent is closed without a frame")
    func neverAsked() {
        var circuits = CircuitMux(.initiator)
        let number = circuits.open(String(repeating: "0", count: 32), hopsLeft: 1, receiveMTU: 600, passed: [])
        circuits.close(number ?? 9, .ended)
        #expect(circuits.isEmpty && frames(&circuits).isEmpty)
    }
}
