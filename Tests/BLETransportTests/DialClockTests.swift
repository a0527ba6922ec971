// SPDX-License-Identifier: Apache-2.0

import Foundation
import MeshProtocol
import Testing

@testable import BLETransport

@Suite("How often a host advertises, measured by its guests' dials")
struct DialClockTests {
    private func dial(lastHeard: MeshInstant?, at now: MeshInstant = .seconds(10)) -> DialClock? {
        DialClock(of: "00:11:22:33:44:55", lastHeard: lastHeard, now: now)
    }

    @Test("a dial of a host that was received just before takes until its link is up, not until its channel opens")
    func link() throws {
        var clock = try #require(dial(lastHeard: .milliseconds(9_900)))
        clock.linked("00:00:00:00:00:01", now: .milliseconds(10_020))
        clock.linked("00:11:22:33:44:55", now: .milliseconds(11_300))
        clock.linked("00:11:22:33:44:55", now: .milliseconds(11_350))
        #expect(clock.time(now: .milliseconds(11_400)).milliseconds == 1_300)
    }

    @Test("if the link is not reported, the dial takes until the channel opens")
    func channel() throws {
        #expect(try #require(dial(lastHeard: .seconds(10))).time(now: .milliseconds(10_080)).milliseconds == 80)
    }

    @Test("a dial through a tunnel, and one of a host that was not received, are not measured")
    func gap() {
        #expect(dial(lastHeard: nil) == nil)
        #expect(dial(lastHeard: .milliseconds(9_400)) == nil)
    }

    @Test("the shortest time of all guests counts, and only a new one is reported")
    func least() {
        var times = DialTimes()
        #expect(times.least == nil)
        let isNew = [1_900, 1_400, 1_400, 2_500].map { times.told(DialTime(milliseconds: $0)) }
        #expect(isNew == [true, true, false, false])
        #expect(times.least == DialTime(milliseconds: 1_400))
    }

    @Test("the guests' times are available to a check while the node runs, and not after its end or crash")
    func record() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let address = "00:11:22:AA:BB:CC"
        func read() -> Int? { FoundRecord.read(folder: folder, address: address)?.milliseconds }
        #expect(read() == nil)
        var record = FoundRecord(folder: folder, address: address)
        #expect(read() == nil)
        record?.write(DialTime(milliseconds: 1_234))
        #expect(read() == 1_234)
        record?.write(DialTime(milliseconds: 61))
        #expect(read() == 61)
        record?.write(nil)
        #expect(read() == nil)
        record?.write(DialTime(milliseconds: 61))
        record = nil
        #expect(read() == nil)
        record = FoundRecord(folder: folder, address: address)
        #expect(record != nil && read() == nil)
        for nonsense in ["6", "x\n", "-\n", String(repeating: "9", count: 40)] {
            try Data(nonsense.utf8).write(to: URL(filePath: folder + "/found-001122aabbcc"))
            #expect(read() == nil)
        }
        #expect(FoundRecord(folder: "/proc/nowhere", address: address) == nil)
    }
}
