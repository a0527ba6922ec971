// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Everything that can go wrong between a person and the music: on the web, with the radio, with the host, with what
/// this node keeps. Each has a sentence (`errorDescription`), and `ErrorRecoveryHelper` says what to do about it.
public enum NetworkError: Error, Sendable {
    // MARK: The web: covers, and lists of songs

    /// What is no address.
    case invalidURL
    /// The request did not get through; the cause.
    case requestFailed(any Error)
    /// The answer is none that HTTP knows.
    case invalidResponse
    /// The server said no, with this status code.
    case httpError(statusCode: Int)
    /// The answer cannot be read; the cause.
    case decodingError(any Error)
    /// There was no answer's body.
    case noData
    /// There is no Internet.
    case offline
    /// The answer is well, and empty.
    case emptyData
    /// The server is being worked on.
    case serverMaintenance
    /// The server has been asked too often.
    case rateLimited

    // MARK: The radio

    /// The adapter is switched off.
    case radioOff
    /// There is no adapter, or the one in use was pulled out.
    case noAdapter
    /// rfkill keeps the adapter off: a switch of the box, or, where that is not it, a word to the kernel.
    case blocked(bySwitch: Bool)
    /// The adapter has stopped to answer, and is being reset.
    case adapterSilent
    /// The adapter does not answer, and resets have not helped.
    case adapterDead
    /// bluetoothd is not running.
    case serviceNotRunning
    /// The system does not let this user.
    case notPermitted
    /// The adapter cannot do it; the cause in the system's words.
    case unsupported(cause: String)
    /// The virtual radio's folder cannot be used; the cause begins with the folder.
    case airUnusable(cause: String)
    /// The radio does not work for another cause, in the system's words.
    case radioFailed(cause: String)
    /// Everybody was lost at once, and the radio has not said why.
    case networkUnavailable

    // MARK: The host

    /// The link to the host broke.
    case connectionLost(host: Peer)
    /// The host was not heard for half a minute.
    case hostNotFound(host: Peer)
    /// The host ended its session.
    case hostEnded(host: Peer)
    /// The host has no room.
    case hostFull
    /// The host does not take this guest in, and does not say why.
    case refused
    /// The host has sent this guest away.
    case kicked
    /// The PIN is not the host's.
    case wrongPIN
    /// The host speaks another version.
    case versionMismatch
    /// The host wants something proved that this version cannot prove.
    case proofRequired
    /// The host takes bonded boxes only.
    case bondRequired
    /// The session is over for good.
    case sessionInvalidated
    /// A wish that cannot wait for a host.
    case notConnected
    /// `DJLimits.pendingVotes` wait already.
    case tooManyPendingVotes

    // MARK: What this node keeps

    /// The disk is full.
    case storageFull
    /// The disk cannot be written to.
    case storageReadOnly
    /// Another program holds the database.
    case storageBusy
    /// Somebody else has removed or changed the node's files while it runs.
    case storageVanished
    /// The disk does not work; the cause in the system's words.
    case storageFailed(cause: String)
    /// What was kept cannot be read; the path that it was moved to.
    case storageDamaged(setAside: String)
}

extension NetworkError: Hashable {
    /// Two errors are one where they say the same: a cause counts by its words.
    public static func == (one: NetworkError, other: NetworkError) -> Bool {
        one.code == other.code && one.details == other.details
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(details)
    }

    private var details: [String] {
        switch self {
        case .requestFailed(let cause), .decodingError(let cause): [words(of: cause)]
        case .httpError(let statusCode): ["\(statusCode)"]
        case .blocked(let bySwitch): ["\(bySwitch)"]
        case .unsupported(let cause), .airUnusable(let cause), .radioFailed(let cause), .storageFailed(let cause):
            [cause]
        case .connectionLost(let host), .hostNotFound(let host), .hostEnded(let host): [host.id, host.name]
        case .storageDamaged(let path): [path]
        default: []
        }
    }
}

extension NetworkError {
    /// A name for programs, the same in every version.
    public var code: String {
        switch self {
        case .invalidURL: "invalidURL"
        case .requestFailed: "requestFailed"
        case .invalidResponse: "invalidResponse"
        case .httpError: "httpError"
        case .decodingError: "decodingError"
        case .noData: "noData"
        case .offline: "offline"
        case .emptyData: "emptyData"
        case .serverMaintenance: "serverMaintenance"
        case .rateLimited: "rateLimited"
        case .radioOff: "radioOff"
        case .noAdapter: "noAdapter"
        case .blocked: "blocked"
        case .adapterSilent: "adapterSilent"
        case .adapterDead: "adapterDead"
        case .serviceNotRunning: "serviceNotRunning"
        case .notPermitted: "notPermitted"
        case .unsupported: "unsupported"
        case .airUnusable: "airUnusable"
        case .radioFailed: "radioFailed"
        case .networkUnavailable: "networkUnavailable"
        case .connectionLost: "connectionLost"
        case .hostNotFound: "hostNotFound"
        case .hostEnded: "hostEnded"
        case .hostFull: "hostFull"
        case .refused: "refused"
        case .kicked: "kicked"
        case .wrongPIN: "wrongPIN"
        case .versionMismatch: "versionMismatch"
        case .proofRequired: "proofRequired"
        case .bondRequired: "bondRequired"
        case .sessionInvalidated: "sessionInvalidated"
        case .notConnected: "notConnected"
        case .tooManyPendingVotes: "tooManyPendingVotes"
        case .storageFull: "storageFull"
        case .storageReadOnly: "storageReadOnly"
        case .storageBusy: "storageBusy"
        case .storageVanished: "storageVanished"
        case .storageFailed: "storageFailed"
        case .storageDamaged: "storageDamaged"
        }
    }

    /// Whether this node's own radio is what does not work.
    public var isOutage: Bool {
        switch self {
        case .radioOff, .noAdapter, .blocked, .adapterSilent, .adapterDead, .serviceNotRunning,
            .notPermitted, .unsupported, .airUnusable, .radioFailed, .networkUnavailable:
            true
        default: false
        }
    }

    /// Whether it is told until it is cured: without a cure there is no music to vote on, or no vote. The others are
    /// told in passing.
    public var isCritical: Bool {
        switch self {
        case .offline, .serverMaintenance, .rateLimited: true
        case .radioOff, .noAdapter, .blocked, .adapterSilent, .adapterDead, .serviceNotRunning,
            .notPermitted, .unsupported, .airUnusable, .radioFailed, .networkUnavailable:
            true
        case .connectionLost, .hostNotFound, .hostFull, .refused, .kicked, .wrongPIN, .versionMismatch, .proofRequired,
            .bondRequired, .sessionInvalidated:
            true
        case .storageFull, .storageReadOnly, .storageBusy, .storageVanished, .storageFailed, .storageDamaged: true
        case .invalidURL, .requestFailed, .invalidResponse, .httpError, .decodingError, .noData, .emptyData: false
        case .hostEnded, .notConnected, .tooManyPendingVotes: false
        }
    }
    /// How long it is told before it has a button, `ErrorRecoveryHelper.buttonLabel(for:)`; nil where a tap cannot help.
    public var buttonComesAfter: Duration? {
        switch self {
        // It is most often cured by then, and a button is one more thing to look at while driving.
        case .connectionLost: DJLimits.retryOffered
        case .requestFailed, .httpError, .noData, .offline, .serverMaintenance, .rateLimited: .zero
        case .radioOff, .noAdapter, .blocked, .adapterSilent, .adapterDead, .serviceNotRunning,
            .notPermitted, .unsupported, .airUnusable, .radioFailed, .networkUnavailable:
            .zero
        case .hostNotFound, .hostFull, .refused, .wrongPIN, .versionMismatch, .proofRequired, .bondRequired,
            .sessionInvalidated:
            .zero
        case .invalidURL, .invalidResponse, .decodingError, .emptyData: nil
        case .hostEnded, .kicked, .notConnected, .tooManyPendingVotes: nil
        case .storageFull, .storageReadOnly, .storageBusy, .storageVanished, .storageFailed, .storageDamaged: nil
        }
    }
}
