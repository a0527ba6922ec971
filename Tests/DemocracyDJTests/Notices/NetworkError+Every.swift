// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

extension NetworkError {
    struct Cause: Error, CustomStringConvertible {
        var description = "the line is dead"
    }

    /// One of each case. A new case does not compile until `next` has a place for it.
    static let every: [NetworkError] = Array(sequence(first: .invalidURL, next: \.next))

    private var next: NetworkError? {
        switch self {
        case .invalidURL: .requestFailed(Cause())
        case .requestFailed: .invalidResponse
        case .invalidResponse: .httpError(statusCode: 404)
        case .httpError: .decodingError(Cause())
        case .decodingError: .noData
        case .noData: .offline
        case .offline: .emptyData
        case .emptyData: .serverMaintenance
        case .serverMaintenance: .rateLimited
        case .rateLimited: .radioOff
        case .radioOff: .noAdapter
        case .noAdapter: .blocked(bySwitch: false)
        case .blocked(bySwitch: false): .blocked(bySwitch: true)
        case .blocked(bySwitch: true): .adapterSilent
        case .adapterSilent: .adapterDead
        case .adapterDead: .serviceNotRunning
        case .serviceNotRunning: .notPermitted
        case .notPermitted: .unsupported(cause: "no free advertising slot")
        case .unsupported: .airUnusable(cause: "/tmp/air")
        case .airUnusable: .radioFailed(cause: "the line is dead")
        case .radioFailed: .networkUnavailable
        case .networkUnavailable: .connectionLost(host: Example.host)
        case .connectionLost: .hostNotFound(host: Example.host)
        case .hostNotFound: .hostEnded(host: Example.host)
        case .hostEnded: .hostFull
        case .hostFull: .refused
        case .refused: .kicked
        case .kicked: .wrongPIN
        case .wrongPIN: .versionMismatch
        case .versionMismatch: .proofRequired
        case .proofRequired: .bondRequired
        case .bondRequired: .sessionInvalidated
        case .sessionInvalidated: .notConnected
        case .notConnected: .tooManyPendingVotes
        case .tooManyPendingVotes: .storageFull
        case .storageFull: .storageReadOnly
        case .storageReadOnly: .storageBusy
        case .storageBusy: .storageVanished
        case .storageVanished: .storageFailed(cause: "the line is dead")
        case .storageFailed: .storageDamaged(setAside: "/tmp/store.damaged")
        case .storageDamaged: nil
        }
    }
}
