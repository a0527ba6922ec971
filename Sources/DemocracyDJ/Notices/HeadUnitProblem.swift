// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Problems of the head unit around a node, with playback, recordings and the queue. Repairs that the radio has made
/// automatically are also here. Each case is one row of the table below.
public enum HeadUnitProblem: Hashable, Sendable {
    /// The player cannot be started, for this cause.
    case cannotStart(String)
    /// The player ends repeatedly; the value says how it ends.
    case keepsEnding(String)
    /// No output is available for the sound.
    case noSound
    /// Several songs in a row cannot be played.
    case songsFail
    /// The player has failed on a song that a person asked for. The title is nil if it is not known any more.
    case songFailed(title: String?)
    /// The library lacks this many songs of the resumed session.
    case songsMissing(Int)
    /// The disk rejects the recording of the drive, for this cause.
    case driveNotRecorded(String)
    /// The recording of the drive is not collected, for this cause.
    case driveNotCollected(String)
    /// The page cannot be served at its address, for this cause.
    case pageNotShown(at: String, cause: String)
    /// Phones cannot open the page, since this device has no address in a network.
    case pageUnreachable
    /// The radio has switched to another adapter automatically.
    case otherAdapter(String, insteadOf: String)
    /// Bluetooth was missing at the start, and this adapter works now.
    case adapterAppeared(String)
    /// The radio had stopped advertising and has started again.
    case advertisingAgain
    /// Two nodes have the same identity, for example from a copied memory card. Neither is admitted for some time.
    case twins(Peer)
    /// The guest has received more from the host than the host knows. A copied memory card causes that, or an old copy
    /// that was restored. The guest's report is the only evidence.
    case copied(host: Peer, guest: Peer)

    /// A peer has tried a wrong PIN. Its name is its own claim.
    case pinGuessed(by: Peer)
    /// The node has no connection to its broker.
    case broker(BrokerProblem)

    /// The code of `driveNotRecorded`, whatever its cause.
    public static let driveNotRecordedCode = "driveNotRecorded"
    /// The code of `driveNotCollected`.
    public static let driveNotCollectedCode = "driveNotCollected"

    /// The code of `pageNotShown`.
    public static let pageNotShownCode = "pageNotShown"

    /// The row of this problem. The problems of the player share a code, so that one replaces another.
    public var problem: Problem {
        switch self {
        case .cannotStart(let cause):
            .stays(
                "playerFailed", "The player mpv cannot be started (\(cause)). There is no music.",
                "Install it with: sudo apt install mpv. Or play without sound: --player none.")
        case .keepsEnding(let cause):
            .stays(
                "playerFailed", "The player mpv keeps ending (\(cause)). The music is interrupted.",
                "RoadMesh restarts it automatically. If that does not help, update mpv.")
        case .noSound:
            .stays(
                "playerFailed", "No audio output found. Music is paused.",
                "Plug a loudspeaker or sound card in, switch it on, or name another with --audio-device.")
        case .songsFail:
            .stays(
                "playerFailed", "Several songs in a row cannot be played. RoadMesh tries the next ones more slowly.",
                "Make sure the disk or stick with the music is plugged in and its files are undamaged.")
        case .songFailed(let title):
            .passes(
                "cannotBePlayed",
                title.map { "\"\($0)\" cannot be played." } ?? "A song that you voted for cannot be played.",
                "RoadMesh skipped it and plays the next song.", raisedBy: title == nil ? .host : .headUnit)
        case .songsMissing(let count):
            .passes(
                "songsMissing",
                count == 1
                    ? "1 song of the last queue is not in this library."
                    : "\(count) songs of the last queue are not in this library.",
                "Missing songs and their votes were removed from the queue.", raisedBy: .opening)
        case .driveNotRecorded(let cause):
            .stays(
                Self.driveNotRecordedCode, "The drive is not recorded: \(cause).",
                "Make room on its disk, or make it writable.")
        case .driveNotCollected(let cause):
            .stays(
                Self.driveNotCollectedCode, "The recording of the drive is not collected: \(cause).",
                "It is saved here, and sent when roadmesh fieldtest collect runs at that broker.")
        case .pageNotShown(let address, let cause):
            .stays(
                Self.pageNotShownCode, "The page cannot be shown at \(address) yet: \(cause).",
                "RoadMesh retries automatically. If the address or port is wrong, name another one with --http.")
        case .pageUnreachable:
            .stays(
                "pageUnreachable", "Phones cannot open the page: this device is not in a network.",
                "Connect it to the phones' network, or switch on its own Wi-Fi. Phones can then open the page.")
        case .otherAdapter(let new, let old):
            .passes(
                "radioRecovered", "\(old) is gone or does not answer; RoadMesh uses \(new) now.",
                "To choose an adapter yourself, start with --adapter.", raisedBy: .radio)
        case .adapterAppeared(let name):
            .passes(
                "radioRecovered", "Bluetooth works now (\(name)).",
                "Guests in its range can join too.", raisedBy: .radio)
        case .advertisingAgain:
            .passes(
                "radioRecovered", "New guests could not find this host for a short time; now they can again.",
                "Connected guests were not affected. If this happens often, use another adapter.", raisedBy: .radio)
        case .twins(let peer):
            .passes(
                "twins", "Two devices have the identity of \(peer.name): one of them is a copy.",
                "On one of the two, remove the file identity from its state folder, and start it again.",
                raisedBy: .link)
        case .pinGuessed(let peer):
            .passes(
                "pinGuessed", "\(peer.name) has tried to join with a wrong PIN.",
                "After five wrong PINs the host admits no new guests for some minutes. Your guests are not affected.",
                raisedBy: .link)
        case .broker(let problem): problem.problem
        case .copied(let host, let guest):
            .passes(
                "mayBeCopied",
                "\(host.name) lacks data that it has sent to \(guest.name): the device may have been copied.",
                "If its memory card was copied: on one of the two, remove the file identity from its state folder, and "
                    + "start it again.",
                raisedBy: .link)
        }
    }
}
