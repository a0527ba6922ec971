// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol
import NodeCore
import NodeStore

/// A recorded drive: a node's record of the road, from its start to its end or to a power cut.
public struct Drive: Hashable, Sendable {
    /// How a drive ended.
    public enum Ending: String, Hashable, Sendable, Codable, CaseIterable {
        /// The drive was ended regularly.
        case complete
        /// The last lines are missing, because the power was cut or the program died.
        case cutOff
        /// The drive is still being recorded.
        case underWay
    }

    /// What is known from the start.
    public var header: DriveHeader
    /// The recorded events, in order.
    public var rows: [DriveRow]
    /// How it ended.
    public var ending: Ending
    /// The files of packets around its gaps, on the device that recorded it. They are no part of its file.
    public var packets: [PacketFile] = []

    /// The duration of the drive, in seconds.
    public var seconds: Double { rows.last?.at ?? 0 }
}

/// Why a drive cannot be read.
public enum DriveProblem: Error, Hashable, Sendable {
    /// The first line is not a header.
    case noHeader
    /// A newer program has written the file.
    case newerForm(Int)
    /// The file is larger than a drive can be.
    case tooLarge
}

extension Drive {
    /// Reads the lines of a drive. Skips invalid lines, such as the partial last line of an interrupted file, and lines
    /// of kinds that this version does not know. Sorts rows by time: a row with its own time may come after rows of
    /// later events.
    public init(lines: some Sequence<some StringProtocol>, isUnderWay: Bool = false) throws(DriveProblem) {
        var iterator = lines.makeIterator()
        let first = iterator.next()
        // A newer form may have other fields.
        if let form = first.flatMap({ Self.decoded($0, as: FormOnly.self) })?.roadmeshDrive, form > DriveHeader.form {
            throw .newerForm(form)
        }
        guard let first, var header = Self.decoded(first, as: DriveHeader.self) else { throw .noHeader }
        header.peer = Peer(id: Self.word(header.peer.id), name: header.peer.name)
        header.service = Self.word(header.service)
        header.version = Self.word(header.version)
        header.name = UntrustedText.shown(header.name, atMost: NodeLimits.markCharacters)
        header.peer.name = NodeName(untrusted: header.peer.name).text
        header.radio = UntrustedText.shown(header.radio, atMost: NodeLimits.markCharacters)
        header.origin = header.origin.map { UntrustedText.shown($0, atMost: FieldTestLimits.originCharacters) }
        if !header.began.isFinite { header.began = 0 }
        self.header = header
        rows = []
        while let line = iterator.next() {
            guard line.utf8.count <= StoreLimits.driveLineBytes, let row = Self.decoded(line, as: DriveRow.self),
                row.at.isFinite, row.at >= 0, row.at <= FieldTestLimits.longestDrive / .seconds(1)
            else { continue }
            guard rows.count < StoreLimits.driveLines else { throw .tooLarge }
            rows.append(row.clean)
        }
        rows = rows.inOrder(by: \.at)
        let isEnded = if case .end? = rows.last?.what { true } else { false }
        ending = isEnded ? .complete : isUnderWay ? .underWay : .cutOff
    }

    /// Reads a drive's file.
    public init(file text: String) throws(DriveProblem) {
        guard text.utf8.count <= FieldTestLimits.driveBytes else { throw .tooLarge }
        try self.init(lines: text.split(separator: "\n"))
    }

    /// The drive in the format of a file.
    public var file: String {
        ([JSONLine.text(header)] + rows.map { JSONLine.text($0) }).joined(separator: "\n") + "\n"
    }

    private struct FormOnly: Decodable {
        var roadmeshDrive: Int
    }

    private static func decoded<Value: Decodable>(_ line: some StringProtocol, as type: Value.Type) -> Value? {
        try? JSONDecoder().decode(type, from: Data(line.utf8))
    }

    fileprivate static func word(_ text: String) -> String {
        UntrustedText.shown(text, atMost: FieldTestLimits.wordCharacters)
    }
}

extension DriveRow {
    /// Counts are capped here, so that sums of them do not overflow.
    static let largestCount = 1 << 30
    /// Caps of a recorded load: a month of a busy device.
    private static let mostWakeUps = 1 << 40
    private static let mostProcessor = 1e9

    private static func strength(_ rssi: Int?) -> Int? { rssi.flatMap { (-127...20).contains($0) ? $0 : nil } }

    private static func roundTrip(_ milliseconds: Double?) -> Double? {
        milliseconds.flatMap { $0.isFinite && (0...1e6).contains($0) ? $0 : nil }
    }

    private static func count(_ number: Int) -> Int { min(max(0, number), largestCount) }

    /// The row with its numbers in their valid ranges, and its texts safe to show.
    fileprivate var clean: DriveRow {
        var row = self
        switch what {
        case .mark(let text): row.what = .mark(UntrustedText.shown(text, atMost: NodeLimits.markCharacters))
        case .link(let peer, var sample):
            sample.rssi = Self.strength(sample.rssi)
            sample.rtt = Self.roundTrip(sample.rtt)
            sample.resent = Self.count(sample.resent)
            sample.duplicates = Self.count(sample.duplicates)
            sample.hops = sample.hops.map { min(max(0, $0), Int(Limits.circuitHops)) }
            sample.via = sample.via.map(Drive.word)
            sample.circuits = sample.circuits.map(Self.count)
            row.what = .link(Drive.word(peer), sample)
        case .carrier(let peer, var sample):
            sample.name = sample.name.map { NodeName(untrusted: $0).text }
            sample.rssi = Self.strength(sample.rssi)
            sample.rtt = Self.roundTrip(sample.rtt)
            sample.circuits = Self.count(sample.circuits)
            row.what = .carrier(Drive.word(peer), sample)
        case .contact(var contact):
            contact.rssi = Self.strength(contact.rssi)
            contact.silence = contact.silence.flatMap { $0.isFinite && (0...60).contains($0) ? $0 : nil }
            contact.name = contact.name.map { NodeName(untrusted: $0).text }
            contact.peer = Drive.word(contact.peer)
            row.what = .contact(contact)
        case .wish(let wish):
            row.what = .wish(
                WishRow(song: Drive.word(wish.song), wish: Drive.word(wish.wish), state: Drive.word(wish.state)))
        case .intent(var intent):
            intent.peer = Drive.word(intent.peer)
            intent.intent = Drive.word(intent.intent)
            intent.song = intent.song.map { Drive.word($0) }
            row.what = .intent(intent)
        case .load(var load):
            load.wakeUps = min(max(0, load.wakeUps), Self.mostWakeUps)
            load.processor = load.processor.isFinite ? min(max(0, load.processor), Self.mostProcessor) : 0
            row.what = .load(load)
        case .notice(let code): row.what = .notice(Drive.word(code))
        case .end(let reason): row.what = .end(Drive.word(reason))
        // A position that is not on Earth is not read at all.
        case .radio, .position, .tick, .missing: break
        }
        return row
    }
}
