// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Everything that can go wrong between a person and the music: with the web, the radio, the host, and the stored
/// state. Each case is one row of the table below, with everything that people see of it. `docs/reference.md`,
/// "Notices", has the same rows.
public enum NetworkError: Error, Sendable {
    // MARK: The web: covers, and lists of songs

    /// The text is not a valid address.
    case invalidURL
    /// The request failed, for this cause.
    case requestFailed(any Error)
    /// The response is not valid HTTP.
    case invalidResponse
    /// The server has answered with this status code, an error.
    case httpError(statusCode: Int)
    /// The response cannot be decoded, for this cause.
    case decodingError(any Error)
    /// The response has no body.
    case noData
    /// This device has no Internet connection.
    case offline
    /// The response is valid but empty.
    case emptyData
    /// The server is under maintenance.
    case serverMaintenance
    /// The server has received too many requests.
    case rateLimited

    // MARK: The radio

    /// The adapter is switched off.
    case radioOff
    /// No adapter is present, or the one in use was pulled out.
    case noAdapter
    /// rfkill blocks the adapter: by a switch of the device, or otherwise by a program.
    case blocked(bySwitch: Bool)
    /// The adapter has stopped answering, and is being reset.
    case adapterSilent
    /// The adapter does not answer, and resets have not helped.
    case adapterDead
    /// bluetoothd is not running.
    case serviceNotRunning
    /// This user lacks the permission.
    case notPermitted
    /// The adapter lacks a required feature; the cause in the system's words.
    case unsupported(cause: String)
    /// This kernel refuses bluetoothd's advertisements. Only devices that look for this one are affected.
    case advertisingRefused(kernel: String)
    /// The virtual radio's folder cannot be used; the cause begins with the folder.
    case airUnusable(cause: String)
    /// The radio has failed for another cause, in the system's words.
    case radioFailed(cause: String)
    /// All peers were lost at once, and the radio has not reported a cause.
    case networkUnavailable

    // MARK: The host

    /// The link to the host broke.
    case connectionLost(host: Peer)
    /// The host has not been discovered for half a minute.
    case hostNotFound(host: Peer)
    /// The host ended its session.
    case hostEnded(host: Peer)
    /// The host program was stopped. Its session continues when it runs again.
    case hostStopped(host: Peer)
    /// The host said goodbye without saying whether its session continues.
    case hostLeft(host: Peer)
    /// The host has no room for another guest.
    case hostFull
    /// The host has rejected this guest without a reason.
    case refused
    /// The host has removed this guest.
    case kicked
    /// The host uses another protocol version.
    case versionMismatch
    /// The host asks for a PIN.
    case proofRequired
    /// The typed PIN is not the host's.
    case wrongPIN
    /// The host's PIN was guessed too often recently.
    case tooManyGuesses
    /// The host does not know the PIN that this guest was given.
    case unprovenHost
    /// Too many hosts that do not know this guest's PIN have asked for it.
    case pinAtRisk
    /// The invitation was used up or has expired.
    case invitationOver
    /// The host accepts bonded devices only.
    case bondRequired
    /// A host in range has the name of a joined host and another key.
    case otherHost(name: String, head: Peer.ID)
    /// A host that this guest has not joined before is in range, while its own is not.
    case unknownHost(Peer)
    /// A host that was joined before has proved another key.
    case hostKeyChanged(host: Peer)
    /// Another node has this node's identity.
    case sameIdentity
    /// The wish needs a host now.
    case notConnected
    /// `DJLimits.pendingVotes` votes are waiting already.
    case tooManyPendingVotes

    // MARK: Stored state

    /// The disk is full.
    case storageFull
    /// The disk cannot be written to.
    case storageReadOnly
    /// Another program holds the database.
    case storageBusy
    /// Another user or program has removed or changed the node's files while it runs.
    case storageVanished
    /// The disk does not work; the cause in the system's words.
    case storageFailed(cause: String)
    /// The stored state cannot be read; the path that it was moved to.
    case storageDamaged(setAside: String)
}

extension NetworkError {
    /// The row of this problem: everything that people see of it, what raises it, and what clears it.
    public var problem: Problem {
        switch self {
        case .invalidURL:
            cover("invalidURL", "A cover's address is not a web address.", "Correct the address in the song list.")
        case .requestFailed:
            cover(
                again: true, "requestFailed", "A cover could not be loaded from its server.",
                "RoadMesh retries automatically; music and votes do not need it.")
        case .invalidResponse:
            cover(
                "invalidResponse", "The covers' server sent something that is not a picture.",
                "Check that the address in the song list is that of a picture.")
        case .httpError(let statusCode):
            cover(again: true, "httpError", sentence(statusCode: statusCode), suggestion(statusCode: statusCode))
        case .decodingError:
            cover(
                "decodingError", "A cover is damaged, or a picture of an unknown kind.",
                "Check that the address in the song list is that of a picture.")
        case .noData: cover(again: true, "noData", "The covers' server sent nothing.", "Try again in a moment.")
        case .offline:
            cover(
                again: true, stays: true, "offline", "This device has no Internet connection.",
                "Votes do not need it. Covers load when the connection is back.")
        case .emptyData:
            cover(
                "emptyData", "The server has nothing to show.",
                "Check that the address in the song list is that of a picture.")
        case .serverMaintenance:
            cover(
                again: true, stays: true, "serverMaintenance", "The covers' server is down for maintenance.",
                "Try again in a few minutes; music and votes go on without it.")
        case .rateLimited:
            cover(
                again: true, stays: true, "rateLimited",
                "The covers' server got too many requests and asks for a pause.",
                "RoadMesh retries after that; music and votes go on without it.")
        case .radioOff: outage("radioOff", "Bluetooth is switched off.", "Switch it on: bluetoothctl power on.")
        case .noAdapter:
            outage("noAdapter", "There is no Bluetooth adapter.", "Plug one in; RoadMesh uses it immediately.")
        case .blocked(bySwitch: true):
            outage(
                "blocked", "A switch on this device keeps Bluetooth off.",
                "Flip the switch; the radio returns automatically.")
        case .blocked(bySwitch: false):
            outage(
                "blocked", "Bluetooth is blocked on this device (rfkill).",
                "Lift the block: sudo rfkill unblock bluetooth.")
        case .adapterSilent:
            outage(
                "adapterSilent", "The Bluetooth adapter has stopped answering.",
                "Wait a few seconds: RoadMesh switches it off and on.")
        case .adapterDead:
            outage(
                "adapterDead", "The Bluetooth adapter does not answer, not even after a reset.",
                "Unplug it and plug it in again; if it is built in, restart this device.")
        case .serviceNotRunning:
            outage(
                "serviceNotRunning", "The Bluetooth service, bluetoothd, is not running.",
                "Start it: sudo systemctl start bluetooth.")
        case .notPermitted:
            outage(
                "notPermitted", "This user may not use Bluetooth.",
                "Join the group: sudo usermod -aG bluetooth $USER, and log in again.")
        case .unsupported(let cause):
            outage(
                "unsupported", "This Bluetooth adapter is not suitable: \(cause).",
                "Use another adapter: name it with --adapter.")
        case .advertisingRefused(let kernel):
            outage(
                "advertisingRefused", "This device cannot be found: \(kernel) refuses to advertise it.",
                "Update Linux or BlueZ, or allow roadmesh CAP_NET_ADMIN: roadmesh doctor shows how.")
        case .airUnusable(let cause):
            outage(
                "airUnusable", "The virtual radio cannot use its folder: \(cause).",
                "Allow this user to write to it; the radio returns automatically.")
        case .radioFailed(let cause):
            outage(
                "radioFailed", "The radio does not work: \(cause).",
                "Make sure that Bluetooth is on and bluetoothd runs: systemctl status bluetooth.")
        case .networkUnavailable:
            Problem(
                "networkUnavailable", "The connection to all devices was lost at once.",
                "Make sure that Bluetooth is on. Devices that return are connected automatically.",
                button: .now("Check Again"), severity: .outage, raisedBy: .monitor, clearedBy: [.radioWorks, .linked])
        case .connectionLost(let host):
            Problem(
                "connectionLost", "Connection to \(host.asHost()) lost. Trying to reconnect.",
                "You see the last known queue. Your votes are sent when the connection is back.",
                button: .later("Retry"), severity: .stays, raisedBy: .link,
                clearedBy: [.linked, .left, .refused, .gaveUp], about: [host.id, host.name],
                later: (
                    "\(host.asHost(startsSentence: true)) is still out of reach.",
                    "You rejoin automatically when it is in range. Make sure Bluetooth is on, or retry now."
                ))
        case .hostNotFound(let host):
            Problem(
                "hostNotFound", "\(host.asHost(startsSentence: true)) has been out of range for 30 seconds.",
                "Your votes are saved, and you join automatically when it is in range. "
                    + "Make sure Bluetooth or Wi-Fi is on.",
                button: .now("Retry"), severity: .stays, raisedBy: .reconnecting,
                clearedBy: [.linked, .left, .refused], about: [host.id, host.name])
        case .hostEnded(let host):
            Problem(
                "hostEnded", "\(host.asHost(startsSentence: true)) ended the session.",
                "You join the next session automatically. Unsent votes are saved.",
                button: .now("OK"), severity: .stays, raisedBy: .link, clearedBy: [.retried, .left],
                about: [host.id, host.name])
        case .hostStopped(let host):
            Problem(
                "hostStopped", "\(host.asHost(startsSentence: true)) has stopped. Its queue and votes are saved.",
                "You rejoin automatically when it runs again, and your votes are sent then.",
                severity: .stays, raisedBy: .link, clearedBy: [.linked, .left, .refused, .gaveUp],
                about: [host.id, host.name])
        case .hostLeft(let host):
            Problem(
                "hostLeft", "\(host.asHost(startsSentence: true)) has left, and its queue may be gone.",
                "Unsent votes are saved. RoadMesh looks for a host again.",
                severity: .passes, raisedBy: .link, clearedBy: [.time, .linked, .left, .refused],
                about: [host.id, host.name])
        case .hostFull:
            .stays(
                "hostFull", "The host has no room for another guest.", "You join automatically when a guest leaves.",
                button: .now("Retry"), raisedBy: .refusal, clearedBy: [.linked, .retried, .left])
        case .refused: refusal("refused", "The host has rejected you.", "Ask the driver why, then retry.")
        case .kicked:
            refusal(
                "kicked", "The driver has kicked or banned you.", "Ask the driver to unban you, then retry.")
        case .versionMismatch:
            refusal(
                "versionMismatch", "The host uses another version of RoadMesh.",
                "Install the same version on both devices, then retry.")
        case .proofRequired:
            refusal(
                "proofRequired", "The host asks for a PIN. Its screen shows the six digits.",
                "Type pin and the digits, such as pin 123456.")
        case .wrongPIN:
            refusal(
                "wrongPIN", "That is not the host's PIN.",
                "Read the six digits on the host's screen again, and type pin and the digits.")
        case .tooManyGuesses:
            refusal(
                "tooManyGuesses", "The host's PIN was guessed too often, so it admits no new guests for now.",
                "You join automatically in a few minutes, as soon as it admits guests again.")
        case .unprovenHost:
            refusal(
                "unprovenHost",
                "The host that was found does not know your PIN, so it is a different host.",
                "Make sure the host that you mean is on and near, then retry. If it has no PIN, type pin off.")
        case .pinAtRisk:
            refusal(
                "pinAtRisk",
                "Hosts that do not know your PIN have asked for it \(Limits.unansweredProofs) times.",
                "Ask the driver whether the PIN is right. Retry tries one more host.")
        case .invitationOver:
            refusal(
                "invitationOver", "This invitation was used already or has expired.",
                "Ask the driver for another one.")
        case .unknownHost(let host):
            .passes(
                "unknownHost", "\(host.asHost(startsSentence: true)) is in range, and you have not joined it before.",
                "You do not join it automatically. To join it anyway, type join \(Identity.head(of: host.id)).",
                raisedBy: .reconnecting)
        case .otherHost(let name, let head):
            .stays(
                "otherHost", "This is not the \(name) that you know: it has the same name and another key.",
                "You do not join it automatically. To join it anyway, type join \(head).", raisedBy: .link,
                clearedBy: [.linked, .retried, .left])
        case .bondRequired:
            refusal(
                "bondRequired", "This host accepts only devices that it is bonded with.",
                "Run roadmesh pair on both devices, then retry. If they were bonded before, one has lost the bond.")
        case .hostKeyChanged(let host):
            Problem(
                "hostKeyChanged", "\(host.asHost(startsSentence: true)) has another key than when you joined it.",
                "Another device may use its name. If it is the right host, forget the old key; your votes wait for "
                    + "the new one.",
                button: .now("Forget Key"), severity: .stays, raisedBy: .link,
                clearedBy: [.linked, .retried, .left], about: [host.id, host.name])
        case .sameIdentity:
            refusal(
                "sameIdentity", "Another device has the identity of this one: one of them is a copy.",
                "On one of the two, remove the file identity from its state folder, and start it again.")
        case .notConnected:
            .passes(
                "notConnected", "You are not connected to a host.",
                "Votes and suggestions are saved and sent later; searching and skipping need a host.",
                raisedBy: .person)
        case .tooManyPendingVotes:
            .passes(
                "tooManyPendingVotes", "\(DJLimits.pendingVotes) votes are already waiting to be sent.",
                "Vote again when the connection is back.", raisedBy: .person)
        case .storageFull:
            disk(
                "storageFull", "The disk is full; nothing more can be saved.",
                "Make room: df -h shows which disk is full.")
        case .storageReadOnly:
            disk(
                "storageReadOnly", "The disk cannot be written to; nothing more can be saved.",
                "Make it writable, or name another folder with --state.")
        case .storageBusy:
            disk(
                "storageBusy", "Another program is using the database, so nothing can be saved.",
                "Close that program; RoadMesh then continues automatically.")
        case .storageVanished:
            disk(
                "storageVanished", "This node's files were removed or changed; nothing more can be saved.",
                "Put them back where they were, or quit and start again; then votes may be missing.")
        case .storageFailed(let cause):
            disk("storageFailed", "The disk does not work: \(cause).", "Back up its data, and replace it.")
        case .storageDamaged(let path):
            .stays(
                "storageDamaged", "The stored data cannot be read. It was moved to \(path).",
                "Voting continues without it. Keep that file in case it can be repaired.",
                button: .now("OK"), raisedBy: .opening, clearedBy: [.retried])
        }
    }

    /// An unavailable cover. `again` adds a button. With `stays` the problem stays until a cover loads; otherwise it
    /// passes.
    private func cover(
        again: Bool = false, stays: Bool = false, _ code: String, _ text: LocalizedText, _ advice: LocalizedText?
    ) -> Problem {
        Problem(
            code, text, advice, button: again ? .now("Try Again") : nil, severity: stays ? .stays : .passes,
            raisedBy: .covers, clearedBy: stays ? [.loaded, .recovered, .retried] : [.time])
    }

    private func outage(_ code: String, _ text: LocalizedText, _ advice: LocalizedText) -> Problem {
        Problem(
            code, text, advice, button: .now("Check Again"), severity: .outage, raisedBy: .radio,
            clearedBy: [.radioWorks])
    }

    private func refusal(_ code: String, _ text: LocalizedText, _ advice: LocalizedText) -> Problem {
        .stays(
            code, text, advice, button: .now("Retry"), raisedBy: .refusal, clearedBy: [.linked, .retried])
    }

    private func disk(_ code: String, _ text: LocalizedText, _ advice: LocalizedText) -> Problem {
        .stays(code, text, advice, raisedBy: .store, clearedBy: [.written])
    }

    private func sentence(statusCode: Int) -> LocalizedText {
        switch statusCode {
        case 401, 403: "The covers' server rejects this device."
        case 404, 410: "A cover no longer exists."
        case 500...599: "The covers' server reported an error."
        default: "The covers' server refused the request."
        }
    }

    private func suggestion(statusCode: Int) -> LocalizedText {
        switch statusCode {
        case 500...599: "Try again in a few minutes; music and votes go on without it."
        default: "Correct the address in the song list."
        }
    }
}
