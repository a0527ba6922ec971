// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MusicLibrary

@Suite("Changes of files")
struct LibraryScanTests {
    private func file(_ path: String, _ inode: UInt64, bytes: Int64 = 100, at time: Int64 = 1) -> LibraryScan.Found {
        .init(path: path, bytes: bytes, modifiedNanoseconds: time, inode: inode)
    }

    private func row(
        _ number: Int64, _ file: LibraryScan.Found, isGone: Bool = false, isNamed: Bool = false
    ) -> LibraryScan.Known {
        .init(number: number, file: file, isGone: isGone, isNamedByFile: isNamed)
    }

    private func read(_ file: LibraryScan.Found, _ number: Int64? = nil) -> LibraryScan.ToRead {
        .init(file: file, number: number)
    }

    @Test("an unchanged file is not read, and a new one is")
    func newFile() {
        let scan = LibraryScan(known: [row(1, file("a", 1))], found: [file("a", 1), file("b", 2)])
        #expect(scan.unchanged == 1)
        #expect(scan.toRead == [read(file("b", 2))])
        #expect(scan.gone.isEmpty && scan.placed.isEmpty && scan.moved.isEmpty)
    }

    @Test("a file of another size or time is read, and keeps its identity")
    func changed() {
        for new in [file("a", 1, bytes: 101), file("a", 2, at: 2)] {
            let scan = LibraryScan(known: [row(1, file("a", 1))], found: [new])
            #expect(scan.toRead == [read(new, 1)])
            #expect(scan.gone.isEmpty)
        }
    }

    @Test("a USB stick with new inode numbers keeps all its files, which are not read")
    func newInodes() {
        let scan = LibraryScan(known: [row(1, file("a", 1))], found: [file("a", 9)])
        #expect(scan.toRead.isEmpty && scan.gone.isEmpty)
        #expect(scan.placed == [.init(number: 1, file: file("a", 9))])
    }

    @Test("a moved file is recognised, and read only if its name was its title")
    func moved() {
        let plain = LibraryScan(known: [row(1, file("a", 1))], found: [file("b/a", 1)])
        #expect(plain.placed == [.init(number: 1, file: file("b/a", 1))])
        #expect(plain.moved == [1] && plain.toRead.isEmpty && plain.gone.isEmpty)
        let named = LibraryScan(known: [row(1, file("a", 1), isNamed: true)], found: [file("b", 1)])
        #expect(named.toRead == [read(file("b", 1), 1)])
        #expect(named.moved == [1] && named.gone.isEmpty)
    }

    @Test("two files that change places keep their identities")
    func swapped() {
        let known = [row(1, file("a", 1, at: 1)), row(2, file("b", 2, at: 2))]
        let scan = LibraryScan(known: known, found: [file("a", 2, at: 2), file("b", 1, at: 1)])
        #expect(scan.placed.map(\.number).sorted() == [1, 2])
        #expect(scan.placed.contains(.init(number: 1, file: file("b", 1, at: 1))))
        #expect(scan.gone.isEmpty && scan.toRead.isEmpty)
    }

    @Test("a file that is moved onto another replaces it, and the other is gone")
    func movedOnto() {
        let known = [row(1, file("a", 1, at: 1)), row(2, file("b", 2, at: 2))]
        let scan = LibraryScan(known: known, found: [file("b", 1, at: 1)])
        #expect(scan.placed == [.init(number: 1, file: file("b", 1, at: 1))])
        #expect(scan.gone == [2])
    }

    @Test("in an ambiguous case nothing is guessed")
    func ambiguous() {
        let known = [row(1, file("a", 1)), row(2, file("b", 1))]
        let scan = LibraryScan(known: known, found: [file("c", 1), file("d", 1)])
        #expect(scan.toRead == [read(file("c", 1)), read(file("d", 1))])
        #expect(scan.gone == [1, 2])
    }

    @Test("a file that is gone is reported once, and one that comes back unchanged is not read")
    func goneAndBack() {
        #expect(LibraryScan(known: [row(1, file("a", 1))], found: []).gone == [1])
        let gone = row(1, file("a", 1), isGone: true)
        #expect(LibraryScan(known: [gone], found: []).isEmpty)
        let back = LibraryScan(known: [gone], found: [file("a", 7)])
        #expect(back.placed == [.init(number: 1, file: file("a", 7))] && back.toRead.isEmpty)
        // With another size it may be any file.
        let other = LibraryScan(known: [gone], found: [file("a", 7, bytes: 5)])
        #expect(other.toRead == [read(file("a", 7, bytes: 5))])
    }

    @Test("a file that was written is read, whatever its time")
    func written() {
        let scan = LibraryScan(known: [row(1, file("a", 1))], found: [file("a", 1)], written: ["a"])
        #expect(scan.toRead == [read(file("a", 1), 1)])
    }

    @Test("a file that is being written stays as it was, and a new one is not there yet")
    func growing() {
        let scan = LibraryScan(
            known: [row(1, file("a", 1))], found: [file("a", 1, bytes: 7), file("b", 2)], growing: ["a", "b"])
        #expect(scan.isEmpty)
        // Deleted before it was complete.
        #expect(LibraryScan(known: [row(1, file("a", 1))], found: [], growing: ["a"]).gone == [1])
    }
}

@Suite("The time of a scan of a folder")
struct RescanPolicyTests {
    private let limits = LibraryLimits()

    @Test("a scan waits until changes end, but not forever")
    func settles() {
        var policy = RescanPolicy(limits: limits)
        #expect(policy.deadline == nil)
        policy.changed([.written("a")], now: .seconds(1))
        #expect(policy.deadline == .seconds(1) + limits.settle)
        for tenth in 1...80 { policy.changed([.other], now: .seconds(1) + .milliseconds(100 * tenth)) }
        #expect(policy.deadline == .seconds(1) + limits.longestSettle)
        #expect(policy.begin(now: .seconds(9)).written == ["a"])
        #expect(policy.deadline == nil)
    }

    @Test("a slow scan is followed by a longer pause")
    func rests() {
        var policy = RescanPolicy(limits: limits)
        _ = policy.begin(now: .zero)
        policy.ended(.watched, took: .seconds(2), now: .seconds(2))
        policy.changed([.other], now: .seconds(3))
        #expect(policy.deadline == .seconds(22))
        policy.ended(.watched, took: .seconds(600), now: .seconds(700))
        policy.changed([.other], now: .seconds(701))
        #expect(policy.deadline == .seconds(700) + limits.longestRest)
    }

    @Test("a scan waits until a file that is being written is closed, up to a limit")
    func growing() {
        var policy = RescanPolicy(limits: limits)
        policy.changed([.growing("a")], now: .seconds(1))
        #expect(policy.begin(now: .seconds(2)).growing == ["a"])
        #expect(policy.deadline == .seconds(1) + limits.longestCopy)
        policy.changed([.written("a")], now: .seconds(3))
        let closed = policy.begin(now: .seconds(4))
        #expect(closed.growing.isEmpty && closed.written == ["a"])
        policy.changed([.growing("b")], now: .seconds(5))
        #expect(policy.begin(now: .seconds(5) + limits.longestCopy).growing.isEmpty)
        #expect(policy.deadline == nil)
    }

    @Test("a scan does not wait for a file that is deleted while it is being written")
    func deleted() {
        var policy = RescanPolicy(limits: limits)
        policy.changed([.growing("a"), .gone("a")], now: .seconds(1))
        let begun = policy.begin(now: .seconds(2))
        #expect(begun.growing.isEmpty && begun.written.isEmpty && policy.deadline == nil)
    }

    @Test("after an overflow of events everything is scanned")
    func overflow() {
        var policy = RescanPolicy(limits: limits)
        policy.changed([.growing("a"), .overflow], now: .seconds(1))
        #expect(policy.deadline == .seconds(1) + limits.settle)
        #expect(policy.begin(now: .seconds(2)).growing.isEmpty)
    }

    @Test("a folder that is not watched, or is missing, is checked from time to time")
    func looksAgain() {
        var policy = RescanPolicy(limits: limits)
        for (outcome, pause) in [
            (RescanPolicy.Outcome.unwatched, limits.unwatchedPause), (.remote, limits.unwatchedPause),
            (.away, limits.awayPause),
            (.failed, limits.retryPause),
        ] {
            policy.ended(outcome, took: .zero, now: .seconds(10))
            #expect(policy.deadline == .seconds(10) + pause)
            _ = policy.begin(now: .seconds(11))
        }
        policy.ended(.watched, took: .zero, now: .seconds(20))
        #expect(policy.deadline == nil)
    }
}
