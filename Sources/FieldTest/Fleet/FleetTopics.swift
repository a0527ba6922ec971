// SPDX-License-Identifier: Apache-2.0

import Crypto
import MeshNode
import MeshProtocol

/// A drive among those of all cars at a broker.
public struct FleetDrive: Hashable, Sendable {
    /// The car's address at the broker: the first 16 hex digits of its node's identifier.
    public let car: String
    /// Which of its drives: the first 16 hex digits of the SHA-256 of its header's line, so that no header passes for another.
    public let name: String

    /// The drive with this header. Nil where the line is none, or longer than a line can be.
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

    /// A node's address at a broker. Nil where this is no identifier.
    public static func address(of id: Peer.ID) -> String? {
        let word = id.prefix(16)
        return Hex.bytes(id)?.count == 16 && isWord(word) ? String(word) : nil
    }

    /// Eight bytes as lowercase digits.
    private static func isWord(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 16
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}

/// The topics of drives under one prefix, and what is said there (`docs/fieldtest.md`, "A fleet").
public struct FleetTopics: Hashable, Sendable {
    private let base: String

    /// What a topic is about.
    public enum Subject: Hashable, Sendable {
        /// Who collects drives here.
        case collector
        /// A drive's header.
        case head(FleetDrive)
        /// Rows of a drive.
        case rows(FleetDrive)
        /// How many rows of a drive the collector has.
        case taken(FleetDrive)
    }

    /// The topics under a broker's prefix.
    public init(prefix: String) { base = prefix + "/drives" }

    /// Who collects drives here.
    public var collector: String { base + "/collector" }
    func head(_ drive: FleetDrive) -> String { "\(base)/\(drive.car)/\(drive.name)/head" }
    func rows(_ drive: FleetDrive) -> String { "\(base)/\(drive.car)/\(drive.name)/rows" }
    func taken(_ drive: FleetDrive) -> String { "\(base)/\(drive.car)/\(drive.name)/taken" }
    /// All headers, for who collects.
    public var heads: String { base + "/+/+/head" }
    /// All rows, for who collects.
    public var allRows: String { base + "/+/+/rows" }
    /// What the collector has of a car.
    public func allTaken(of car: String) -> String { "\(base)/\(car)/+/taken" }

    /// What a topic is about; nil where it is none of these.
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

/// A drive's header as it is published: its line, and behind it how many rows the drive has where no more come.
struct FleetHead: Hashable, Sendable {
    var header: String
    var final: Int?

    init(_ header: String, final: Int?) { (self.header, self.final) = (header, final) }

    var payload: [UInt8] { Array((header + (final.map { "\n\($0)" } ?? "")).utf8) }

    /// Nil where it is none.
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

/// Rows of a drive as they are published: the number of the first, counted from 0, and each in a line.
struct FleetRows: Hashable, Sendable {
    var first: Int
    var lines: [String]

    var payload: [UInt8] { Array(([String(first)] + lines).joined(separator: "\n").utf8) }

    /// As many of these as fit into one message. One that fits into none is a row that is missing.
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

    /// Nil where it is none. Its lines are whatever somebody has sent.
    init?(_ payload: [UInt8]) {
        guard payload.count <= FieldTestLimits.messageBytes else { return nil }
        let lines = payload.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.count > 1, let first = String(validating: lines[0], as: UTF8.self).flatMap(FleetCount.read) else {
            return nil
        }
        self.first = first
        self.lines = lines.dropFirst().map { String(decoding: $0, as: UTF8.self) }
    }

    /// The row that stands for one that cannot be read.
    static func missing(at seconds: Double) -> String { JSONLine.text(DriveRow(at: .seconds(seconds), .missing(1))) }
}

/// A number of rows as it is published: decimal digits.
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
