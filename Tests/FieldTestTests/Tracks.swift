// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import FieldTest

/// Sample tracks.
enum Tracks {
    /// Metres between two degrees of latitude.
    static let metresOfDegree = PositionRow.earthRadius * .pi / 180

    /// A position that many metres north and east of a place in the Alps.
    static func place(north: Double = 0, east: Double = 0) throws -> PositionRow {
        try #require(
            PositionRow(
                latitude: 46 + north / metresOfDegree, longitude: 8 + east / metresOfDegree / 0.694_658_370_459,
                speed: 10, accuracy: 3))
    }

    static func north(of metres: Int) throws -> PositionRow { try place(north: Double(metres)) }
}
