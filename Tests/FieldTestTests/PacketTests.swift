// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import MeshProtocol
import NodeCore
import TestSupport
import Testing

@testable import FieldTest

@Suite("Packets around gaps")
struct PacketTests {
    private let origin = ContinuousClock.now
    private let car = Peer(id: "0a0b0c0d0e0f0a0b0c0d0e0f0a0b0c0d", name: "Car")
    private let bus = Peer(id: "1a0b0c0d0e0f0a0b0c0d0e0f0a0b0c0d", name: "Bus")

    private func at(_ seconds: Double) -> ContinuousClock.Instant { origin + .seconds(seconds) }

    private func lost(_ peer: Peer, at seconds: Double) -> Encounter {
        Encounter(lost: peer, .linkLost, at: at(seconds))
    }

    private func window(_ from: Double, _ to: Double) -> PacketWindows.Window {
        PacketWindows.Window(from: at(from), to: at(to))
    }

    @Test("a short gap is one file, from five seconds before the loss to five seconds after the return")
    func shortGap() {
        var windows = PacketWindows()
        windows.take(lost(car, at: 10))
        windows.take(Encounter(.resumed, car, at: at(12)))
        #expect(windows.due(now: at(16)).isEmpty)
        #expect(windows.due(now: at(17)) == [window(5, 17)])
        #expect(windows.due(now: at(100)).isEmpty)
    }

    @Test("a long gap is two files: ten seconds around the loss, and ten around the return")
    func longGap() {
        var windows = PacketWindows()
        windows.take(lost(car, at: 10))
        #expect(windows.due(now: at(15)) == [window(5, 15)])
        windows.take(Encounter(.resumed, car, at: at(600)))
        #expect(windows.due(now: at(605)) == [window(595, 605)])
        // The next link of this peer is no return from a gap.
        windows.take(Encounter(.resumed, car, at: at(700)))
        #expect(windows.due(now: at(800)).isEmpty)
    }

    @Test("peers that are lost together are in one file, and a file does not become longer than the memory of packets")
    func together() {
        var windows = PacketWindows()
        windows.take(lost(car, at: 10))
        windows.take(lost(bus, at: 10.25))
        #expect(windows.due(now: at(20)) == [window(5, 15.25)])
        // A signal at its limit: a loss every second.
        for second in 0..<40 { windows.take(lost(car, at: 100 + Double(second))) }
        let files = windows.due(now: at(200))
        #expect(files == [window(95, 120), window(111, 136), window(127, 144)])
        // Each loss has five seconds on both sides in one of them.
        for second in 0..<40 {
            let loss = 100 + Double(second)
            #expect(files.contains { $0.from <= at(loss - 5) && at(loss + 5) <= $0.to })
        }
    }

    @Test("a peer that leaves makes no gap, and a drive that ends writes what there is")
    func ends() {
        var windows = PacketWindows()
        windows.take(Encounter(lost: car, .left, at: at(10)))
        windows.take(Encounter(.resumed, car, at: at(12)))
        #expect(windows.due(now: at(100)).isEmpty)
        windows.take(lost(car, at: 200))
        #expect(windows.end(now: at(201)) == [window(195, 201)])
        #expect(windows.due(now: at(300)).isEmpty)
    }

    @Test("a drive has a limited number of files and bytes")
    func budget() {
        var budget = PacketBudget()
        let accepted = (0...FieldTestLimits.packetFiles).map { _ in budget.accepts(100) }
        #expect(accepted == Array(repeating: true, count: FieldTestLimits.packetFiles) + [false])
        var large = PacketBudget()
        let fits = [FieldTestLimits.packetBytes - 10, 11, 10].map { large.accepts($0) }
        #expect(fits == [true, false, true])
    }

    @Test("files are listed by the time that they cover, only complete ones, and only of their drive")
    func folder() throws {
        let state = newFolder()
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: state) }
        let (one, other) = (PacketFolder(stateFolder: state, drive: 1), PacketFolder(stateFolder: state, drive: 12))
        #expect(one.files.isEmpty)
        try one.write([1, 2, 3], from: .seconds(1_000), to: .milliseconds(1_010_500))
        try one.write([1, 2], from: .seconds(-3), to: .seconds(7))
        try other.write([1], from: .seconds(1), to: .seconds(2))
        try Data().write(to: URL(filePath: "\(state)/fieldtest-packets/1/unfinished"))
        try Data().write(to: URL(filePath: "\(state)/fieldtest-packets/1/9-1.btsnoop"))
        let files = one.files
        #expect(files.map(\.from) == [0, 1_000] && files.map(\.to) == [7, 1_010.5] && files.map(\.bytes) == [2, 3])
        #expect(FileManager.default.contents(atPath: files[1].path) == Data([1, 2, 3]))
        one.remove()
        #expect(one.files.isEmpty && other.files.count == 1)
        // A state folder that is no folder.
        #expect(throws: PacketFileError.self) {
            try PacketFolder(stateFolder: files[1].path, drive: 1).write([1], from: .zero, to: .zero)
        }
    }

    /// Has a packet at each whole second up to 100.
    private struct Seconds: PacketSource {
        let origin: ContinuousClock.Instant

        func run() async {}
        func close() {}

        func file(from: ContinuousClock.Instant, to: ContinuousClock.Instant) -> [UInt8]? {
            let seconds = (UInt8(0)...100).filter {
                from <= origin + .seconds(Int($0)) && origin + .seconds(Int($0)) <= to
            }
            return seconds.isEmpty ? nil : seconds
        }
    }

    @Test(
        "a recording writes a file when its time is over, without files of an earlier drive, and goes on if the disk refuses"
    )
    func recorder() throws {
        let state = newFolder()
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: state) }
        let folder = PacketFolder(stateFolder: state, drive: 1)
        try folder.write([1], from: .zero, to: .seconds(1))
        var recorder = PacketRecorder(
            Seconds(origin: origin), folder, origin: origin,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        #expect(folder.files.isEmpty)
        recorder.take(.contact(lost(car, at: 10)))
        recorder.write(now: at(14))
        #expect(folder.files.isEmpty)
        recorder.write(now: at(15))
        let first = try #require(folder.files.first)
        #expect(first.from == 5 && first.to == 15)
        #expect(FileManager.default.contents(atPath: first.path) == Data(5...15))
        // Without packets there is no file.
        recorder.take(.contact(lost(car, at: 200)))
        recorder.write(now: at(210))
        #expect(folder.files.count == 1)
        // A file in place of the folder.
        try FileManager.default.removeItem(atPath: "\(state)/fieldtest-packets")
        try Data([1]).write(to: URL(filePath: "\(state)/fieldtest-packets"))
        recorder.take(.contact(lost(car, at: 30)))
        recorder.write(now: at(40))
        try FileManager.default.removeItem(atPath: "\(state)/fieldtest-packets")
        recorder.take(.contact(lost(car, at: 50)))
        recorder.write(now: at(51), isEnd: true)
        #expect(folder.files.map(\.to) == [51])
    }

    private func file(_ from: Double, _ to: Double) -> PacketFile {
        PacketFile(path: "/state/fieldtest packets/\(Int(from)).btsnoop", from: from, to: to, bytes: 1)
    }

    @Test("a report links each gap to the files of its loss and of its return, and a shared one does not")
    func report() throws {
        var drive = Drives.oneGap
        // The loss is at 20.42 s, the return at 30.3 s.
        drive.packets = [file(0, 5), file(15, 20.5), file(15.42, 25.42), file(25.3, 35.3)]
        let report = Report([drive])
        let loss = "file:///state/fieldtest%20packets/15.btsnoop"
        #expect(
            GapPackets(try #require(DriveMetrics(drive).gaps.first), in: drive.packets).files.map(\.from) == [
                15.42, 25.3,
            ])
        #expect(report.html.contains("<a href=\"\(loss)\">loss</a>, <a href="))
        let gap = try #require(gaps(report.json).first)
        #expect((gap["packets"] as? [String])?.count == 2)
        drive.packets = [file(10, 40)]
        #expect(Report([drive]).html.contains("/10.btsnoop\">loss</a></td>"), "one file for both")
        let plain = Report([Drives.oneGap])
        #expect(!plain.html.contains("Packets") && !plain.html.contains("file://"))
        #expect(try #require(gaps(plain.json).first)["packets"] == nil)
        #expect(!drive.file.contains("btsnoop"), "the files are no part of an exported drive")
    }

    private func gaps(_ json: String) throws -> [[String: Any]] {
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        return try #require((object["drives"] as? [[String: Any]])?.first?["gaps"] as? [[String: Any]])
    }
}
