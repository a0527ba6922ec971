// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import NodeCore
import NodeStore

/// Adds a track that another device has recorded to a drive.
public struct TrackImport: Sendable {
    /// Why a track cannot be added.
    public enum Problem: Error, Hashable, Sendable {
        /// No point of the track is within the time of the drive. Both are in seconds since 1970.
        case otherTime(drive: ClosedRange<Double>, track: ClosedRange<Double>)
        /// The drive has a track already.
        case hasTrack
        /// The drive would be longer than a drive may be.
        case tooLong
    }

    /// The lines of the drive with the track, without the header.
    public let lines: [String]
    /// Number of added positions.
    public let count: Int

    private struct Row: Decodable {
        var at: Double?
        var kind: String?
    }

    /// Adds these points to the lines of a drive. `shift` is added to the time of each point, in seconds, for a device
    /// whose clock was wrong. A track of the drive is kept, unless it `replaces` it.
    ///
    /// Lines that this version does not know stay as they are.
    public init(
        _ points: [GPXReader.Point], to header: DriveHeader, _ lines: [String], shift: Double = 0,
        replaces: Bool = false
    ) throws(Problem) {
        var rows: [(at: Double, line: String)] = []
        var last = 0.0
        for line in lines {
            let row = try? JSONDecoder().decode(Row.self, from: Data(line.utf8))
            if row?.kind == "position" {
                guard replaces else { throw .hasTrack }
                continue
            }
            let at = row?.at ?? last
            rows.append((at, line))
            last = max(last, at)
        }
        let added = Self.rows(points, began: header.began, seconds: last, shift)
        guard !added.isEmpty else {
            let times = points.map { $0.time + shift }
            let first = times.min() ?? 0
            throw .otherTime(drive: header.began...(header.began + last), track: first...(times.max() ?? first))
        }
        guard rows.count + added.count <= StoreLimits.driveLines else { throw .tooLong }
        let new = added.map { (at: $0.at, line: JSONLine.text($0)) }
        // At the same time a position comes first, so that the drive's end stays its last row.
        self.lines = (new + rows).inOrder(by: \.at).map(\.line)
        count = added.count
    }

    /// The points within the drive, at most one a second, as in a recording.
    private static func rows(
        _ points: [GPXReader.Point], began: Double, seconds: Double, _ shift: Double
    ) -> [DriveRow] {
        let pause = FieldTestLimits.positionInterval / .seconds(1)
        var rows: [DriveRow] = []
        for point in points {
            let at = point.time + shift - began
            guard at >= 0, at <= seconds, rows.last.map({ at - $0.at >= pause }) != false else { continue }
            rows.append(DriveRow(at: .seconds(at), .position(point.position)))
        }
        return rows
    }
}
