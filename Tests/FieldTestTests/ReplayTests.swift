// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshSimulator
import Testing

@testable import FieldTest

@Suite("Replay of a drive")
struct ReplayTests {
    @Test("the air is cut and healed where the drive had its gap, with its signal and its votes")
    func steps() {
        let steps = AirScript(Drives.oneGap).steps
        #expect(steps.map(\.change) == [.rssi, .rssi, .vote, .cut, .vote, .heal, .rssi, .end])
        #expect(steps.map(\.at) == [1, 10, 12, 20, 25, 30, 31, 40])
        #expect(steps.compactMap(\.rssi) == [-60, -90, -62])
    }

    @Test("back to back, gaps keep their length, and the time between them is short")
    func backToBack() {
        let steps = AirScript(Drives.oneGap, backToBack: true).steps
        let cut = steps.first { $0.change == .cut }?.at ?? 0
        let heal = steps.first { $0.change == .heal }?.at ?? 0
        #expect(abs(heal - cut - 10) < 1e-6)
        #expect(cut == 2)
        #expect(steps.last?.at == 14)
        #expect(steps.count { $0.change == .vote } == 2)
    }

    @Test("a simulated guest passes the drive's gaps, and every promise holds")
    func simulated() async {
        var told: [Int] = []
        let result = await SimulatedDrive(AirScript(Drives.oneGap)).run(seeds: 1...5) { told.append($0) }
        #expect(told == [1, 2, 3, 4, 5])
        #expect(result.runs == 5 && result.violation == nil)
        #expect(result.figures.faults == [.tunnel: 5])
        #expect(result.figures.wishes == 10)
        // Connected and reconnected, at both ends.
        #expect(result.figures.connections >= 5 * 4)
    }

    @Test("a vote that is taken back before its answer is explained, with the number of runs")
    func explained() async {
        // The host answers nothing in the gap. The second vote of a road takes back the first.
        let drive = Drives.drive([
            (0, Drives.contact(.resumed)), (10.42, Drives.contact(.lost, silence: 0.42)),
            (12, Drives.wish("s1", "queued")), (14.5, Drives.wish("s2", "queued")), (20, Drives.contact(.resumed)),
            (21, Drives.wish("s1", "confirmed")), (21, Drives.wish("s2", "confirmed")), (40, .end("quit")),
        ])
        let result = await SimulatedDrive(AirScript(drive)).run(seeds: 1...3)
        #expect(result.violation == nil)
        #expect(result.figures.wishes - result.figures.confirmed == result.unconfirmed.reduce(0) { $0 + $1.runs })
        #expect(
            result.explanations == [
                "Not confirmed in 3 of 3 runs: the vote at 0:12. It was taken back 2.5 s later, before the host had answered it. "
                    + "Only the last wish for a song counts."
            ])
    }

    @Test("of each included drive, every wish without a confirmation is explained")
    func allExplained() async throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().path + "/../../docs/drives/parking-garage.jsonl"
        let drive = try Drive(file: String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self))
        let result = await SimulatedDrive(AirScript(drive)).run(seeds: 1...4)
        let missing = result.figures.wishes - result.figures.confirmed
        #expect(missing > 0 && result.unconfirmed.reduce(0) { $0 + $1.runs } == missing)
        #expect(result.explanations.allSatisfy { $0.contains("taken back") })
    }

    @Test("every promise holds on the included drives", arguments: ["tunnel", "city", "parking-garage"])
    func shipped(name: String) async throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().path + "/../../docs/drives/\(name).jsonl"
        let drive = try Drive(file: String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self))
        #expect(drive.ending == .complete && drive.header.origin?.contains("radio lab") == true)
        let figures = DriveMetrics(drive)
        #expect(figures.deliveries.cast > 10 && figures.deliveries.waiting == 0)
        let result = await SimulatedDrive(AirScript(drive, backToBack: true)).run(seeds: 1...4)
        #expect(result.violation == nil)
        #expect(result.figures.faults[.tunnel] == 4 * figures.gaps.count)
    }

    @Test("the same seed on the same road gives the same run, and another seed another")
    func repeatable() {
        let road = AirScript(Drives.oneGap).road
        let hashes = [1, 1, 2].map { Simulation(seed: $0, road: road).run().hash }
        #expect(hashes[0] == hashes[1] && hashes[1] != hashes[2])
    }
}
