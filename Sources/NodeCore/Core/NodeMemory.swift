// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// The state that must survive a restart, and the part of it that is not on disk yet.
struct NodeMemory: Sendable {
    /// The number of songs in the resumed session that the library does not have, for a notice to the person.
    private(set) var missingSongs = 0
    /// The content of the next write.
    private(set) var pending = StoreBatch()
    /// The content of the pending write.
    private var inFlight: StoreBatch?

    private let contents: StoredNode
    private let service: ServiceType
    /// The features' state on disk, and their state in the next write.
    private var host: (written: SavedSession?, noted: SavedSession?)
    private var guest: (written: SavedGuest?, noted: SavedGuest?)
    /// The encoded state on view, as last given to the disk.
    private var view: [UInt8]?
    private var epoch: UInt32 = 0
    /// The person wants data deleted that must not come back after a power cut.
    private var isForgettingWanted = false
    /// The conversations with a proof that is on disk or in a write.
    private var proved: Set<ConversationKey>
    private var isProofNew = false
    /// The intents that the host has not yet acknowledged as stored, by number.
    private var undelivered: [ConversationKey: [(number: UInt64, intent: GuestIntent)]] = [:]

    init(_ contents: StoredNode, _ service: ServiceType) {
        (self.contents, self.service) = (contents, service)
        proved = Set(contents.remembered.filter(\.value.isProved).keys)
    }

    // MARK: At the start

    /// The host as an earlier run left it, or a new one. Epochs grow from run to run. If nothing is stored,
    /// `wallClockSeconds`, the time since 1970, ensures that.
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

    /// Notes changes of the features that are not on disk. The playback position alone causes no write.
    mutating func note(_ app: AppFeature, now: MeshInstant) {
        if let session = app.savedSession(now: now), !session.isSameButForTime(as: host.written) { note(session) }
        if let saved = app.savedGuest, saved.isWorthWriting(after: guest.written) {
            note(saved, withView: saved.showsMore(than: guest.written))
        }
    }

    /// Notes the full state of the features, for the last write or a write in between.
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

    /// Ends the session. Returns the next session's epoch, which the next write stores.
    mutating func nextEpoch() -> UInt32 {
        epoch &+= 1
        (host.written, host.noted) = (nil, nil)
        return epoch
    }

    /// Whether other nodes or people wait for the pending changes. Contacts and acknowledgements can be written later.
    var isUrgent: Bool {
        isProofNew || pending.unanswered != nil || pending.invitations != nil || pending.bans != nil
            || pending.drivers != nil
            || !pending.receipts.isEmpty || !pending.outgoing.isEmpty || pending.host != nil
            || pending.guest != nil
            || isForgettingWanted && !pending.forgotten.isEmpty
    }

    /// Whether data may still be on disk that the person wants forgotten or that was evicted.
    var isForgetting: Bool { isForgettingWanted || inFlight?.forgotten.isEmpty == false }

    /// Moves the pending changes into a write.
    mutating func takePending() -> StoreBatch {
        defer { (pending, isForgettingWanted, isProofNew) = (StoreBatch(), false, false) }
        inFlight = pending
        return pending
    }

    /// The pending write is durable.
    mutating func wrote() {
        if inFlight?.host != nil { host.written = host.noted }
        if inFlight?.guest != nil { guest.written = guest.noted }
        inFlight = nil
    }

    /// The conversations with messages that wait for the disk.
    var heldConversations: Set<ConversationKey> {
        Set((pending.outgoing + (inFlight?.outgoing ?? [])).map(\.conversation))
    }

    /// The write has failed. Drops the changes that were to be sent, acknowledged or shown. The rest stays pending.
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

    /// Bans of earlier runs that outlive their sessions.
    var storedBans: [BanRecord] { contents.bans }

    /// Co-hosts of earlier runs.
    var storedDrivers: [Peer] { contents.drivers }

    /// Co-hosts with keys that a browser has sent.
    var storedBrowserDrivers: [Peer] { contents.browserDrivers }

    /// Stores the co-hosts. `withBrowser` are those that must use a browser.
    mutating func note(drivers: [Peer], withBrowser: [Peer]) {
        (pending.drivers, pending.browserDrivers) = (drivers, withBrowser)
    }

    /// The known hosts of earlier runs.
    var storedKnownHosts: [Peer] { contents.knownHosts }

    /// Stores the known hosts.
    mutating func note(knownHosts: [Peer]) { pending.knownHosts = knownHosts }

    /// Stores the bans that outlive the session.
    mutating func note(_ bans: [BanRecord]) { pending.bans = bans }

    /// Stores the host's invitations.
    mutating func note(_ invitations: [GivenInvitation]) { pending.invitations = invitations }

    /// Stores how often hosts could check a guess of this guest's PIN.
    mutating func note(unanswered: [UnansweredProof]) { pending.unanswered = unanswered }

    // MARK: What was said

    /// A peer has proved its identity.
    mutating func met(_ key: ConversationKey, _ mesh: MeshCore) {
        guard let remembered = mesh.remembered(key) else { return }
        // A person who has typed six digits should not have to do it again after a power cut.
        if remembered.isProved, proved.insert(key).inserted { isProofNew = true }
        pending.met.append(StoreBatch.Met(conversation: key, remembered: remembered))
    }

    /// Stores a peer's reliable message together with the decisions about it.
    mutating func received(_ message: ReceivedMessage, _ mesh: MeshCore) {
        guard let remembered = mesh.remembered(message.conversation) else { return }
        pending.receipts.append(
            StoreBatch.Receipt(
                conversation: message.conversation, epoch: message.epoch, number: message.number,
                remembered: remembered))
    }

    /// A reliable message that will be sent once it is written.
    mutating func said(_ body: [UInt8], number: UInt64, in key: ConversationKey, _ remembered: MeshCore.Remembered) {
        pending.outgoing.append(
            StoreBatch.Outgoing(conversation: key, number: number, body: body, remembered: remembered))
    }

    /// An intent has been queued for a host.
    mutating func sent(_ intent: GuestIntent, number: UInt64, in key: ConversationKey) {
        undelivered[key, default: []].append((number, intent))
    }

    /// A peer has stored everything up to this number. Returns the intents among these messages.
    mutating func delivered(upTo number: UInt64, in key: ConversationKey) -> [GuestIntent] {
        pending.acknowledged.append(StoreBatch.Acknowledged(conversation: key, upTo: number))
        let done = undelivered[key]?.prefix { $0.number <= number } ?? []
        undelivered[key]?.removeFirst(done.count)
        return done.map(\.intent)
    }

    /// The next call of `forget` is by request of the person.
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
    /// Whether the state on view is the only place with the result of a wish that is over. A new wish does not change
    /// that, and a queue is much larger than a wish.
    fileprivate func showsMore(than other: SavedGuest?) -> Bool {
        guard let other, known == other.known else { return true }
        return !other.wishes.allSatisfy { old in wishes.contains { $0.songID == old.songID && $0.kind == old.kind } }
    }

    /// The state on view is written when a gap in the connection begins (`NodeMemory.noteAll`), because it is needed
    /// then.
    fileprivate func isWorthWriting(after other: SavedGuest?) -> Bool {
        known != other?.known || wishes != (other?.wishes ?? [])
    }
}
