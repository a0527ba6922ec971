// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

extension MeshInstant {
    /// A pause that doubles with each turn, from the first (turn 1) up to the longest.
    package static func backoff(first: MeshInstant, longest: MeshInstant, turn: Int) -> MeshInstant {
        guard turn > 0 else { return .zero }
        // 2^20 of anything is longer than any pause here, and far from an overflow.
        return min(first * (1 << min(turn - 1, 20)), longest)
    }
}
