// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import MeshSession

/// A host as a guest's person is told of it: one that was joined before, or one that is in range.
public struct ShownHost: Hashable, Sendable, Encodable {
    /// Who; of one that is only heard, by the head of its identifier.
    public var peer: Peer
    /// Whether it was joined before.
    public var known: Bool
    /// Whether it is heard, itself or through a relay.
    public var inRange: Bool
    /// Whether this guest is linked to it.
    public var joined: Bool
    /// Whether it has the name of one that was joined, and another key.
    public var other: Bool
}

// The hosts that a guest knows, and which one it is to join.

extension NodeDecisions {
    /// Those that were joined, the guest's own and then the last of them first, and then the others that are in range.
    var shownHosts: [ShownHost] {
        let (known, heard, linked) = (policy.known, inRange.hosts, app.guest?.state.host?.id)
        let joined = known.hosts.reversed().map { host in
            ShownHost(
                peer: host, known: true, inRange: heard.contains { $0.id == Identity.head(of: host.id) },
                joined: host.id == linked, other: false)
        }
        let others = heard.filter { !known.contains($0.id) }.map { host in
            ShownHost(
                peer: host, known: false, inRange: true, joined: false, other: known.host(copiedBy: host) != nil)
        }
        return joined + others
    }

    /// A host has let this guest in.
    mutating func noteJoined(_ host: Peer, _ context: inout Context) -> [Act] {
        policy.noteJoined(host) ? noteHosts(&context) : []
    }

    private func noteHosts(_ context: inout Context) -> [Act] {
        context.memory.note(knownHosts: policy.known.hosts)
        return [.show(.hosts(shownHosts, isAnswer: false))]
    }

    /// The person wants this host, by name or identifier, and leaves the one that this guest is linked to.
    mutating func join(_ text: String, _ context: inout Context) -> [Act] {
        guard let guest = app.guest else { return [] }
        let known = policy.known.hosts.meant(by: text)
        let heard = known.isEmpty ? inRange.hosts.filter { !policy.known.contains($0.id) }.meant(by: text) : []
        if (known + heard).count > 1 { return [.tell(Notice(.severalHosts(known + heard)))] }
        if let host = guest.state.host, [host].meant(by: text).first != nil {
            return [.tell(Notice(.joinedAlready(host.name)))]
        }
        // One that was joined is meant by its key. One that is only heard keeps its name, which it has to prove to have.
        let wanted = known.first?.id ?? (Identity.digits(in: text) == nil ? heard.first?.name : nil) ?? text
        changedKey = nil
        let leaving =
            guest.state.host.map { [Act.disconnect($0.id)] + ask(.guest(.gaveUp), &context) + [.steer(.leave)] } ?? []
        return leaving + [.cleared(by: .retried), .steer(.want(wanted))]
    }

    /// Several hosts in range may be meant by the name that the person has typed: nil if not. They are asked about once.
    mutating func askWhichHost() -> [Act]? {
        let rivals = policy.rivals(among: inRange.hosts)
        defer { askedHosts = Set(rivals.map(\.id)) }
        guard !rivals.isEmpty else { return nil }
        return askedHosts == Set(rivals.map(\.id)) ? [] : [.tell(Notice(.severalHosts(rivals)))]
    }

    /// The person was given an invitation.
    mutating func join(_ invitation: Invitation, _ context: inout Context) -> [Act] {
        guard invitation.service == context.mesh.service else { return [.tell(Notice(.noInvitation))] }
        context.mesh.secret = invitation.joiningSecret
        return join(invitation.host, &context)
    }

    /// The person wants a host forgotten: its key, its name, and what was to be said to it.
    mutating func forgetHost(_ text: String, _ context: inout Context) -> [Act] {
        guard let guest = app.guest else { return [] }
        guard !context.isWithoutStore else { return [.tell(Notice(CommandProblem.notKept))] }
        let meant = policy.known.hosts.meant(by: text)
        guard let host = meant.first else { return [.tell(Notice(.noSuchHost(text)))] }
        guard meant.count == 1 else { return [.tell(Notice(.severalHosts(meant)))] }
        guard guest.state.host?.id == host.id else { return forget(host.id, &context) }
        // At once, and not when the link has ended: what was wanted of it is then of nobody.
        let left = ask(.multipeerEvent(.peerDisconnected(host, reason: .goodbye)), &context)
        return [.disconnect(host.id)] + left + [.steer(.leave)] + forget(host.id, &context)
    }

    /// Forgets the hosts whose identifiers begin like this.
    mutating func forget(_ head: Peer.ID, _ context: inout Context) -> [Act] {
        let hosts = policy.known.forget(withHead: head) ? noteHosts(&context) : []
        return [.forgetHost(head)] + ask(.guest(.forgotHost(head)), &context) + hosts
    }
}
