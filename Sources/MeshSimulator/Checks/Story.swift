// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// Identifies one of the host's states.
struct StateVersion: Hashable, Comparable {
    var epoch: UInt32
    var revision: UInt64

    init(_ snapshot: HostSnapshot) { (epoch, revision) = (snapshot.epoch, snapshot.revision) }

    static func < (one: StateVersion, other: StateVersion) -> Bool {
        (one.epoch, one.revision) < (other.epoch, other.revision)
    }
}

/// Compares the host's state between two writes with the requests and messages in between. Consecutive states must
/// differ by these alone, also across restarts and power cuts.
struct Story {
    /// The bearer of a guest's message. A guest with two bearers has separate wishes on each.
    enum Bearer { case radio, browser }

    /// A guest, and a song of one of its wishes.
    private struct Wisher: Hashable {
        var guest: Peer.ID
        var song: Song.ID
        var bearer = Bearer.radio
    }

    private(set) var library: SongLibrary
    private let scenario: Scenario
    /// Songs that the library lacked at some time.
    private var missed: Set<Song.ID> = []
    /// Number of libraries so far.
    private var editions = 1
    /// The nodes of this world, the host first.
    var peers: [Peer.ID] = []
    /// The guests with a browser, and those of them that also have a radio.
    var browsers: [Peer.ID] = []
    var shared: Set<Peer.ID> = []
    /// Commands at the head unit since the last write began.
    var causes: [NodeInput] = []
    /// How many sessions the driver has ended that the disk has not ended yet.
    var endings = 0
    /// The epoch of the host's present session.
    private var epoch: UInt32 = 0
    /// Commands before the write in progress, or before one that the disk has refused.
    private var causesOfWrite: [NodeInput] = []
    /// Number of songs that have begun to play in this run of the host, up to the last write.
    private var turns = 0
    /// A guest has asked to skip the current song.
    private var skipIsWanted = false

    private(set) var lastShown: StateVersion?
    /// The states that the host has shown, each with its time and whether the host's disk had it. A version has several
    /// if a run has the epoch of an earlier one that was lost with its disk.
    private var shown: [StateVersion: [(state: HostSnapshot, at: Duration, isKept: Bool)]] = [:]
    /// The time since which each song is queued or plays without interruption.
    private var queuedSince: [Song.ID: Duration] = [:]
    /// Wishes of guests without an answer, and the time since which they wait.
    private var wishedSince: [Wisher: Duration] = [:]
    /// Wishes that were shown as ended, and the time of that. A power cut may undo the end, and the wish then waits as
    /// before.
    private var answeredSince: [Wisher: Duration] = [:]
    /// When a guest's last message about a song was stored by the host.
    private var heardAt: [Wisher: Duration] = [:]
    /// When the host stored the last message about a song that its guest has forgotten.
    private var forgottenAt: [Wisher: Duration] = [:]
    /// The confirmed results of guests' wishes, and the host's state that showed them.
    private var settled: [Wisher: (kind: Wish.Kind, at: Duration)] = [:]
    /// The results shown in this step. They count only if none of the guest's later wishes waits for a disk.
    private var told: [Wisher: (kind: Wish.Kind, at: Duration)] = [:]
    /// Guests that were banned at any time, or were about to be.
    var kicked: Set<Peer.ID> = []
    var spoken = Spoken()
    /// The intents that the host must report after the last write.
    private var expected: [Peer.ID: [GuestIntent]] = [:]

    init(_ scenario: Scenario) {
        self.scenario = scenario
        library = SongLibrary((0..<scenario.songs).map { Self.song($0, scenario) })
    }

    /// Titles have the maximum length, so that states consist of several SDUs.
    private static func song(_ number: Int, _ scenario: Scenario, edition: Int = 1) -> Song {
        Song(
            id: songID(number, scenario),
            title: "Song \(number) " + String(repeating: "la ", count: (number + edition - 1) % 3 * 20),
            artist: "Band \(number)", duration: scenario.songLength / .seconds(1))
    }

    /// The library changes: some songs have other data, and one may be missing.
    mutating func changeLibrary(without number: Int?) {
        editions += 1
        if let number { missed.insert(songID(number)) }
        library = SongLibrary(
            (0..<scenario.songs).filter { $0 != number }.map { Self.song($0, scenario, edition: editions) })
    }

    private static func songID(_ number: Int, _ scenario: Scenario) -> Song.ID {
        let id = "s\(number)"
        return scenario.hasLongIDs ? id + String(repeating: "-", count: DJLimits.songIDBytes - id.utf8.count) : id
    }

    func songID(_ number: Int) -> Song.ID { Self.songID(number, scenario) }

    // MARK: Requests

    /// A guest's person makes a wish for a song.
    mutating func wished(_ guest: Peer.ID, _ song: Song.ID?, by bearer: Bearer = .radio, at now: Duration) {
        guard let song else { return }
        let wisher = Wisher(guest: guest, song: song, bearer: bearer)
        settled[wisher] = nil
        if wishedSince[wisher] == nil { wishedSince[wisher] = now }
    }

    /// A guest's wish waits for its answer. The result of an earlier wish for the song no longer counts.
    mutating func waits(_ guest: Peer.ID, _ song: Song.ID, by bearer: Bearer = .radio, at now: Duration) {
        told[Wisher(guest: guest, song: song, bearer: bearer)] = nil
        wished(guest, song, by: bearer, at: now)
    }

    /// A node's write begins.
    mutating func beginWrite(_ node: Int) {
        guard node == 0 else { return }
        causesOfWrite += causes
        causes = []
    }

    /// A run of the host begins with this epoch and the stored state of an earlier run.
    mutating func hostStarts(epoch: UInt32) {
        (causes, causesOfWrite, expected, lastShown, turns) = ([], [], [:], nil, 0)
        (endings, self.epoch) = (0, epoch)
        spoken.hostStarts()
    }

    /// A node has lost its disk. Old wishes of a guest may still be in transit.
    mutating func lostStore(_ node: Int) {
        settled = settled.filter { node > 0 && $0.key.guest != peers[node] }
        wishedSince = wishedSince.filter { $0.key.guest != peers[node] }
        if node == 0 { queuedSince = [:] }
    }

    /// A run of a guest begins. The guest's disk has wishes for these songs.
    mutating func guestStarts(_ guest: Peer.ID, wishing songs: [Song.ID]) {
        for wisher in songs.map({ Wisher(guest: guest, song: $0) }) {
            wishedSince[wisher] = answeredSince[wisher] ?? wishedSince[wisher]
        }
    }

    // MARK: The host's reports

    /// The host has written messages. It must now report each of them once and in order.
    mutating func expect(_ batch: StoreBatch, _ ledger: Ledger) {
        expected = [:]
        // The messages of a banned guest may or may not count. For a guest with two bearers, the report does not show
        // which bearer was used.
        for (guest, intent) in ledger.intents(in: batch, of: peers[0]) where !kicked.union(shared).contains(guest) {
            expected[guest, default: []].append(intent)
        }
    }

    /// The host has a message that its guest no longer knows. Earlier results for this guest do not count.
    mutating func heardForgotten(_ song: Song.ID, of guest: Peer.ID, at now: Duration) {
        forgottenAt[Wisher(guest: guest, song: song)] = now
    }

    mutating func told(_ intent: GuestIntent, of guest: Peer.ID) -> Finding? {
        guard !shared.contains(guest) else { return nil }
        if browsers.contains(guest), !kicked.contains(guest), !spoken.contains(intent, by: guest) {
            return (.forged, "\(intent) is followed, and its browser has not said so")
        }
        guard peers.contains(guest), !kicked.contains(guest),
            expected[guest]?.isEmpty != false || expected[guest]?.first != intent
        else {
            if expected[guest]?.isEmpty == false { expected[guest]?.removeFirst() }
            return nil
        }
        return (.deliveredTwice, "\(intent) is followed, and not written just before")
    }

    /// Messages that were written but not reported.
    mutating func leftOver() -> Finding? {
        defer { expected = [:] }
        guard let (guest, intents) = expected.first(where: { !$0.value.isEmpty }) else { return nil }
        return (.leftOut, "\(intents) of \(Identity.head(of: guest)) are on the disk, and were not reported")
    }

    /// The host shows a state. `isKept` means that its disk has it.
    mutating func showed(_ snapshot: HostSnapshot, isKept: Bool, at now: Duration) {
        let version = StateVersion(snapshot)
        lastShown = version
        shown[version, default: []].append((snapshot.still, now, isKept))
    }

    /// Whether the host has shown a state.
    func hasShown(_ snapshot: HostSnapshot) -> Bool {
        shown[StateVersion(snapshot)]?.contains { $0.state == snapshot.still } == true
    }

    // MARK: Messages of browsers

    /// A browser has sent a message. Returns the number of its messages about the song.
    mutating func said(_ intent: GuestIntent, by guest: Peer.ID) -> Int {
        // Other votes may complete the majority after this vote was removed from all disks.
        if case .skip = intent { skipIsWanted = true }
        return spoken.add(intent, by: guest)
    }

    /// A browser's message is acknowledged as stored. The host's disk shows it, unless another command has changed the
    /// song since. A song that was voted for, skipped and started again in one step leaves nothing to write; `turns`
    /// shows that.
    mutating func acknowledged(
        _ intent: GuestIntent, of guest: Peer.ID, at said: Duration, count: Int, isRejected: Bool, _ disk: HostRecord?,
        turns: Int?, now: Duration
    ) -> Finding? {
        let isLast = spoken.remove(intent, by: guest, count: count)
        heardAt[Wisher(guest: guest, song: intent.songID ?? "", bearer: .browser)] = now
        guard !isRejected, isLast, turns == self.turns, !kicked.contains(guest), !shared.contains(guest),
            let makesVote = intent.makesVote,
            let songID = intent.songID, let since = queuedSince[songID], since <= said,
            let item = disk?.queue.first(where: { $0.songID == songID }),
            item.voters.contains(guest) != makesVote,
            // A suggested song has no vote yet.
            intent != .suggestSong(songID: item.songID) || item.addedBy != guest
        else { return nil }
        return (.acknowledgedButLost, "\(intent) is said to be safe, and is not on the host's disk")
    }

    // MARK: Results for guests

    /// A guest is shown the result of its wish. `snapshot` is the state that it sees.
    mutating func answered(
        _ guest: Peer.ID, _ song: Song.ID, _ kind: Wish.Kind, _ state: WishState, by bearer: Bearer = .radio,
        seeing snapshot: HostSnapshot?
    ) -> Finding? {
        let wisher = Wisher(guest: guest, song: song, bearer: bearer)
        let since = wishedSince.removeValue(forKey: wisher)
        answeredSince[wisher] = since
        let item = snapshot?.item(song)
        let hasVote = item?.voters.contains(guest) == true
        switch (state, kind) {
        case (.confirmed, .vote), (.confirmed, .takeBack):
            if hasVote != (kind == .vote) { return (.falseAnswer, "\(kind) of \(song) is confirmed, and not shown") }
            // With two bearers, neither knows the last wish on the other. A guest also cannot know more than the host,
            // which may restart without results that are on no disk.
            if !shared.contains(guest), let snapshot, let shown = shown[StateVersion(snapshot)]?.first, shown.isKept {
                told[wisher] = (kind, shown.at)
            }
        case (.confirmed, .suggest):
            let isHeard = heardAt[wisher].map { $0 >= since ?? .zero } == true
            if !hasVote, item?.addedBy != guest, !isHeard {
                return (.falseAnswer, "\(song) is said to be queued, and the host has never heard of it")
            }
        case (.rejected(.notQueued), .vote), (.rejected(.alreadyPlayed), .vote):
            if let since, let queued = queuedSince[song], queued <= since {
                return (.falseAnswer, "a vote for \(song) is rejected, and it was queued all the time")
            }
        default: break
        }
        return nil
    }

    /// A node has finished an event.
    mutating func settle(isAtRest: Bool) {
        if isAtRest, !told.isEmpty { settled.merge(told) { $1 } }
        told = [:]
    }

    // MARK: Consecutive states

    /// The host has a new state on its disk. `turns` is how many songs have begun to play in this run.
    mutating func committed(
        _ before: HostRecord?, _ after: HostRecord, _ intents: [(guest: Peer.ID, intent: GuestIntent)],
        turns: Int = 0, at now: Duration
    ) -> [Finding] {
        let newTurns = turns - self.turns
        // The end of a session is a separate step. Later commands are in a later write.
        let isBeforeEnd = endings > 0
        defer {
            self.turns = turns
            if !isBeforeEnd { causesOfWrite = [] }
        }
        var findings: [Finding] = []
        for (guest, intent) in intents { heardAt[Wisher(guest: guest, song: intent.songID ?? "")] = now }
        if let before, before.epoch > after.epoch {
            findings.append((.epochReused, "\(after.epoch) after \(before.epoch)"))
        }
        // Only the end of a session changes the epoch of a run.
        let isNewSession = after.epoch > epoch
        if isNewSession {
            if endings == 0 { findings.append((.wrongQueue, "the session is over without an end command")) }
            (epoch, endings) = (after.epoch, max(0, endings - 1))
        }
        guard let before, !isNewSession else {
            queuedSince = Dictionary(uniqueKeysWithValues: after.queue.map { ($0.songID, now) })
            (settled, skipIsWanted) = ([:], false)
            return findings
        }
        let all = intents + spoken.all
        if all.contains(where: { if case .skip = $0.intent { true } else { false } }) { skipIsWanted = true }
        let mayPlayNext = mayPlayNext
        let unbroken = Set(
            after.queue.filter { isUnbroken($0, before, after, all, newTurns: newTurns) }.map(\.songID))
        findings += playing(before, after, mayPlayNext)
        for item in after.queue {
            findings += votes(item, before, after, intents, isUnbroken: unbroken.contains(item.songID))
            if !unbroken.contains(item.songID) { queuedSince[item.songID] = now }
        }
        queuedSince = queuedSince.filter { entry in after.queue.contains { $0.songID == entry.key } }
        findings += bans(before, after) + order(after) + confirmed(after)
        if before.nowPlaying != after.nowPlaying { skipIsWanted = false }
        return findings
    }

    private var mayPlayNext: Bool {
        scenario.songLength < .seconds(1_000) || scenario.fairness.majoritySkip && skipIsWanted
            || causesOfWrite.contains { cause in
                switch cause {
                case .host(.skip), .host(.play), .player(.ended), .player(.failed), .library: true
                default: false
                }
            }
    }

    /// Whether a song was present without interruption. False if that is unknown.
    private func isUnbroken(
        _ item: QueuedRecord, _ before: HostRecord, _ after: HostRecord,
        _ intents: [(guest: Peer.ID, intent: GuestIntent)], newTurns: Int
    ) -> Bool {
        guard let old = before.queue.first(where: { $0.songID == item.songID }) else { return false }
        // If nothing else is queued, the song may come back without a request.
        let isPerhapsOut = causesOfWrite.contains { cause in
            switch cause {
            case .host(.remove(item.songID)): true
            case .library: missed.contains(item.songID)
            default: false
            }
        }
        // A resumed session has new numbers.
        if before.epoch != after.epoch { return newTurns == 0 && !isPerhapsOut }
        let (played, plays) = (before.nowPlaying == item.songID, after.nowPlaying == item.songID)
        switch (played, plays) {
        case (false, false): return old.added == item.added
        case (true, true): return newTurns == 0
        // If several songs have begun since the last write, this one may have been among them.
        case (false, true):
            return newTurns == 1 && !isPerhapsOut && !causesOfWrite.contains(.host(.add(item.songID)))
                && !intents.contains { $0.intent == .suggestSong(songID: item.songID) }
        case (true, false): return false
        }
    }

    private func playing(_ before: HostRecord, _ after: HostRecord, _ mayPlayNext: Bool) -> [Finding] {
        var findings: [Finding] = []
        let isResumed =
            before.epoch != after.epoch && before.nowPlaying.map { missed.contains($0) } != false
        if before.nowPlaying != after.nowPlaying, !mayPlayNext, !isResumed {
            let songs = "\(before.nowPlaying ?? "nothing") has become \(after.nowPlaying ?? "nothing")"
            findings.append((.wrongQueue, "\(songs)without a skip"))
        }
        let isButton = causesOfWrite.contains(.host(.play)) || causesOfWrite.contains(.host(.pause))
        if before.isPlaying != after.isPlaying, !isButton, !mayPlayNext, !isResumed {
            findings.append((.wrongQueue, "playing was \(before.isPlaying) and is \(after.isPlaying)"))
        }
        for old in before.queue where !after.queue.contains(where: { $0.songID == old.songID }) {
            guard !mayPlayNext, !causesOfWrite.contains(.host(.remove(old.songID))), !missed.contains(old.songID)
            else { continue }
            findings.append((.wrongQueue, "\(old.songID) has left the queue, and was not removed"))
        }
        return findings
    }

    /// The votes for a song must be the former ones, changed by each written message, in order.
    private func votes(
        _ item: QueuedRecord, _ before: HostRecord, _ after: HostRecord,
        _ intents: [(guest: Peer.ID, intent: GuestIntent)], isUnbroken: Bool
    ) -> [Finding] {
        let old = before.queue.first { $0.songID == item.songID }
        var findings: [Finding] = []
        if Set(item.voters).count < item.voters.count {
            findings.append((.wrongVote, "a guest has voted twice for \(item.songID)"))
        }
        // If the driver adds a song that is already queued, it gets the driver's vote.
        let isAdded = causesOfWrite.contains(.host(.add(item.songID)))
        if old == nil, item.addedBy == peers[0] {
            // The music never stops: a song from the library plays if nothing is queued. If the library has none of the
            // former songs, a new session begins.
            let isNew = before.epoch != after.epoch && before.queue.allSatisfy { missed.contains($0.songID) }
            if !isAdded, !isNew, after.nowPlaying != item.songID {
                findings.append((.wrongQueue, "\(item.songID) is queued, and was not added"))
            }
        } else if old == nil {
            let suggestion = GuestIntent.suggestSong(songID: item.songID)
            if !(intents + spoken.all).contains(where: { $0 == (item.addedBy, suggestion) }) {
                findings.append((.wrongQueue, "\(item.songID) is queued, and no guest has suggested it"))
            }
        }
        for guest in Set(item.voters + (old?.voters ?? []) + intents.map(\.guest)).sorted()
        where guest != peers[0] || !isAdded {
            let (had, has) = (old?.voters.contains(guest) == true, item.voters.contains(guest))
            let said = intents.filter { $0.guest == guest && $0.intent.songID == item.songID }.map(\.intent)
            let isOut = before.banned.contains(guest) || after.banned.contains(guest)
            if spoken.explains(has, for: item.songID, of: guest) { continue }
            if isUnbroken, !isOut {
                let should = said.reduce(had) { $1.makesVote ?? $0 }
                if has != should {
                    findings.append((.wrongVote, "\(name(guest)) has \(has ? "a" : "no") vote for \(item.songID)"))
                }
            } else if has, !had, !said.contains(where: { $0.makesVote == true }) {
                findings.append((.wrongVote, "\(name(guest)) has a vote for \(item.songID) and never gave it"))
            }
        }
        return findings
    }

    private func bans(_ before: HostRecord, _ after: HostRecord) -> [Finding] {
        let back = Set(before.banned).subtracting(after.banned)
        let out = Set(after.banned).subtracting(before.banned).filter { !causesOfWrite.contains(.host(.kick($0))) }
        return back.map { (.banForgotten, "\(name($0)) is not kept out any more") }
            + out.map { (.wrongQueue, "\(name($0)) is banned without a command") }
    }

    /// More votes first, then earlier votes. If the host limits the songs of one guest in a row, the order may differ.
    private func order(_ after: HostRecord) -> [Finding] {
        guard scenario.fairness.songsInARow == nil else { return [] }
        let waiting = after.queue.filter { $0.songID != after.nowPlaying }
        let isInOrder = zip(waiting, waiting.dropFirst()).allSatisfy { first, next in
            (next.voters.count, first.added) < (first.voters.count, next.added)
        }
        return isInOrder ? [] : [(.wrongQueue, "the order is \(waiting.map(\.songID))")]
    }

    /// A confirmed result stays true until the guest makes another wish or the song is gone.
    private func confirmed(_ after: HostRecord) -> [Finding] {
        settled.compactMap { wisher, told -> Finding? in
            guard let since = queuedSince[wisher.song], since <= told.at, !after.banned.contains(wisher.guest),
                let item = after.queue.first(where: { $0.songID == wisher.song }),
                item.voters.contains(wisher.guest) != (told.kind == .vote),
                forgottenAt[wisher].map({ $0 < told.at }) != false,
                !spoken.isLeftBehind(wisher.song, by: wisher.guest)
            else { return nil }
            return (.wrongVote, "\(name(wisher.guest))'s \(told.kind) of \(wisher.song) was confirmed, and is undone")
        }.sorted { $0.1 < $1.1 }
    }

    private func name(_ peer: Peer.ID) -> String {
        peers.firstIndex(of: peer).map { $0 == 0 ? "the host" : "guest \($0)" }
            ?? browsers.firstIndex(of: peer).map { "browser \($0 + 1)" } ?? "an unknown guest"
    }
}

extension HostSnapshot {
    /// The snapshot without the values that change with time alone.
    var still: HostSnapshot {
        var still = self
        still.elapsed = 0
        return still
    }
}
