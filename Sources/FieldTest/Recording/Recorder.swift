// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// Decides which events of a node are recorded. An event with its time goes in, and rows come out. It reads no clock
/// and writes nothing.
public struct Recorder: Sendable {
    /// The start of the drive.
    private let origin: ContinuousClock.Instant
    private let isGuest: Bool
    /// The peer of a resumed link on which its state was not seen yet.
    private var awaitsState: Peer?
    /// Hosts with a recorded advertisement. Further advertisements, one a second, are not recorded.
    private var heard: Set<String> = []
    /// Heads of the peers that had a session. A link to any other node carries sessions of other nodes.
    private var sessions: Set<String> = []
    private var lastRow: Duration = .zero
    /// The program's load at the start, and the time of the last row with it.
    private let loadBefore: ProcessLoad
    private var lastLoad: Duration = .zero
    private var lastPosition: (at: ContinuousClock.Instant, position: PositionRow)?
    /// Decides which positions a shared drive has. Nil if it is not shared.
    private var ends: TrackEnds?

    /// Makes a recorder of a drive that starts at this time. If the drive `isShared`, it has no positions near its
    /// start and its end. `load` is that of the program at this time.
    public init(
        _ role: NodeDescription.Role, origin: ContinuousClock.Instant, isShared: Bool = false,
        load: ProcessLoad = ProcessLoad(wakeUps: 0, processor: 0)
    ) {
        isGuest = role == .guest
        loadBefore = load
        ends = isShared ? TrackEnds() : nil
        self.origin = origin
    }

    /// Handles an event. `now` is the time of its report; a contact has its own time.
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

    /// Handles a position. Records at most one a second. If the position has not changed, it is recorded only from time
    /// to time.
    public mutating func take(_ position: PositionRow, now: ContinuousClock.Instant) -> [DriveRow] {
        if let last = lastPosition {
            let isSame = last.position == position
            let pause = isSame ? FieldTestLimits.positionRepeat : FieldTestLimits.positionInterval
            guard now - last.at >= pause else { return [] }
        }
        lastPosition = (now, position)
        let rows = row(now, .position(position))
        return ends == nil ? rows : rows.flatMap { ends?.take(position, in: $0) ?? [] }
    }

    /// Lets time pass. Each minute it returns the program's load, and after a long time without events a tick.
    public mutating func tick(_ load: ProcessLoad, now: ContinuousClock.Instant) -> [DriveRow] {
        if now - origin - lastLoad >= FieldTestLimits.loadInterval { return take(load, now: now) }
        return now - origin - lastRow >= FieldTestLimits.tickInterval ? row(now, .tick) : []
    }

    /// Handles the program's load.
    public mutating func take(_ load: ProcessLoad, now: ContinuousClock.Instant) -> [DriveRow] {
        lastLoad = now - origin
        return row(now, .load(load.since(loadBefore)))
    }

    private mutating func take(_ contact: Encounter) -> [DriveRow] {
        let head = Identity.head(of: contact.peer.id)
        switch contact.phase {
        case .heard:
            let isNew = heard.insert(head).inserted
            // Each signal strength gets a row, because no link reports it.
            guard isNew || contact.rssi != nil else { return [] }
        case .dialled: break
        case .resumed:
            heard.insert(head)
            sessions.insert(head)
            // A host always has its own state.
            if isGuest { awaitsState = contact.peer }
        case .lost:
            heard.remove(head)
            if awaitsState?.id == contact.peer.id { awaitsState = nil }
        case .current: break
        }
        return row(contact.at, .contact(ContactRow(contact)))
    }

    /// A current state is shown. If a link has just resumed, its state is now current.
    private mutating func current(_ now: ContinuousClock.Instant) -> [DriveRow] {
        guard let peer = awaitsState else { return [] }
        awaitsState = nil
        return row(now, .contact(ContactRow(.current, peer)))
    }

    private mutating func row(_ instant: ContinuousClock.Instant, _ what: Happening) -> [DriveRow] {
        // A row with its own time may come after rows of later events.
        lastRow = max(lastRow, instant - origin)
        return [DriveRow(at: max(instant - origin, .zero), what)]
    }
}
