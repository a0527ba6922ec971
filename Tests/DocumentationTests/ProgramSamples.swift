// SPDX-License-Identifier: Apache-2.0

import NodeCore
import DemocracyDJ
import MeshProtocol
import MeshSession

@testable import BLETransport
@testable import Bearers
@testable import Diagnostics
@testable import FieldTest
@testable import TerminalUI
@testable import roadmesh

/// The output of commands that are not nodes.
enum ProgramSamples {
    // MARK: A pairing

    private static let van = PairingDevice(id: "02:00:00:00:00:01", name: "the van")

    /// The outcomes of a pairing. A new one does not compile below: add it here, too.
    static let outcomes: [PairingOutcome] = [
        .bonded(van), .alreadyBonded(van), .nobody(wanted: nil), .several([van, van]), .refusedHere(van),
        .refusedThere(van), .unansweredHere(van), .unansweredThere(van), .leftThere(van), .lost(van),
        .failed(van, cause: "Page Timeout."), .radio(BearerError(.radioOff, "off")), .weakHere(van, .unasked),
        .weakThere(van), .misspoke(van), .stopped,
    ]

    /// The number of a case in the list above.
    static func place(_ outcome: PairingOutcome) -> Int {
        switch outcome {
        case .bonded: 0
        case .alreadyBonded: 1
        case .nobody: 2
        case .several: 3
        case .refusedHere: 4
        case .refusedThere: 5
        case .unansweredHere: 6
        case .unansweredThere: 7
        case .leftThere: 8
        case .lost: 9
        case .failed: 10
        case .radio: 11
        case .weakHere: 12
        case .weakThere: 13
        case .misspoke: 14
        case .stopped: 15
        }
    }

    private static let updates: [PairingUpdate] = [
        .looking, .heard(van), .digits("041872", van, within: .seconds(28)), .waiting(for: van), .forgotten(van),
        .nothingAsked,
    ]

    private static let bond = Bond(id: "02:00:00:00:00:01", name: "the van", isConnected: true)

    static func pairing() throws -> [JSON] {
        let objects =
            [PairingObject(beginning: "laptop", radio: "bluez hci0")] + updates.compactMap { PairingObject($0) }
            + outcomes.map { PairingObject($0, isSignalled: false) } + [PairingObject(.stopped, isSignalled: true)]
            + PairingObject.list([bond]) + PairingObject.forgot(bond)
        let notices = [Notice(.nothingAsked), Notice(.badCommand("maybe", expected: "accept, refuse, quit"))]
        return try objects.map { try JSON($0) } + notices.map { try JSON(TimedEvent(.notice($0), at: 1.5)) }
    }

    /// The reasons of `bye`.
    static let reasons = Set(outcomes.map(\.code) + ["terminated", "listed", "forgotten"])

    // MARK: An answer to a command

    static func answers() throws -> [JSON] {
        let bare = ControlAnswer("skip", exitCode: 65, code: "nothingPlays", message: "Nothing plays.")
        var full = ControlAnswer("pause", exitCode: 0, code: nil, message: "Paused: Open Road")
        (full.songID, full.title, full.artist, full.volume, full.duck) = ("s1", "Open Road", "The Milestones", 60, 12)
        return [try JSON(bare), try JSON(full)]
    }

    // MARK: A check

    static func check() throws -> [JSON] {
        var diagnosis = Diagnosis()
        diagnosis.findings = Finding.Code.allCases.flatMap { code in
            Finding.Level.allCases.map { Finding(code, $0, "It is so.", command: $0 == .broken ? "repair it" : nil) }
        }
        let change = Change(.restart(needsReload: false), for: [.slowTiming], "Restart bluetoothd")
        let made = MadeChange(title: "Restart bluetoothd", at: 1, content: nil, undo: ["systemctl", "restart"])
        return try diagnosis.findings.map { try JSON(TimedFinding($0, at: 1.5)) }
            + TimedChange.State.allCases.map { try JSON(TimedChange(change, $0, cause: "no", at: 1.5)) }
            + [
                JSON(TimedSummary(diagnosis, at: 1.5)), JSON(TimedChange(made, .takenBack, at: 1.5)),
                JSON(TimedRemark("It stays.", at: 1.5)),
            ]
    }

    // MARK: A collector

    /// The reports of a collector. A new case does not compile below: add it here, too.
    private static func news() -> [DriveCollector.News] {
        let node = NodeDescription(
            role: .guest, peer: Peer(id: "a1", name: "Ana"), radio: "virtual a", service: .democracyDJ)
        let progress = CollectMachine.Progress(
            number: 1, header: DriveHeader(name: "Alps", node: node, began: 1), rows: 2, seconds: 3, unreadable: 0,
            isCutOff: false)
        var cutOff = progress
        (cutOff.isCutOff, cutOff.header.role) = (true, .host)
        return [
            .connected, .unreachable("the line is dead"), .notKept("full"), .drive(.begins(progress)),
            .drive(.goesOn(progress)), .drive(.complete(progress)), .drive(.complete(cutOff)),
            .drive(.noRoom(car: "a1")), .drive(.other),
        ]
    }

    /// Whether a sample of each case is above.
    static func isCollectingComplete() -> Bool {
        let kinds = news().map { news in
            switch news {
            case .connected: 0
            case .unreachable: 1
            case .notKept: 2
            case .drive(.begins): 3
            case .drive(.goesOn): 4
            case .drive(.complete): 5
            case .drive(.noRoom): 6
            case .drive(.other): 7
            }
        }
        return Set(kinds).count == 8
    }

    static func collecting() throws -> [JSON] { try news().map { try JSON(CollectEvent($0, at: 1.5)) } }

    // MARK: A link tool

    /// The events of `ping`, `trace` and `pipe`. A new one does not compile below: add it here, too.
    static let linkEvents: [LinkToolEvent] = {
        let car = Peer(id: "c1", name: "Dad's Car")
        var figures = HopFigures()
        figures.add(.milliseconds(4))
        figures.add(.milliseconds(5))
        return [
            .ready(car), .path(MeshPath(relay: car, hops: 2, rssi: -60), host: car), .echo(number: 1, hop: 1, nil),
            .echo(number: 1, hop: 1, .milliseconds(4)), .hop(1, name: "Rita", HopFigures(), rssi: nil),
            .hop(1, name: "Rita", figures, rssi: -60), .connection(.connected, car), .transfer(PipeProgress()),
            .bye(exitCode: 74, message: "It is incomplete."),
        ]
    }()

    /// The number of an event in the list above, which has two kinds twice.
    static func place(_ event: LinkToolEvent) -> Int {
        switch event {
        case .ready: 0
        case .path: 1
        case .echo(_, _, let time): time == nil ? 2 : 3
        case .hop(_, _, let figures, _): figures.sent == 0 ? 4 : 5
        case .connection: 6
        case .transfer: 7
        case .bye: 8
        }
    }

    static let connections = Set(LinkToolEvent.Connection.allCases.map(\.rawValue))

    static func linkTools() throws -> [JSON] {
        let car = Peer(id: "c1", name: "Dad's Car")
        let more: [LinkToolEvent] =
            [.path(MeshPath(relay: nil, hops: 1, rssi: nil), host: car), .bye(exitCode: 0, message: nil)]
            + LinkToolEvent.Connection.allCases.map { .connection($0, car) }
        return try (linkEvents + more).map { try JSON(TimedLinkToolEvent($0, at: 1.5)) }
    }
}
