// SPDX-License-Identifier: Apache-2.0

import Bearers
import DemocracyDJ
import MeshProtocol

extension NetworkError {
    /// The error that people see for a radio's failure.
    public init(_ failure: BearerError) {
        switch failure.code {
        case .noAdapter: self = .noAdapter
        case .radioOff: self = .radioOff
        case .blocked: self = .blocked(bySwitch: false)
        case .blockedBySwitch: self = .blocked(bySwitch: true)
        case .adapterSilent: self = .adapterSilent
        case .adapterDead: self = .adapterDead
        case .serviceNotRunning: self = .serviceNotRunning
        case .notPermitted: self = .notPermitted
        case .unsupported: self = .unsupported(cause: failure.cause)
        case .advertisingRefused: self = .advertisingRefused(kernel: failure.cause)
        case .airUnusable, .airForbidden: self = .airUnusable(cause: failure.cause)
        case .dialFailed, .bondRequired, .channelLost, .tooLarge, .closed, .cancelled, .failed:
            self = .radioFailed(cause: failure.cause)
        }
    }

    /// The error that people see for a failed radio operation. If `error` is not a `BearerError`, its description is
    /// the cause.
    public init(radio error: any Error) {
        self = (error as? BearerError).map(Self.init) ?? .radioFailed(cause: "\(error)")
    }
}

extension Notice {
    /// The notice for a repair that the radio has made without a person's help.
    public init(_ repair: RadioRepair) {
        switch repair {
        case .otherAdapter(let old, let new): self.init(HeadUnitProblem.otherAdapter(new, insteadOf: old))
        case .adapterAppeared(let name): self.init(HeadUnitProblem.adapterAppeared(name))
        case .advertising: self.init(HeadUnitProblem.advertisingAgain)
        }
    }
}
