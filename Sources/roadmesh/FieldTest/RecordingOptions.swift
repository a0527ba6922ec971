// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BLETransport
import Bearers
import DemocracyDJ
import FieldTest
import FoundationEssentials
import MeshNode
import MeshProtocol
import NodeCore
import NodeStore
import ServiceLifecycle
import TerminalUI

/// The options of a new recording.
struct RecordingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The name of the drive; without it, the day and hour.", valueName: "name"))
    var drive: String?

    @Option(
        name: .customLong("mark"),
        help: ArgumentHelp("Set a mark automatically after this many seconds.", valueName: "120s=\"tunnel in\""))
    var marks: [String] = []

    @Option(help: ArgumentHelp("The origin of a drive that is not from a road.", valueName: "words"))
    var origin: String?

    @Flag(name: .customLong("no-position"), help: "Record no position.")
    var recordsNoPosition = false

    @Option(
        help: ArgumentHelp("The gpsd that reports the position.", valueName: "host:port"))
    var gpsd = GPSDAddress.standard.text

    @Flag(name: .customLong("no-packets"), help: "Keep no packets of the Bluetooth adapter around gaps.")
    var recordsNoPackets = false

    @Flag(help: "Send the recording to the collector at the --broker, now or in a later run with --share.")
    var share = false

    /// The options, checked.
    struct Checked {
        var name: String
        var marks: [DriveRecording.TimedMark]
        var origin: String?
        /// Where positions come from; nil if none are recorded.
        var gpsd: GPSDAddress?
        /// The broker to which the drive is sent; nil if it is not shared.
        var broker: BrokerChoice?
        /// The packets of the adapter; nil if none are recorded.
        var packets: PacketCapture?
        /// What the remark says about packets.
        var evidence = ""

        var remark: String {
            let positions =
                gpsd == nil
                ? "" : " It has this device's positions if gpsd runs here; --no-position leaves them out."
            let shared = broker.map { " It is sent to the collector at \($0.address.text)." } ?? ""
            return
                "This drive is recorded as \"\(name)\".\(positions)\(evidence)\(shared) Type mark and a word or two to mark a moment."
        }
    }

    func checked(
        _ broker: BrokerOptions? = nil, _ radio: RadioChoice = .virtual
    ) throws(SetupProblem) -> Checked {
        let choice = share ? try broker?.choice(ProcessInfo.processInfo.environment) : nil
        guard !share || choice != nil else {
            throw SetupProblem(.usage, "--share needs the broker that drives are collected at: name it with --broker.")
        }
        guard marks.count <= FieldTestLimits.timedMarks else {
            throw SetupProblem(
                .usage, "--mark is given \(marks.count) times; use it at most \(FieldTestLimits.timedMarks) times.")
        }
        var timed: [DriveRecording.TimedMark] = []
        for mark in marks { timed.append(try Self.timedMark(mark)) }
        let gpsd = GPSDAddress(gpsd)
        guard recordsNoPosition || gpsd != nil else {
            throw SetupProblem(
                .usage,
                "--gpsd cannot be \"\(self.gpsd.prefix(40))\": it is a host and a port, like \(GPSDAddress.standard.text)."
            )
        }
        let name = drive.map { UntrustedText.shown($0, atMost: NodeLimits.markCharacters) }
        let (packets, evidence) = capture(radio)
        return Checked(
            name: name.flatMap { $0.isEmpty ? nil : $0 } ?? Self.defaultName, marks: timed,
            origin: origin.map { UntrustedText.shown($0, atMost: FieldTestLimits.originCharacters) },
            gpsd: recordsNoPosition ? nil : gpsd, broker: choice, packets: packets, evidence: evidence)
    }

    /// The packets of the adapter, and the sentence for the person.
    private func capture(_ radio: RadioChoice) -> (PacketCapture?, String) {
        guard !recordsNoPackets, radio != .virtual else { return (nil, "") }
        do throws(BearerError) {
            return (try PacketCapture(), " It has the packets around each gap; --no-packets leaves them out.")
        } catch {
            let needed = " It has no packets around gaps: this program needs CAP_NET_RAW for them (docs/fieldtest.md)."
            return (nil, error.code == .notPermitted ? needed : "")
        }
    }

    private static var defaultName: String { LocalClock.device.minute(Date().timeIntervalSince1970) }

    private static func timedMark(_ text: String) throws(SetupProblem) -> DriveRecording.TimedMark {
        let parts = text.split(separator: "=", maxSplits: 1)
        let number = parts.first.map { $0.hasSuffix("s") ? $0.dropLast() : $0 }
        guard parts.count == 2, let seconds = number.flatMap({ Double($0) }), seconds >= 0, seconds <= 1e6 else {
            throw SetupProblem(
                .usage,
                "--mark cannot be \"\(text.prefix(40))\": it is a time and words. Write it like --mark 120s=\"tunnel in\"."
            )
        }
        let words = UntrustedText.shown(String(parts[1]), atMost: NodeLimits.markCharacters)
        return DriveRecording.TimedMark(after: .seconds(seconds), text: words)
    }
}

extension PacketCapture: PacketSource {}

extension NodeOptions.Node {
    /// Announces to programs and to the person that the drive is recorded.
    mutating func record(_ recording: RecordingOptions.Checked) {
        description.isRecorded = true
        add(remark: recording.remark)
    }
}

extension RecordingOptions.Checked {
    /// Starts the recording of a node before the node runs, and the uplink if the drive is shared.
    func begin(_ node: MeshNode.Node, _ parts: NodeOptions.Node) throws(SetupProblem) -> [any Service] {
        guard let kept = parts.kept else { preconditionFailure("a scan records nothing") }
        let start = ContinuousClock.now
        let header = DriveHeader(
            name: name, node: parts.description, began: Date().timeIntervalSince1970, origin: origin)
        do throws(NodeStoreError) {
            let store = try DriveStore.record(in: kept.path, now: Date())
            if let path = store.setAside {
                StandardError.write(
                    "roadmesh: The drives recorded before are damaged. They were moved to \(path); a "
                        + "new list begins.")
            }
            let recording = try DriveRecording(
                node, header, in: store, origin: start, marks: marks, isShared: broker != nil, gpsd: gpsd,
                packets: packets, stateFolder: kept.path, logger: parts.logger)
            guard let broker else { return [recording] }
            let uplink = DriveUplink(
                recording, in: kept.path, peer: parts.description.peer, broker: broker.address, files: broker.files,
                logger: parts.logger
            ) { cause in
                await node.send(
                    cause.map { .notice(Notice(.driveNotCollected($0.text))) }
                        ?? .cleared(code: HeadUnitProblem.driveNotCollectedCode))
            }
            return [recording, uplink]
        } catch {
            if let problem = SetupProblem.newer(error, in: kept.path) { throw problem }
            throw SetupProblem(
                .cannotCreate,
                "The drive cannot be recorded in \(kept.path) (\(error.cause)); make room and make it writable, or name "
                    + "another folder with --state.")
        }
    }
}

extension UplinkMachine.Cause {
    /// The end of a sentence.
    fileprivate var text: String {
        switch self {
        case .nobody: "no collector runs at the broker"
        case .silence: "the collector at the broker does not confirm them"
        }
    }
}
