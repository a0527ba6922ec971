// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
import MeshProtocol

extension NetworkError: LocalizedError {
    /// What happened, as sentences for a person.
    public var errorDescription: String? { sentence }

    /// What to do: `ErrorRecoveryHelper.suggestion(for:)`.
    public var recoverySuggestion: String? { ErrorRecoveryHelper.suggestion(for: self) }

    /// What happened, as sentences for a person.
    var sentence: String {
        switch self {
        case .invalidURL: "That is not an address of the web."
        case .requestFailed(let cause): "The request did not get through: \(words(of: cause))."
        case .invalidResponse: "The server's answer makes no sense."
        case .httpError(let statusCode): Self.sentence(statusCode: statusCode)
        case .decodingError(let cause): "The server's answer cannot be read: \(words(of: cause))."
        case .noData: "The server sent nothing."
        case .offline: "There is no Internet here."
        case .emptyData: "The server has nothing to show."
        case .serverMaintenance: "The server is down for maintenance."
        case .rateLimited: "The server was asked too often, and wants a pause."
        case .radioOff: "Bluetooth is switched off."
        case .noAdapter: "There is no Bluetooth adapter."
        case .blocked(bySwitch: true): "A switch on this box keeps Bluetooth off."
        case .blocked(bySwitch: false): "Bluetooth is blocked on this box (rfkill)."
        case .adapterSilent: "The Bluetooth adapter has stopped answering."
        case .adapterDead: "The Bluetooth adapter does not answer, not even after a reset."
        case .serviceNotRunning: "The Bluetooth service, bluetoothd, is not running."
        case .notPermitted: "This user may not use Bluetooth."
        case .unsupported(let cause): "This Bluetooth adapter cannot do it: \(cause)."
        case .airUnusable(let cause): "The virtual radio cannot use its folder: \(cause)."
        case .radioFailed(let cause): "The radio does not work: \(cause)."
        case .networkUnavailable: "Everybody was lost at once."
        case .connectionLost(let host): "Connection to \(host.asHost()) lost. Trying to reconnect."
        case .hostNotFound(let host): "\(host.asHost(startsSentence: true)) was not heard for 30 seconds."
        case .hostEnded(let host): "\(host.asHost(startsSentence: true)) ended the session."
        case .hostFull: "The host has no room for another guest."
        case .refused: "The host does not take you in."
        case .kicked: "The host has removed you from this session."
        case .wrongPIN: "The host does not accept this PIN."
        case .versionMismatch: "The host speaks another version of RoadMesh."
        case .proofRequired: "The host asks for something that this version of RoadMesh cannot give."
        case .bondRequired: "This host takes only boxes that it is bonded with."
        case .sessionInvalidated: "This session is over for good."
        case .notConnected: "There is no host right now."
        case .tooManyPendingVotes: "\(DJLimits.pendingVotes) votes wait to be sent already."
        case .storageFull: "The disk is full; nothing more can be kept."
        case .storageReadOnly: "The disk cannot be written to; nothing more can be kept."
        case .storageBusy: "Another program is using the database; nothing can be kept meanwhile."
        case .storageVanished: "This node's files were removed or changed; nothing more can be kept."
        case .storageFailed(let cause): "The disk does not work: \(cause)."
        case .storageDamaged(let path): "What was kept cannot be read. It was put aside as \(path)."
        }
    }

    private static func sentence(statusCode: Int) -> String {
        switch statusCode {
        case 401, 403: "The server does not let this box in (\(statusCode))."
        case 404, 410: "It is not there any more (\(statusCode))."
        case 500...599: "The server is in trouble (\(statusCode))."
        default: "The server said no (\(statusCode))."
        }
    }
}

extension Peer {
    /// A host's name in a sentence. One that has not been introduced yet has none.
    func asHost(startsSentence: Bool = false) -> String {
        if !name.isEmpty { name } else if startsSentence { "The host" } else { "the host" }
    }
}

/// An error's own words, without a full stop, for the end of a sentence.
func words(of error: any Error) -> String {
    let words = (error as? any LocalizedError)?.errorDescription ?? "\(error)"
    return words.hasSuffix(".") ? String(words.dropLast()) : words
}
