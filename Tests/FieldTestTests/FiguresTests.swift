// SPDX-License-Identifier: Apache-2.0

import NodeCore
import MeshProtocol
import Testing

@testable import FieldTest

@Suite("Metrics of a drive")
struct FiguresTests {
    @Test("a gap lasts from the last received data until the host is in range; a reconnect ends with the state")
    func gap() throws {
        let figures = DriveMetrics(Drives.oneGap)
        let gap = try #require(figures.gaps.first)
        #expect(figures.gaps.count == 1)
        #expect(abs(gap.start - 20) < 1e-6 && gap.end == 30)
        #expect(abs((gap.reconnect ?? 0) - 0.4) < 1e-6)
        #expect(abs(figures.away - 10) < 1e-6)
        #expect(figures.resent == 1)
    }

    @Test("if a pending dial makes the link, the host was in range a little earlier")
    func lag() throws {
        func inReach(after seconds: Double) throws -> Double {
            var row = ContactRow(.heard, Peer(id: Drives.car, name: "Car"))
            row.evidence = .link
            let drive = Drives.drive([
                (0, Drives.contact(.resumed)), (5, Drives.contact(.lost, silence: 0.42)), (5 + seconds, .contact(row)),
                (5.4 + seconds, Drives.contact(.resumed)), (500, .end("quit")),
            ])
            return try #require(DriveMetrics(drive).gaps.first?.end) - 5 - seconds
        }
        #expect(abs(try inReach(after: 10) + 0.0375) < 1e-6)
        #expect(abs(try inReach(after: 100) + 0.27) < 1e-6)
    }

    @Test("of failed dials, the first scan result counts, and the channel of the dial that succeeded")
    func failedDials() throws {
        let figures = DriveMetrics(
            Drives.drive([
                (0, Drives.contact(.resumed)), (5, Drives.contact(.lost, silence: 0.5)), (7, Drives.contact(.heard)),
                (7.2, Drives.contact(.dialled)), (9, Drives.contact(.heard)), (9.2, Drives.contact(.dialled)),
                (9.3, Drives.contact(.resumed)), (20, .end("quit")),
            ]))
        let gap = try #require(figures.gaps.first)
        #expect(gap.heard == 7 && gap.dialled == 9.2 && gap.resumed == 9.3)
    }

    @Test("a host knows that a guest is back, but not how long the reconnect took")
    func host() {
        let figures = DriveMetrics(
            Drives.drive(
                [
                    (0, Drives.contact(.resumed)), (5, Drives.contact(.lost, silence: 0.42)),
                    (9, Drives.contact(.resumed)),
                    (20, .end("quit")),
                ], role: .host))
        #expect(figures.gaps.map(\.end) == [9])
        #expect(figures.reconnects.isEmpty)
    }

    @Test("a goodbye leaves no gap, and a gap at the drive's end lasts until then")
    func ends() {
        let left = Drives.drive([(0, Drives.contact(.resumed)), (5, Drives.contact(.lost)), (9, .end("quit"))])
        #expect(DriveMetrics(left).gaps.isEmpty)
        let away = Drives.drive([
            (0, Drives.contact(.resumed)), (5, Drives.contact(.lost, silence: 1)), (9, .end("quit")),
        ])
        #expect(DriveMetrics(away).gaps.map(\.length) == [nil])
        #expect(DriveMetrics(away).away == 5)
    }

    @Test("each vote is counted once, however often it is reported, and one taken back is not lost")
    func votes() {
        let votes = DriveMetrics(
            Drives.drive([
                (1, Drives.wish("s1", "queued")), (2, Drives.wish("s1", "sent")),
                // Reported again after a restart.
                (3, Drives.wish("s1", "queued")), (4, Drives.wish("s1", "confirmed")), (5, Drives.wish("s2", "queued")),
                (6, Drives.wish("s2", "rejected")), (7, Drives.wish("s3", "queued")),
                (8, Drives.wish("s3", "queued", "takeBack")), (9, Drives.wish("s3", "confirmed", "takeBack")),
                (9.5, Drives.wish("s4", "queued")), (10, .end("quit")),
            ])
        ).deliveries
        #expect(votes.cast == 5 && votes.delivered == 4 && votes.rejected == 1 && votes.waiting == 1)
    }

    @Test("a vote that a host counts twice is detected; counting it again after it was taken back is correct")
    func countedTwice() {
        func intent(_ kind: String) -> Happening {
            .intent(IntentRow(peer: "a", intent: kind, song: "s1", accepted: true))
        }
        func twice(_ kinds: [String]) -> Int {
            let rows = kinds.enumerated().map { (Double($0.offset), intent($0.element)) }
            return DriveMetrics(Drives.drive(rows, role: .host)).deliveries.countedTwice
        }
        #expect(twice(["vote", "vote"]) == 1)
        #expect(twice(["vote", "takeBackVote", "vote"]) == 0)
    }

    @Test("the radio's time is the time of its requests, and a dial interrupts a scan")
    func radio() {
        func radio(scanning: Bool = false, dialling: Bool = false, links: Int = 0) -> Happening {
            var activity = RadioActivity()
            (activity.isScanning, activity.isDialling, activity.links) = (scanning, dialling, links)
            return .radio(RadioSample(activity))
        }
        let time = DriveMetrics(
            Drives.drive([
                (0, radio(scanning: true)), (2, radio(scanning: true, dialling: true)), (3, radio(links: 1)),
                (10, .tick),
            ])
        ).radio
        #expect(time.scanning == 2 && time.dialling == 1 && time.linked == 7 && time.advertising == 0)
    }

    @Test("linked time is split by the number of relays, and by the next relay")
    func hops() {
        let figures = DriveMetrics(Drives.overRelays)
        #expect(figures.hops.byHops.map(\.hops) == [0, 1, 2])
        #expect(figures.hops.byHops.map { ($0.seconds * 10).rounded() } == [100, 300, 200])
        #expect(figures.hops.byRelay.map { figures.name(ofRelay: $0.relay) } == ["Row 8", "Row <16>"])
        #expect(figures.hops.byRelay.map { $0.seconds.rounded() } == [30, 20])
        #expect(figures.gaps.first.flatMap { figures.hops(before: $0) } == 0)
        // The next relay's signal, and the host's round trip.
        #expect(figures.signal == [-80, -70, -60] && figures.roundTrips == [90, 90, 90, 90])
        // The route changes over the same link: the relay has another parent.
        let moved = Drives.drive([
            (0, Drives.contact(.resumed)), (1, Drives.link(hops: 1, via: "a")), (5, Drives.link(hops: 3, via: "a")),
            (9, .end("quit")),
        ])
        #expect(DriveMetrics(moved).hops.stretches.map(\.end) == [5, 9])
    }

    @Test("a drive without relays, such as an older one, mentions no relays")
    func noHops() {
        let figures = DriveMetrics(Drives.oneGap)
        #expect(!figures.hops.hasRelays && figures.hops.byHops.map(\.hops) == [0])
        #expect(!Report([Drives.oneGap]).html.contains("relay"))
        #expect(!Report([Drives.oneGap]).sentences.joined().contains("relay"))
        #expect(!Drives.oneGap.file.contains("hops"))
    }

    @Test("the verdict is that of the worst part, and says what to do")
    func verdict() {
        let good = Drives.oneGap
        #expect(Verdict(good, DriveMetrics(good)).grade == .poor, "a third of its signal is weak")
        let strong = Drives.drive([
            (0, Drives.contact(.resumed)), (1, Drives.link(-60)), (2, Drives.wish("s1", "queued")),
            (3, Drives.wish("s1", "confirmed")), (9, .end("quit")),
        ])
        #expect(Verdict(strong, DriveMetrics(strong)).grade == .good)
        let lost = Drives.drive([
            (0, Drives.contact(.resumed)), (2, Drives.wish("s1", "queued")), (900, .end("quit")),
        ])
        let verdict = Verdict(lost, DriveMetrics(lost))
        #expect(verdict.grade == .poor)
        #expect(verdict.findings[0].advice?.contains("report it") == true)
    }

    @Test(
        "a drive that was out of range most of the time is poor, and one with a few tunnels is good",
        arguments: [(5.0, .good), (9, .good), (11, .fair), (49, .fair), (55, .poor)] as [(Double, Verdict.Grade)])
    func away(percent: Double, grade: Verdict.Grade) throws {
        let drive = Drives.drive([
            (0, Drives.contact(.resumed)), (20.42, Drives.contact(.lost, silence: 0.42)),
            (20 + percent, Drives.contact(.resumed)), (100, .end("quit")),
        ])
        let verdict = Verdict(drive, DriveMetrics(drive))
        #expect(verdict.grade == grade)
        let finding = try #require(verdict.findings.first { $0.sentence.hasPrefix("The link was lost once") })
        #expect(finding.grade == grade && finding.sentence.contains("\(Int(percent))"))
        #expect((finding.advice == nil) == (grade == .good))
    }

    @Test("the times of several guests out of range count once")
    func overlapping() {
        let other = Peer(id: "11112222333344445555666677778888", name: "Bob")
        let drive = Drives.drive(
            [
                (0, Drives.contact(.resumed)), (0, .contact(ContactRow(.resumed, other))),
                (10, Drives.contact(.lost, silence: 0)), (20, .contact(ContactRow(.lost, other, silence: 0))),
                (40, Drives.contact(.resumed)), (50, .contact(ContactRow(.resumed, other))), (100, .end("quit")),
            ], role: .host)
        #expect(DriveMetrics(drive).away == 60 && DriveMetrics(drive).awayShare == 0.4)
    }

    @Test("a drive without a link is neither good nor bad, and a missing link at its end is not the host's fault")
    func unlinked() {
        let alone = Drives.drive([(1, Drives.wish("s1", "queued")), (14, .end("quit"))])
        let verdict = Verdict(alone, DriveMetrics(alone))
        #expect(verdict.findings.map(\.grade) == [.fair, .none])
        #expect(verdict.findings[0].advice?.contains("report it") == false)
        #expect(verdict.findings[1].sentence == "There was no link in this drive.")
        let silent = Drives.drive([(14, .end("quit"))])
        #expect(Verdict(silent, DriveMetrics(silent)).grade == .none)
        let ended = Drives.drive([
            (0, Drives.contact(.resumed)), (5, Drives.contact(.lost)), (9, Drives.wish("s1", "queued")),
            (12, .end("quit")),
        ])
        #expect(Verdict(ended, DriveMetrics(ended)).grade == .fair)
    }

    @Test("an interrupted recording is stated without a grade")
    func cutOff() {
        let drive = Drives.drive([(0, Drives.contact(.resumed)), (5, .tick)], ending: .cutOff)
        #expect(Verdict(drive, DriveMetrics(drive)).findings.last?.grade == Verdict.Grade.none)
    }

    @Test(
        "durations are written as people say them",
        arguments: [
            (0.0, "0 ms"), (0.42, "420 ms"), (1.44, "1.4 s"), (41.3, "41 s"), (60, "1 min"), (200, "3 min 20 s"),
            (7_500, "2 h 5 min"), (.nan, "?"),
        ])
    func times(_ seconds: Double, _ words: String) {
        #expect(Format.time(seconds) == words)
    }
}
