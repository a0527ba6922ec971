// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol

/// Decides what of a node's events is recorded: an event with its time goes in, rows come out. Reads no clock and writes
/// nothing.
public struct Recorder: Sendable {
    /// When the drive began.
    private let origin: ContinuousClock.Instant
    private let isGuest: Bool
    /// Peers whose link is resumed, but whose state has not been seen on it.
    private var awaitsState: Peer?
    /// Hosts whose way back has been told up to `heard`: an advertisement a second is not worth a row each time.
    private var heard: Set<String> = []
    /// Peers with which there was a session, by their heads: a link with anybody else carries others' sessions.
    private var sessions: Set<String> = []
    private var lastRow: Duration = .zero

    /// A recorder of a drive that begins at a time.
    public init(_ role: NodeDescription.Role, origin: ContinuousClock.Instant) {
        isGuest = role == .guest
        self.origin = origin
    }

    /// Takes an event. `now` is when it was told; a contact has its own time.
    public mutating func take(_ event: NodeEvent, now: ContinuousClock.Instant) -> [DriveRow] {
        switch event {
        case .contact(let contact): return take(contact)
        case .snapshot(_, isStale: false): return current(now)
        case .link(let peer, let report):
            let isCarrier = report.circuits != nil && !sessions.contains(Identity.head(of: peer.id))
            return row(
                now, isCarrier ? .carrier(peer.id, CarrierSample(peer, report)) : .link(peer.id, LinkSample(report)))
        case .radio(let activity): return row(now, .radio(RadioSample(activity)))
        case .wish(let song, let kind, let state):
            return row(now, .wish(WishRow(song: song, wish: kind.rawValue, state: state.name)))
        case .intent(let intent, let peer, let rejected):
            return row(
                now,
                .intent(
                    IntentRow(peer: peer.id, intent: intent.kind, song: intent.songID ?? "", accepted: rejected == nil))
            )
        case .mark(let text): return row(now, .mark(UntrustedText.shown(text, atMost: NodeLimits.markCharacters)))
        case .notice(let notice): return row(now, .notice(notice.code))
        case .bye(let reason): return row(now, .end(reason.rawValue))
        case .snapshot, .ready, .peerDiscovered, .peerLost, .peerConnected, .peerDisconnected, .connection,
            .searchResults,
            .artwork, .pinGuessed, .invitation, .invitations, .bans, .drivers, .hosts, .playback, .steering, .library,
            .noticeCleared, .linkEnded, .broker, .page:
            return []
        }
    }

    /// Lets time pass: where nothing has happened for long, the recording says that it goes on.
    public mutating func tick(now: ContinuousClock.Instant) -> [DriveRow] {
        now - origin - lastRow >= FieldTestLimits.tickInterval ? row(now, .tick) : []
    }

    private mutating func take(_ contact: Contact) -> [DriveRow] {
        let head = Identity.head(of: contact.peer.id)
        switch contact.phase {
        case .heard:
            let isNew = heard.insert(head).inserted
            // Its strength is worth a row each time: there is no link that tells it.
            guard isNew || contact.rssi != nil else { return [] }
        case .dialled: break
        case .resumed:
            heard.insert(head)
            sessions.insert(head)
            // A host has its state.
            if isGuest { awaitsState = contact.peer }
        case .lost:
            heard.remove(head)
            if awaitsState?.id == contact.peer.id { awaitsState = nil }
        case .current: break
        }
        return row(contact.at, .contact(ContactRow(contact)))
    }

    /// A state is on view that is not an old one: where a link has just been resumed, it is current now.
    private mutating func current(_ now: ContinuousClock.Instant) -> [DriveRow] {
        guard let peer = awaitsState else { return [] }
        awaitsState = nil
        return row(now, .contact(ContactRow(.current, peer)))
    }

    private mutating func row(_ instant: ContinuousClock.Instant, _ what: Happening) -> [DriveRow] {
        // What is told with a time of its own may come behind what happened after it.
        lastRow = max(lastRow, instant - origin)
        return [DriveRow(at: max(instant - origin, .zero), what)]
    }
}
