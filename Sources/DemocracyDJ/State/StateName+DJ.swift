// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

extension StateName {
    /// The state with this revision of a run of a host: the epoch (4 bytes) and the revision's low 4, which no run gets beyond.
    public init(epoch: UInt32, revision: UInt64) {
        self.init(value: UInt64(epoch) << 32 | UInt64(UInt32(truncatingIfNeeded: revision)))
    }

    /// The name of a state.
    public init(of state: HostSnapshot) { self.init(epoch: state.epoch, revision: state.revision) }
}

extension MeshMessage {
    /// What a host's update is to who passes it on to others; nil for what is for one guest alone.
    public var sharing: SharedState? {
        switch self {
        case .stateUpdate(let state): SharedState(.whole, to: StateName(of: state))
        case .stateChange(let change):
            SharedState(.change, to: StateName(epoch: change.epoch, revision: change.revision))
        default: nil
        }
    }
}
