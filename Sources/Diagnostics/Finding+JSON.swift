// SPDX-License-Identifier: Apache-2.0

import NodeCore

/// A finding with its time, in the form of the JSON output.
public struct TimedFinding: Encodable, Sendable {
    private let finding: Finding
    private let at: Double

    /// Creates a finding with its time, in seconds since 1970.
    public init(_ finding: Finding, at: Double) {
        self.finding = finding
        self.at = at
    }

    private enum Key: String, CodingKey { case event, at, area, code, level, message, meaning, command }

    /// Writes the object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode("finding", forKey: .event)
        try container.encode(at, forKey: .at)
        try container.encode(finding.area.rawValue, forKey: .area)
        try container.encode(finding.code.rawValue, forKey: .code)
        try container.encode(finding.level.rawValue, forKey: .level)
        try container.encode(finding.message, forKey: .message)
        try container.encode(finding.meaning, forKey: .meaning)
        try container.encode(finding.command, forKey: .command)
    }
}

/// The last line of a check: the number of findings of each level, and the exit code.
public struct TimedSummary: Encodable, Sendable {
    private let diagnosis: Diagnosis
    private let at: Double

    /// Makes a summary with its time, in seconds since 1970.
    public init(_ diagnosis: Diagnosis, at: Double) {
        self.diagnosis = diagnosis
        self.at = at
    }

    private enum Key: String, CodingKey { case event, at, good, worthKnowing, broken, exitCode, version }

    /// Writes the object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode("summary", forKey: .event)
        try container.encode(at, forKey: .at)
        try container.encode(diagnosis.count(.good), forKey: .good)
        try container.encode(diagnosis.count(.worthKnowing), forKey: .worthKnowing)
        try container.encode(diagnosis.count(.broken), forKey: .broken)
        try container.encode(diagnosis.exitCode?.rawValue ?? 0, forKey: .exitCode)
        try container.encode(RoadMeshVersion.text, forKey: .version)
    }
}
