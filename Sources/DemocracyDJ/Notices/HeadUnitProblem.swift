// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What goes wrong around a node, in the head unit: with what plays, with what is recorded, with what was queued; and
/// what the radio has repaired by itself. Each is one row of the table below.
public enum HeadUnitProblem: Hashable, Sendable {
    /// The player cannot be started, and why.
    case cannotStart(String)
    /// The player ends again and again, and how.
    case keepsEnding(String)
    /// There is nothing that takes the sound.
    case noSound
    /// One song after the other cannot be played.
    case songsFail
    /// The player has failed on a song that anybody asked for. The title is nil where it is not known any more.
    case songFailed(title: String?)
    /// The library does not have this many songs of the session that goes on.
    case songsMissing(Int)
    /// The disk takes nothing of the drive that is recorded, and why.
    case driveNotRecorded(String)
    /// The drive is recorded, and nobody takes it who should, and why.
    case driveNotCollected(String)
    /// The page cannot be shown at its address, and why.
    case pageNotShown(at: String, cause: String)
    /// No phone can open the page, since this device has no address in a network.
    case pageUnreachable
    /// The radio has taken another adapter by itself.
    case otherAdapter(String, insteadOf: String)
    /// Bluetooth was missing at the start, and this works now.
    case adapterAppeared(String)
    /// The radio had stopped advertising, and does so again.
    case advertisingAgain
    /// Two nodes have one identity, as a copied memory card makes them. Neither is let in for a while.
    case twins(Peer)
    /// What a guest was told by a host is more than the host knows, as a copied memory card makes it, or an old one that was
    /// restored. Of the two only the guest's word says so.
    case copied(host: Peer, guest: Peer)

    /// Somebody has typed a wrong PIN. What it is called is its own word.
    case pinGuessed(by: Peer)
    /// There is no connection to the broker.
    case broker(BrokerProblem)

    /// What `driveNotRecorded` is told and cleared by, whatever its cause.
    public static let driveNotRecordedCode = "driveNotRecorded"
    /// The same of `driveNotCollected`.
    public static let driveNotCollectedCode = "driveNotCollected"

    /// The same of `pageNotShown`.
    public static let pageNotShownCode = "pageNotShown"

    /// The row of this problem. One problem of the player takes the place of another.
    public var problem: Problem {
        switch self {
        case .cannotStart(let cause):
            .stays(
                "playerFailed", "The player mpv cannot be started (\(cause)). There is no music.",
                "Install it with: sudo apt install mpv. Or do without sound: --player none.")
        case .keepsEnding(let cause):
            .stays(
                "playerFailed", "The player mpv ends again and again (\(cause)). The music stops and starts.",
                "It is started again by itself. If that does not help, update mpv.")
        case .noSound:
            .stays(
                "playerFailed", "No audio output found. Music is paused.",
                "Plug a loudspeaker or sound card in, switch it on, or name another with --audio-device.")
        case .songsFail:
            .stays(
                "playerFailed", "One song after the other cannot be played. The next ones are tried more slowly.",
                "Make sure the disk or stick with the music is plugged in and its files are whole.")
        case .songFailed(let title):
            .passes(
                "cannotBePlayed",
                title.map { "\"\($0)\" cannot be played." } ?? "A song that you voted for cannot be played.",
                "It was skipped, and the next one plays.", raisedBy: title == nil ? .host : .headUnit)
        case .songsMissing(let count):
            .passes(
                "songsMissing",
                count == 1
                    ? "1 song of the last queue is not in this library."
                    : "\(count) songs of the last queue are not in this library.",
                "They and their votes are gone from the queue.", raisedBy: .opening)
        case .driveNotRecorded(let cause):
            .stays(
                Self.driveNotRecordedCode, "The drive is not recorded: \(cause).",
                "Make room on its disk, or make it writable.")
        case .driveNotCollected(let cause):
            .stays(
                Self.driveNotCollectedCode, "The drive is recorded, and not collected: \(cause).",
                "It is kept here, and sent when roadmesh fieldtest collect runs at that broker.")
        case .pageNotShown(let address, let cause):
            .stays(
                Self.pageNotShownCode, "The page cannot be shown at \(address) yet: \(cause).",
                "It is tried again by itself. If the address or port is wrong, name another one with --http.")
        case .pageUnreachable:
            .stays(
                "pageUnreachable", "Phones cannot open the page: this device is in no network.",
                "Connect it to the phones' network, or switch on its own Wi-Fi. The page follows by itself.")
        case .otherAdapter(let new, let old):
            .passes(
                "radioRecovered", "\(old) is gone or does not answer; \(new) is used now.",
                "To choose one yourself: --adapter names it.", raisedBy: .radio)
        case .adapterAppeared(let name):
            .passes(
                "radioRecovered", "Bluetooth works now (\(name)).",
                "Guests in its range can join too.", raisedBy: .radio)
        case .advertisingAgain:
            .passes(
                "radioRecovered", "New guests could not find this host for a moment; now they can again.",
                "Who is here already has noticed nothing. If it comes often, use another adapter.", raisedBy: .radio)
        case .twins(let peer):
            .passes(
                "twins", "Two devices have the identity of \(peer.name): one of them is a copy.",
                "On one of the two, remove the file identity from its state folder, and start it again.",
                raisedBy: .link)
        case .pinGuessed(let peer):
            .passes(
                "pinGuessed", "\(peer.name) has tried to join with a wrong PIN.",
                "After five wrong PINs the host admits no new guests for some minutes. Your guests do not notice.",
                raisedBy: .link)
        case .broker(let problem): problem.problem
        case .copied(let host, let guest):
            .passes(
                "mayBeCopied",
                "\(host.name) knows less than it has told \(guest.name) before: there may be a copy of it.",
                "If its memory card was copied: on one of the two, remove the file identity from its state folder, and "
                    + "start it again.",
                raisedBy: .link)
        }
    }
}
