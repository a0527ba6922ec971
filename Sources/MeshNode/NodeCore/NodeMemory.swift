// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeStore

/// What a node must not forget, and what of it is not on the disk yet.
struct NodeMemory: Sendable {
    /// Songs of the session that goes on which the library does not have, until the person is told.
    private(set) var missingSongs = 0
    /// What the next write takes along.
    private(set) var pending = StoreBatch()
    /// What is being written.
    private var inFlight: StoreBatch?

    private let contents: StoredNode
    private let service: ServiceType
    /// What the disk has of the features, and what the next write gives it.
    private var host: (written: SavedSession?, noted: SavedSession?)
    private var guest: (written: SavedGuest?, noted: SavedGuest?)
    /// The state on view that the disk was given last, as it is stored.
    private var view: [UInt8]?
    private var epoch: UInt32 = 0
    /// The person wants something forgotten: it may not come back with the power.
    private var isForgettingWanted = false
    /// Those whose proof is on the disk, or in a write.
    private var proved: Set<ConversationKey>
    private var isProofNew = false
    /// What a guest has sent and the host does not have for good yet, by number.
    private var undelivered: [ConversationKey: [(number: UInt64, intent: GuestIntent)]] = [:]

    init(_ contents: StoredNode, _ service: ServiceType) {
        (self.contents, self.service) = (contents, service)
        proved = Set(contents.remembered.filter(\.value.isProved).keys)
    }

    // MARK: At the start

    /// The host as an earlier run left it, or a new one. Epochs grow from run to run; `wallClockSeconds`, the time since
    /// 1970, sees to that where nothing is stored.
    mutating func hostFeature(_ local: Peer, _ hosting: Hosting, now: MeshInstant) -> HostFeature {
        epoch = max(hosting.wallClockSeconds, (contents.host?.epoch ?? 0) &+ 1)
        guard let session = contents.host?.session else {
            return HostFeature(
                local: local, library: hosting.library, fairness: hosting.fairness, hasPlayer: hosting.hasPlayer,
                opens: hosting.opens, volume: contents.host.map { Int(clamping: $0.volume) },
                shuffles: hosting.shuffles, playlist: hosting.playlist, epoch: epoch, now: now)
        }
        missingSongs = session.missingSongs(in: hosting.library)
        return HostFeature(
            local: local, library: hosting.library, fairness: hosting.fairness, hasPlayer: hosting.hasPlayer,
            opens: hosting.opens, shuffles: hosting.shuffles, playlist: hosting.playlist, resuming: session,
            epoch: epoch, now: now)
    }

    /// The guest as an earlier run left it, or a new one.
    mutating func guestFeature(_ local: Peer) -> GuestFeature {
        for (key, remembered) in contents.remembered {
            let conversation = remembered.conversation
            let first = conversation.lastNumber - UInt64(conversation.outbox.count) + 1
            undelivered[key] = conversation.outbox.enumerated().compactMap { place, body in
                guard case .intent(let intent)? = MeshMessage(encoded: body) else { return nil }
                return (first + UInt64(place), intent)
            }
        }
        guard let saved = contents.guest?.saved else { return GuestFeature(local: local) }
        (guest.written, view) = (saved, contents.guest?.snapshot)
        let waiting = saved.known.flatMap { undelivered[ConversationKey($0.id, as: .initiator, service)] } ?? []
        return GuestFeature(local: local, resuming: saved, undelivered: waiting.map(\.intent))
    }

    // MARK: What has changed

    /// Looks whether the features know something that the disk does not. How far a song has played is worth no write of its
    /// own.
    mutating func note(_ app: AppFeature, now: MeshInstant) {
        if let session = app.savedSession(now: now), !session.isSameButForTime(as: host.written) { note(session) }
        if let saved = app.savedGuest, saved.isWorthWriting(after: guest.written) {
            note(saved, withView: saved.showsMore(than: guest.written))
        }
    }

    /// All of what the features know, for a last write or one in between.
    mutating func noteAll(_ app: AppFeature, now: MeshInstant) {
        if let session = app.savedSession(now: now) { note(session) }
        if let saved = app.savedGuest { note(saved, withView: true) }
    }

    private mutating func note(_ session: SavedSession) {
        host.noted = session
        pending.host = HostRecord(session, epoch: epoch)
    }

    private mutating func note(_ saved: SavedGuest, withView: Bool) {
        guest.noted = saved
        if withView { view = saved.view }
        pending.guest = GuestRecord(saved, view: view)
    }

    /// The session is over. Returns the epoch of the next one, which the next write gives to the disk.
    mutating func nextEpoch() -> UInt32 {
        epoch &+= 1
        (host.written, host.noted) = (nil, nil)
        return epoch
    }

    /// Whether something waits that others wait for. That a peer was met, or has got something, can be written later.
    var isUrgent: Bool {
        isProofNew || pending.unanswered != nil || pending.invitations != nil || pending.bans != nil
            || pending.drivers != nil
            || !pending.receipts.isEmpty || !pending.outgoing.isEmpty || pending.host != nil
            || pending.guest != nil
            || isForgettingWanted && !pending.forgotten.isEmpty
    }

    /// Whether something that its person wants forgotten, or that has made room for others, may still be on the disk.
    var isForgetting: Bool { isForgettingWanted || inFlight?.forgotten.isEmpty == false }

    /// What the next write takes along goes to the disk.
    mutating func takePending() -> StoreBatch {
        defer { (pending, isForgettingWanted, isProofNew) = (StoreBatch(), false, false) }
        inFlight = pending
        return pending
    }

    /// What was given to the disk is on it.
    mutating func wrote() {
        if inFlight?.host != nil { host.written = host.noted }
        if inFlight?.guest != nil { guest.written = guest.noted }
        inFlight = nil
    }

    /// The conversations with messages that wait for the disk.
    var heldConversations: Set<ConversationKey> {
        Set((pending.outgoing + (inFlight?.outgoing ?? [])).map(\.conversation))
    }

    /// The disk takes nothing: what others were to be told of is not kept, the rest waits.
    mutating func drop() {
        pending.receipts = []
        pending.outgoing = []
        pending.host = nil
        pending.guest = nil
        pending.invitations = nil
        pending.bans = nil
        pending.drivers = nil
        pending.browserDrivers = nil
        pending.knownHosts = nil
        pending.unanswered = nil
    }

    /// Whom an earlier run kept out beyond its session.
    var storedBans: [BanRecord] { contents.bans }

    /// Whose devices steer, as an earlier run has left it.
    var storedDrivers: [Peer] { contents.drivers }

    /// Those of them whose keys a browser has sent.
    var storedBrowserDrivers: [Peer] { contents.browserDrivers }

    /// Other devices steer, `withBrowser` only with a browser.
    mutating func note(drivers: [Peer], withBrowser: [Peer]) {
        (pending.drivers, pending.browserDrivers) = (drivers, withBrowser)
    }

    /// The hosts that earlier runs have joined.
    var storedKnownHosts: [Peer] { contents.knownHosts }

    /// The hosts that were joined are others.
    mutating func note(knownHosts: [Peer]) { pending.knownHosts = knownHosts }

    /// Others are kept out beyond the session.
    mutating func note(_ bans: [BanRecord]) { pending.bans = bans }

    /// The host's invitations are others.
    mutating func note(_ invitations: [GivenInvitation]) { pending.invitations = invitations }

    /// How often hosts could check a guess of this guest's PIN has changed.
    mutating func note(unanswered: [UnansweredProof]) { pending.unanswered = unanswered }

    // MARK: What was said

    /// A peer has proved who it is.
    mutating func met(_ key: ConversationKey, _ mesh: MeshCore) {
        guard let remembered = mesh.remembered(key) else { return }
        // Who has typed six digits does not do it again because the power went.
        if remembered.isProved, proved.insert(key).inserted { isProofNew = true }
        pending.met.append(StoreBatch.Met(conversation: key, remembered: remembered))
    }

    /// A peer's reliable message is to be safe with what is decided about it.
    mutating func received(_ message: ReceivedMessage, _ mesh: MeshCore) {
        guard let remembered = mesh.remembered(message.conversation) else { return }
        pending.receipts.append(
            StoreBatch.Receipt(
                conversation: message.conversation, epoch: message.epoch, number: message.number,
                remembered: remembered))
    }

    /// A reliable message is to leave when it is written.
    mutating func said(_ body: [UInt8], number: UInt64, in key: ConversationKey, _ remembered: MeshCore.Remembered) {
        pending.outgoing.append(
            StoreBatch.Outgoing(conversation: key, number: number, body: body, remembered: remembered))
    }

    /// A wish is on its way to a host.
    mutating func sent(_ intent: GuestIntent, number: UInt64, in key: ConversationKey) {
        undelivered[key, default: []].append((number, intent))
    }

    /// A peer has everything up to a number: the wishes that this was about.
    mutating func delivered(upTo number: UInt64, in key: ConversationKey) -> [GuestIntent] {
        pending.acknowledged.append(StoreBatch.Acknowledged(conversation: key, upTo: number))
        let done = undelivered[key]?.prefix { $0.number <= number } ?? []
        undelivered[key]?.removeFirst(done.count)
        return done.map(\.intent)
    }

    /// What is forgotten next is so because the person wants it.
    mutating func forgetsForGood() { isForgettingWanted = true }

    mutating func forget(_ key: ConversationKey) {
        undelivered[key] = nil
        proved.remove(key)
        pending.forget(key)
    }
}

extension SavedSession {
    fileprivate func isSameButForTime(as other: SavedSession?) -> Bool {
        guard var other else { return false }
        other.elapsed = elapsed
        return self == other
    }
}

extension SavedGuest {
    /// Whether the state on view shows something that is nowhere else: what has become of a wish that is over. A wish that
    /// begins changes nothing of it, and a queue is much longer than a wish.
    fileprivate func showsMore(than other: SavedGuest?) -> Bool {
        guard let other, known == other.known else { return true }
        return !other.wishes.allSatisfy { old in wishes.contains { $0.songID == old.songID && $0.kind == old.kind } }
    }

    /// The state on view is written when a gap begins (`NodeMemory.noteAll`), since that is when it is needed.
    fileprivate func isWorthWriting(after other: SavedGuest?) -> Bool {
        known != other?.known || wishes != (other?.wishes ?? [])
    }
}
