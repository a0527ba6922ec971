// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

extension NetworkError {
    /// What a host's refusal means to the person who was refused. `host` has refused, if it is known.
    public init(_ reason: RefusalReason, by host: Peer? = nil) {
        switch reason {
        case .full: self = .hostFull
        case .version: self = .versionMismatch
        case .banned: self = .kicked
        case .ended: self = .hostEnded(host: host ?? Peer(id: "", name: ""))
        case .challenge: self = .proofRequired
        case .wrongProof: self = .wrongPIN
        case .tooManyGuesses: self = .tooManyGuesses
        case .invitation: self = .invitationOver
        case .bond: self = .bondRequired
        case .twin: self = .sameIdentity
        case .unspecified: self = .refused
        }
    }
}
