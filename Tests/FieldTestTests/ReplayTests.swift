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
