// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// The simulator's access: it compares a node's state with its disk and with other nodes.

extension NodeCore {
    /// The protocol's state.
    package var mesh: MeshCore { context.mesh }

    /// The memory use that peers can influence.
    package var footprint: Footprint { context.mesh.footprint }

    /// Shares the results of signature checks and decoded messages among all nodes of a simulation.
    package mutating func share(_ checked: CheckedSignatures, _ reading: SharedReading) {
        context.mesh.share(checked)
        context.reading = reading
    }

    /// Whether nothing waits for a step or for the disk.
    package var isAtRest: Bool { steps.isAtRest }

    package var app: AppFeature { decisions.app }
}
