// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// The covers of simulated songs: each has another size, and some have none.
extension World {
    /// A song's cover.
    func cover(of songID: Song.ID) -> SmallCover? {
        var hash: UInt32 = 2_166_136_261
        for byte in songID.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        guard hash % 4 > 0 else { return nil }
        let count = 1 + Int(hash % UInt32(DJLimits.coverBytes))
        return SmallCover((0..<count).map { UInt8(truncatingIfNeeded: hash >> 8 &+ UInt32($0) &* 31) }, version: hash)
    }

    /// What a guest has put together is what its host has sent.
    mutating func checkCover(_ node: Int, _ songID: Song.ID, _ bytes: [UInt8]) {
        figures.covers += 1
        if cover(of: songID)?.bytes != bytes { broken(.wrongCover, nodes[node].name, "the cover of \(songID)") }
    }
}
