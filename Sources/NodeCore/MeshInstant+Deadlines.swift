// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

extension MeshInstant {
    /// Returns a pause that doubles with each turn, from `first` (turn 1) up to `longest`.
    package static func backoff(first: MeshInstant, longest: MeshInstant, turn: Int) -> MeshInstant {
        guard turn > 0 else { return .zero }
        // 2^20 times the first pause exceeds every longest pause and does not overflow.
        return min(first * (1 << min(turn - 1, 20)), longest)
    }
}

/// The earlier of two times. If one is nil, the other one. It is called for each event, so it allocates no array.
package func earliest(_ one: MeshInstant?, _ other: MeshInstant?) -> MeshInstant? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
}
