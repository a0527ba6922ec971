// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

extension StateName {
    /// The name of a revision in a run of a host: the epoch (4 bytes) and the low 4 bytes of the revision, which no run
    /// exceeds.
    public init(epoch: UInt32, revision: UInt64) {
        self.init(value: UInt64(epoch) << 32 | UInt64(UInt32(truncatingIfNeeded: revision)))
    }

    /// The name of a state.
    public init(of state: HostSnapshot) { self.init(epoch: state.epoch, revision: state.revision) }
}

extension MeshMessage {
    /// The kind of this update for relays, which forward it. Nil for a message to a single guest.
    public var sharing: SharedState? {
        switch self {
        case .stateUpdate(let state): SharedState(.whole, to: StateName(of: state))
        case .stateChange(let change):
            SharedState(.change, to: StateName(epoch: change.epoch, revision: change.revision))
        default: nil
        }
    }
}
