// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// The covers of simulated songs. Each has a different size, and some songs have none.
extension World {
    /// A song's cover.
    func cover(of songID: Song.ID) -> SmallCover? {
        var hash = TraceHash()
        hash.add(songID)
        let version = UInt32(truncatingIfNeeded: hash.value)
        guard version % 4 > 0 else { return nil }
        let count = 1 + Int(version % UInt32(DJLimits.coverBytes))
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: version >> 8 &+ UInt32($0) &* 31) }
        return SmallCover(bytes, version: version)
    }

    /// Checks that the assembled cover of a guest equals the host's.
    mutating func checkCover(_ node: Int, _ songID: Song.ID, _ bytes: [UInt8]) {
        people.figures.covers += 1
        if cover(of: songID)?.bytes != bytes { broken(.wrongCover, node, "the cover of \(songID)") }
    }
}
