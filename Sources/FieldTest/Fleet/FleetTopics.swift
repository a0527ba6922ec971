// SPDX-License-Identifier: Apache-2.0

import Crypto
import MeshProtocol
import NodeCore

/// Identifies a drive among those of all cars at a broker.
public struct FleetDrive: Hashable, Sendable {
    /// The car's address at the broker: the first 16 hex digits of its node's identifier.
    public let car: String
    /// The drive: the first 16 hex digits of the SHA-256 of its header's line, so that no other header can have its
    /// name.
    public let name: String

    /// The drive with this header. Nil if the line is invalid or too long.
    public init?(header line: String) {
        guard line.utf8.count <= FieldTestLimits.batchBytes, !line.utf8.contains(0x0A),
            let drive = try? Drive(lines: [line]), let car = Self.address(of: drive.header.peer.id)
        else { return nil }
        self.car = car
        name = Hex.text(SHA256.hash(data: Array(line.utf8)).prefix(8))
    }

    init?(car: some StringProtocol, name: some StringProtocol) {
        guard Self.isWord(car), Self.isWord(name) else { return nil }
        (self.car, self.name) = (String(car), String(name))
    }

    /// A node's address at a broker. Nil if this is not an identifier.
    public static func address(of id: Peer.ID) -> String? {
        let word = id.prefix(16)
        return Hex.bytes(id)?.count == 16 && isWord(word) ? String(word) : nil
    }

    /// Whether a text is eight bytes in lowercase digits.
    private static func isWord(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 16
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}

/// The topics of drives under one prefix, and their messages (`docs/fieldtest.md`, "A fleet").
public struct FleetTopics: Hashable, Sendable {
    private let base: String

    /// The subject of a topic.
    public enum Subject: Hashable, Sendable {
        /// The collector.
        case collector
        /// A drive's header.
        case head(FleetDrive)
        /// Rows of a drive.
        case rows(FleetDrive)
        /// The collector's number of rows of a drive.
        case taken(FleetDrive)
    }

    /// The topics under a broker's prefix.
    public init(prefix: String) { base = prefix + "/drives" }

    /// The topic of the collector.
    public var collector: String { base + "/collector" }
    func head(_ drive: FleetDrive) -> String { "\(base)/\(drive.car)/\(drive.name)/head" }
    func rows(_ drive: FleetDrive) -> String { "\(base)/\(drive.car)/\(drive.name)/rows" }
    func taken(_ drive: FleetDrive) -> String { "\(base)/\(drive.car)/\(drive.name)/taken" }
    /// Filter for all headers, for the collector.
    public var heads: String { base + "/+/+/head" }
    /// Filter for all rows, for the collector.
    public var allRows: String { base + "/+/+/rows" }
    /// Filter for the collector's confirmations for a car.
    public func allTaken(of car: String) -> String { "\(base)/\(car)/+/taken" }

    /// The subject of a topic; nil for other topics.
    func subject(of topic: String) -> Subject? {
        guard topic != collector else { return .collector }
        guard topic.hasPrefix(base + "/") else { return nil }
        let parts = topic.dropFirst(base.count + 1).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let drive = FleetDrive(car: parts[0], name: parts[1]) else { return nil }
        switch parts[2] {
        case "head": return .head(drive)
        case "rows": return .rows(drive)
        case "taken": return .taken(drive)
        default: return nil
        }
    }
}

/// A drive's published header: its line, followed by the total number of rows if the drive is finished.
struct FleetHead: Hashable, Sendable {
    var header: String
    var final: Int?

    init(_ header: String, final: Int?) { (self.header, self.final) = (header, final) }

    var payload: [UInt8] { Array((header + (final.map { "\n\($0)" } ?? "")).utf8) }

    /// Returns nil for an invalid header.
    init?(_ payload: [UInt8]) {
        guard payload.count <= FieldTestLimits.messageBytes, let text = String(validating: payload, as: UTF8.self)
        else { return nil }
        let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        header = String(lines[0])
        guard lines.count > 1 else { return }
        guard let final = FleetCount.read(lines[1]) else { return nil }
        self.final = final
    }
}

/// A drive's published rows: the number of the first, counted from 0, then one row per line.
struct FleetRows: Hashable, Sendable {
    var first: Int
    var lines: [String]

    var payload: [UInt8] { Array(([String(first)] + lines).joined(separator: "\n").utf8) }

    /// As many of these rows as fit one message. A row that is too long for a message is replaced by one that marks it
    /// as missing.
    init(from first: Int, fitting lines: [String]) {
        self.first = first
        self.lines = []
        var room = FieldTestLimits.batchBytes
        for line in lines {
            let line = line.utf8.count < FieldTestLimits.batchBytes ? line : Self.missing(at: 0)
            room -= line.utf8.count + 1
            guard room >= 0 else { return }
            self.lines.append(line)
        }
    }

    /// Returns nil for an invalid message. The lines themselves are not checked.
    init?(_ payload: [UInt8]) {
        guard payload.count <= FieldTestLimits.messageBytes else { return nil }
        let lines = payload.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.count > 1, let first = String(validating: lines[0], as: UTF8.self).flatMap(FleetCount.read) else {
            return nil
        }
        self.first = first
        self.lines = lines.dropFirst().map { String(decoding: $0, as: UTF8.self) }
    }

    /// The row that replaces an invalid one.
    static func missing(at seconds: Double) -> String { JSONLine.text(DriveRow(at: .seconds(seconds), .missing(1))) }
}

/// A published number of rows: decimal digits.
enum FleetCount {
    static func payload(_ count: Int) -> [UInt8] { Array(String(count).utf8) }

    static func read(_ text: some StringProtocol) -> Int? {
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    static func read(_ payload: [UInt8]) -> Int? { String(validating: payload, as: UTF8.self).flatMap { read($0) } }
}
