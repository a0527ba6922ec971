// SPDX-License-Identifier: Apache-2.0

import DequeModule

/// Decides which positions of a drive may be shared, as they come: not those near its start and its end.
///
/// A position is shared if the device was 200 m away from the start before it, and is 200 m away from the position
/// itself after it. So the first and last 200 m are missing on any road, also if the drive is cut off.
public struct TrackEnds: Sendable {
    private var start: PositionRow?
    private var hasLeft = false
    /// Positions that the device has not left by 200 m yet.
    private var waiting: Deque<(row: DriveRow, position: PositionRow)> = []

    /// Makes the state at the start of a drive.
    public init() {}

    /// Handles the next position. Returns the rows of positions that may now be shared.
    public mutating func take(_ position: PositionRow, in row: DriveRow) -> [DriveRow] {
        guard let start else {
            start = position
            return []
        }
        hasLeft = hasLeft || Self.isAway(position, from: start)
        guard hasLeft else { return [] }
        // Only the oldest are compared: a parked device may have thousands of waiting positions.
        let left = waiting.prefix { Self.isAway(position, from: $0.position) }.map(\.row)
        waiting.removeFirst(left.count)
        waiting.append((row, position))
        if waiting.count > FieldTestLimits.withheldPositions { waiting.removeFirst() }
        return left
    }

    private static func isAway(_ one: PositionRow, from other: PositionRow) -> Bool {
        one.distance(to: other) >= FieldTestLimits.withheldMetres
    }
}

extension Drive {
    /// The drive without the first and last 200 m of its track.
    public var withoutTrackEnds: Drive {
        var (drive, ends) = (self, TrackEnds())
        drive.rows = []
        var shared: [DriveRow] = []
        for row in rows {
            if case .position(let position) = row.what {
                shared += ends.take(position, in: row)
            } else {
                drive.rows.append(row)
            }
        }
        drive.rows = (drive.rows + shared).inOrder(by: \.at)
        return drive
    }
}
