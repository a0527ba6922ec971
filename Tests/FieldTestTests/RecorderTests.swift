// SPDX-License-Identifier: Apache-2.0

import NodeCore
import DemocracyDJ
import MeshProtocol
import Testing

@testable import FieldTest

@Suite("Recorded events of a node")
struct RecorderTests {
    private let origin = ContinuousClock.now
    private let car = Peer(id: "0a0b0c0d0e0f0a0b0c0d0e0f0a0b0c0d", name: "Car")
    private var heard: Peer { Peer(id: "0a0b0c", name: "Car") }

    private func at(_ seconds: Double) -> ContinuousClock.Instant { origin + .seconds(seconds) }

    private func phases(_ rows: [DriveRow]) -> [Encounter.Phase] {
        rows.compactMap { if case .contact(let row) = $0.what { row.phase } else { nil } }
    }

    @Test("a reconnect is recorded as steps, each at its own time, up to the first state on the new link")
    func wayBack() {
        var recorder = Recorder(.guest, origin: origin)
        let snapshot = NodeEvent.snapshot(
            HostSnapshot(epoch: 1, revision: 1, nowPlaying: nil, isPlaying: false, queue: [], connectedPeers: []),
            isStale: false)
        var rows: [DriveRow] = []
        rows += recorder.take(.contact(Encounter(lost: car, .linkLost, at: at(1))), now: at(9))
        // A snapshot from before proves nothing about the new link.
        rows += recorder.take(snapshot, now: at(1.5))
        rows += recorder.take(.contact(Encounter(.heard, heard, at: at(2), by: .link)), now: at(9))
        rows += recorder.take(.contact(Encounter(.dialled, heard, at: at(3))), now: at(9))
        rows += recorder.take(.contact(Encounter(.resumed, car, at: at(4))), now: at(9))
        rows += recorder.take(snapshot, now: at(5))
        rows += recorder.take(snapshot, now: at(6))
        #expect(phases(rows) == [.lost, .heard, .dialled, .resumed, .current])
        #expect(rows.map(\.at) == [1, 2, 3, 4, 5])
    }

    @Test("a repeated advertisement is recorded only for its signal strength")
    func heardAgain() {
        var recorder = Recorder(.guest, origin: origin)
        func hear(_ rssi: Int?) -> [DriveRow] {
            recorder.take(.contact(Encounter(.heard, heard, at: at(1), by: .sighting, rssi: rssi)), now: at(1))
        }
        #expect(hear(nil).count == 1)
        #expect(hear(nil).isEmpty)
        #expect(hear(-70).count == 1)
    }

    @Test("an idle recording writes a row every ten seconds")
    func ticks() {
        var recorder = Recorder(.guest, origin: origin)
        let load = ProcessLoad(wakeUps: 0, processor: 0)
        let ticks = (1...35).flatMap { recorder.tick(load, now: at(Double($0))) }
        #expect(ticks.map(\.at) == [10, 20, 30])
    }

    @Test("each minute a row has the wake-ups and the processor time since the start of the drive")
    func load() {
        var recorder = Recorder(.guest, origin: origin, load: ProcessLoad(wakeUps: 100, processor: 2))
        let rows = (1...125).flatMap { second in
            recorder.tick(ProcessLoad(wakeUps: 100 + 15 * second, processor: 2.5), now: at(Double(second)))
        }
        let loads = rows.compactMap { if case .load(let load) = $0.what { load } else { nil } }
        #expect(loads == [60, 120].map { ProcessLoad(wakeUps: 15 * $0, processor: 0.5) })
        #expect(rows.first { if case .load = $0.what { true } else { false } }?.at == 60)
    }

    @Test("the load of this process grows with its work")
    func measured() async throws {
        let before = ProcessLoad.now
        for _ in 1...20 { try await Task.sleep(for: .milliseconds(1)) }
        let cost = ProcessLoad.now.since(before)
        #expect(cost.wakeUps >= 20 && cost.processor > 0)
    }

    @Test("a link over relays is recorded with their number, and the link to the next relay as the one below it")
    func relays() {
        var recorder = Recorder(.guest, origin: origin)
        let relay = Peer(id: "11110000aaaabbbbccccddddeeeeffff", name: "Row 8")
        _ = recorder.take(.contact(Encounter(.resumed, car, at: at(1))), now: at(1))
        var report = LinkReport(rssi: -60)
        report.circuits = 2
        #expect(
            recorder.take(.link(relay, report), now: at(2)).map(\.what)
                == [.carrier(relay.id, CarrierSample(relay, report))])
        // A relay's host: the relayed link is reported with its own link.
        #expect(recorder.take(.link(car, report), now: at(2)).map(\.what) == [.link(car.id, LinkSample(report))])
        var far = LinkReport()
        (far.relays, far.via) = (2, relay.id)
        guard case .link(_, let sample)? = recorder.take(.link(car, far), now: at(3)).first?.what else {
            return #expect(Bool(false))
        }
        #expect(sample.hops == 2 && sample.via == relay.id && sample.circuits == nil)
        #expect(LinkSample(LinkReport()).hops == nil)
    }

    @Test("titles, queues and searches are not recorded")
    func privacy() {
        var recorder = Recorder(.guest, origin: origin)
        #expect(recorder.take(.searchResults([], query: "secret"), now: at(1)).isEmpty)
        #expect(recorder.take(.artwork("s1", path: "/tmp/x"), now: at(1)).isEmpty)
    }
}
