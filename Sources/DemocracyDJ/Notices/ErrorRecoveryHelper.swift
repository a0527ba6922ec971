// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What a person can do about an error.
public enum ErrorRecoveryHelper {
    /// What to do, as sentences; nil where there is nothing to do.
    public static func suggestion(for error: NetworkError) -> String? {
        switch error {
        case .invalidURL: "Correct the address in the song list."
        case .requestFailed, .offline: "The votes do not need it. Covers come when there is reception again."
        case .invalidResponse, .decodingError: "Check that the address in the song list leads to a picture."
        case .httpError(let statusCode): suggestion(statusCode: statusCode)
        case .noData: "Try again in a moment."
        case .emptyData: nil
        case .serverMaintenance: "Try again in a few minutes; music and votes go on without it."
        case .rateLimited: "Wait a minute, then try again."
        case .radioOff: "Switch it on: bluetoothctl power on."
        case .noAdapter: "Plug it in; it is used as soon as it is there."
        case .blocked(bySwitch: true): "Flip the switch; the radio comes back by itself."
        case .blocked(bySwitch: false): "Lift the block: sudo rfkill unblock bluetooth."
        case .adapterSilent: "Wait a moment: it is being switched off and on."
        case .adapterDead: "Pull it out and put it in again; one that is built in needs this box restarted."
        case .serviceNotRunning: "Start it: sudo systemctl start bluetooth."
        case .notPermitted: "Join the group: sudo usermod -aG bluetooth $USER, and log in again."
        case .unsupported: "Use another adapter: --adapter names it."
        case .airUnusable: "Let this user write to it; the radio comes back by itself."
        case .radioFailed: "Make sure that Bluetooth is on and bluetoothd runs: systemctl status bluetooth."
        case .networkUnavailable: "Make sure that Bluetooth is on. Who comes back into reach is connected by itself."
        case .connectionLost:
            "You see the last known queue, and what you vote is sent when the connection is back."
        case .hostNotFound:
            "Your votes are kept, and the next host that is heard is joined. Make sure Bluetooth is on."
        case .hostEnded: "Votes that were not sent yet are kept. Looking for a host again."
        case .hostFull: "You join by yourself when somebody has left."
        case .refused: "Ask the driver why, then retry."
        case .kicked: "You can join again when the driver starts a new session."
        case .wrongPIN: "Ask the driver for the PIN, and type it anew."
        case .versionMismatch: "Install the same version on both boxes, then retry."
        case .proofRequired: "Install the host's version of RoadMesh, then retry."
        case .bondRequired:
            "Run roadmesh pair on both boxes, then retry. If they were bonded before, one of them has forgotten."
        case .sessionInvalidated: "Choose a host again."
        case .notConnected: "Votes and suggestions are kept and sent later; searching and skipping need a host."
        case .tooManyPendingVotes: "Vote again when the connection is back."
        case .storageFull: "Make room: df -h shows which disk is full."
        case .storageReadOnly: "Make it writable, or start with another folder: --state names it."
        case .storageBusy: "Close that program; it goes on by itself then."
        case .storageVanished: "Put them back where they were, or quit and start again: votes may be missing then."
        case .storageFailed: "Save what is on it, and replace it."
        case .storageDamaged: "Voting goes on without it. Keep that file for whoever can mend it."
        }
    }

    /// What stands on the button, which does what `retry` does. Where a tap cannot help (`buttonComesAfter` is nil) it
    /// only takes the notice away, and a notice does without it.
    public static func buttonLabel(for error: NetworkError) -> String {
        switch error {
        case .requestFailed, .httpError, .noData, .offline, .serverMaintenance, .rateLimited: "Try Again"
        case .radioOff, .noAdapter, .blocked, .adapterSilent, .adapterDead, .serviceNotRunning,
            .notPermitted, .unsupported, .airUnusable, .radioFailed, .networkUnavailable:
            "Check Again"
        case .connectionLost, .hostNotFound, .hostFull, .refused, .versionMismatch, .proofRequired,
            .bondRequired:
            "Retry"
        case .wrongPIN: "Enter PIN"
        case .sessionInvalidated: "Find a Host"
        case .invalidURL, .invalidResponse, .decodingError, .emptyData, .hostEnded, .kicked, .notConnected,
            .tooManyPendingVotes, .storageFull, .storageReadOnly, .storageBusy, .storageVanished, .storageFailed,
            .storageDamaged:
            "OK"
        }
    }

    private static func suggestion(statusCode: Int) -> String {
        switch statusCode {
        case 500...599: "Try again in a few minutes; music and votes go on without it."
        default: "Correct the address in the song list."
        }
    }
}
