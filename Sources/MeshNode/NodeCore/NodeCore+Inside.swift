// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// What the simulator looks at: it checks what a node knows against what its disk and others have.

extension NodeCore {
    /// The protocol's part.
    package var mesh: MeshCore { context.mesh }

    /// Whether nothing waits for a step or for the disk.
    package var isAtRest: Bool { writing == nil && waiting.isEmpty && held.isEmpty }

    /// The features.
    package var app: AppFeature { decisions.app }
}
