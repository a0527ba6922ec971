// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// The people of a field: what they see, and their votes. Each votes for the same song again and again.
struct FieldPeople {
    /// A vote without or with its answers.
    struct Vote {
        let cast: Int
        /// When the host counted it, and when the person saw that.
        var counted: Int?
        var confirmed: Int?
        /// The host's revision that counted it.
        var revision: UInt64?
    }

    /// A host's state, and the number of its guests that have seen this state or a later one.
    private struct Shown {
        let at: Int
        var seenBy = 0
        /// When all guests had seen it.
        var seenAt: Int?
    }

    private struct Person {
        let host: Int
        /// When its node first reached each stage.
        var stages = [Int?](repeating: nil, count: FieldStage.allCases.count)
        var isGone = false
        var isConnected = false
        var epoch: UInt32 = 0
        var revision: UInt64 = 0
        /// A host's states, by revision.
        var states: [Shown] = []
        /// Number of a host's guests that are still in the field.
        var audience = 0
        /// Number of lost connections.
        var losses = 0
        /// It has voted, and has not removed the vote.
        var wants = false
        var vote: Vote?
    }

    private var people: [Person]
    /// Nodes by their identifier.
    private let nodes: [Peer.ID: Int]

    /// The person at each of these nodes has a host.
    init(_ peers: [Peer.ID], hosts: [Int]) {
        people = hosts.map { Person(host: $0) }
        nodes = Dictionary(uniqueKeysWithValues: peers.enumerated().map { ($1, $0) })
        for (node, host) in hosts.enumerated() where node != host { people[host].audience += 1 }
    }

    // MARK: What is known of a person

    func isGone(_ node: Int) -> Bool { people[node].isGone }
    func isConnected(_ node: Int) -> Bool { people[node].isConnected }
    func revision(_ node: Int) -> UInt64 { people[node].revision }
    func vote(_ node: Int) -> Vote? { people[node].vote }
    /// Whether a person has no open vote.
    func isAnswered(_ node: Int) -> Bool { people[node].vote.map { $0.confirmed != nil } ?? true }
    func reached(_ stage: FieldStage, _ node: Int) -> Int? { people[node].stages[stage.rawValue] }

    /// Number of lost connections of all.
    var losses: Int { people.reduce(0) { $0 + $1.losses } }

    /// Whether a person sees a state of its host's current session, and whether it is the current state.
    func showsSession(_ node: Int) -> Bool { people[node].epoch == people[people[node].host].epoch }

    func isCurrent(_ node: Int) -> Bool {
        isConnected(node) && showsSession(node) && people[node].revision == people[people[node].host].revision
    }

    /// The time from a vote until all guests of its host see it.
    func delayUntilAllSee(_ node: Int) -> Int? {
        guard let vote = people[node].vote, let counted = vote.counted, let revision = vote.revision,
            // The host's state that first showed the vote.
            let state = people[people[node].host].states[Int(revision)...].first(where: { $0.at >= counted })
        else { return nil }
        return state.seenAt.map { $0 - vote.cast }
    }

    // MARK: Events

    /// A node has reached a stage. Only the first time counts.
    mutating func reaches(_ stage: FieldStage, _ node: Int, at now: Int) {
        if people[node].stages[stage.rawValue] == nil { people[node].stages[stage.rawValue] = now }
    }

    /// The song for which the person at a node votes: one of the queued songs, always the same.
    private static func song(of node: Int) -> Song.ID { "s\(1 + node % (FieldScenario.songs - 1))" }

    /// The person at a node votes, or removes the vote.
    mutating func votes(_ node: Int, at now: Int) -> NodeInput {
        people[node].wants.toggle()
        people[node].vote = Vote(cast: now)
        let song = Self.song(of: node)
        return .guest(people[node].wants ? .vote(song) : .takeBackVote(song))
    }

    /// A node is gone with its person.
    mutating func leaves(_ node: Int) {
        (people[node].isGone, people[node].isConnected) = (true, false)
        people[people[node].host].audience -= 1
    }

    /// A person sees something. Returns what is wrong about it.
    mutating func sees(_ event: NodeEvent, _ node: Int, at now: Int) -> Finding? {
        switch event {
        case .connection(let state):
            let was = people[node].isConnected
            people[node].isConnected = state == .connected
            if state == .connected { reaches(.connected, node, at: now) }
            if was, !people[node].isConnected { people[node].losses += 1 }
        case .snapshot(let snapshot, let isStale): return isStale ? nil : sees(snapshot, node, at: now)
        case .wish(_, _, .confirmed):
            if people[node].vote?.confirmed == nil { people[node].vote?.confirmed = now }
        case .wish(let song, _, .rejected(let reason)):
            return (.falseAnswer, "its vote for \(song) is rejected: \(reason)")
        case .intent(_, let peer, nil):
            guard let voter = nodes[peer.id], people[voter].vote?.counted == nil else { break }
            let revision = people[node].revision
            people[voter].vote?.counted = now
            people[voter].vote?.revision = revision
        default: break
        }
        return nil
    }

    private mutating func sees(_ snapshot: HostSnapshot, _ node: Int, at now: Int) -> Finding? {
        let before = people[node].epoch == snapshot.epoch ? people[node].revision : 0
        people[node].revision = snapshot.revision
        guard snapshot.revision >= before else { return (.staleUpdate, "state \(snapshot.revision) after \(before)") }
        people[node].epoch = snapshot.epoch
        let host = people[node].host
        reaches(.shown, node, at: now)
        if snapshot.revision == people[host].revision { reaches(.current, node, at: now) }
        if node == host {
            while people[host].states.count <= Int(snapshot.revision) { people[host].states.append(Shown(at: now)) }
            return nil
        }
        guard snapshot.revision < people[host].states.count else {
            return (.wrongState, "state \(snapshot.revision), which its host has not shown")
        }
        for revision in Int(before)..<Int(snapshot.revision) {
            people[host].states[revision + 1].seenBy += 1
            guard people[host].states[revision + 1].seenBy == people[host].audience else { continue }
            people[host].states[revision + 1].seenAt = now
        }
        return nil
    }

    /// The votes on a host's disk that are not those of its guests, by the guest. Each vote counts once, and no other.
    func wrongVotes(of host: Int, _ disk: HostRecord?) -> [(node: Int, finding: Finding)] {
        var counted: [Int: [Song.ID]] = [:]
        for item in disk?.queue ?? [] {
            for node in item.voters.compactMap({ nodes[$0] }) { counted[node, default: []].append(item.songID) }
        }
        return people.indices.compactMap { node in
            // Skip a person that still waits for an answer.
            guard people[node].host == host, node != host, people[node].vote.map({ $0.counted != nil }) ?? true
            else { return nil }
            let expected = people[node].wants ? [Self.song(of: node)] : []
            let found = counted[node] ?? []
            return found == expected ? nil : (node, (.wrongVote, "it has voted for \(expected), and it has \(found)"))
        }
    }

    /// Adds what was shown to a hash.
    func fold(_ node: Int, into hash: inout TraceHash) {
        hash.add([Int(people[node].revision), people[node].vote?.confirmed ?? 0, people[node].losses])
    }
}
