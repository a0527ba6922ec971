// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A host as the guest's person sees it: a known host, or one in range.
public struct ShownHost: Hashable, Sendable, Encodable {
    /// The host. Its identifier is a head if the host was only heard.
    public var peer: Peer
    /// Whether this guest has joined it before.
    public var known: Bool
    /// Whether the host is heard, directly or through a relay.
    public var inRange: Bool
    /// Whether this guest is linked to the host.
    public var joined: Bool
    /// Whether the host has the name of a known host but another key.
    public var other: Bool
}

// The hosts that a guest knows, and which of them it should join.

extension NodeDecisions {
    /// The guest's own host, then the other known hosts, last joined first, and then the other hosts in range.
    var shownHosts: [ShownHost] {
        let (heard, linked) = (reported.hosts, app.guest?.state.host?.id)
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

    /// Records that a host has admitted this guest.
    mutating func noteJoined(_ host: Peer, _ context: inout Context) -> [StepAction] {
        known.joined(host, asOwn: context.route.policy.isHostNamed) ? noteHosts(&context) : []
    }

    private func noteHosts(_ context: inout Context) -> [StepAction] {
        context.memory.note(knownHosts: known.hosts)
        return [.show(.hosts(shownHosts, isAnswer: false))]
    }

    /// Joins the host with this name or identifier, and leaves the present one.
    mutating func join(_ text: String, _ context: inout Context) -> [StepAction] {
        guard let guest = app.guest else { return [] }
        let joined = known.hosts.meant(by: text)
        let heard = joined.isEmpty ? reported.hosts.filter { !known.contains($0.id) }.meant(by: text) : []
        if (joined + heard).count > 1 { return [.tell(Notice(.severalHosts(joined + heard)))] }
        if let host = guest.state.host, [host].meant(by: text).first != nil {
            return [.tell(Notice(.joinedAlready(host.name)))]
        }
        // A joined host is identified by its key. A host that is only heard is identified by its name, which it has to
        // prove.
        let wanted = joined.first?.id ?? (Identity.digits(in: text) == nil ? heard.first?.name : nil) ?? text
        changedKey = nil
        let leaving =
            guest.state.host.map { [StepAction.disconnect($0.id)] + ask(.guest(.gaveUp), &context) + [.steer(.leave)] }
            ?? []
        return leaving + [.cleared(by: .retried), .steer(.want(wanted))]
    }

    /// A question about which host the person means, if several hosts in range may have the typed name; otherwise nil.
    /// The person is asked once.
    mutating func askWhichHost(_ context: Context) -> [StepAction]? {
        let rivals = context.route.policy.rivals(among: reported.hosts)
        defer { askedHosts = Set(rivals.map(\.id)) }
        guard !rivals.isEmpty else { return nil }
        return askedHosts == Set(rivals.map(\.id)) ? [] : [.tell(Notice(.severalHosts(rivals)))]
    }

    /// Joins the host of an invitation.
    mutating func join(_ invitation: Invitation, _ context: inout Context) -> [StepAction] {
        guard invitation.service == context.mesh.service else { return [.tell(Notice(.noInvitation))] }
        context.mesh.secret = invitation.joiningSecret
        return join(invitation.host, &context)
    }

    /// Forgets a host: its key, its name and the messages that are queued for it.
    mutating func forgetHost(_ text: String, _ context: inout Context) -> [StepAction] {
        guard let guest = app.guest else { return [] }
        guard !context.isWithoutStore else { return [.tell(Notice(CommandProblem.notKept))] }
        let meant = known.hosts.meant(by: text)
        guard let host = meant.first else { return [.tell(Notice(.noSuchHost(text)))] }
        guard meant.count == 1 else { return [.tell(Notice(.severalHosts(meant)))] }
        guard guest.state.host?.id == host.id else { return forget(host.id, &context) }
        // Report the end now, not when the link has ended, so that the wishes for this host then belong to no host.
        let left = ask(.multipeerEvent(.peerDisconnected(host, reason: .goodbye)), &context)
        return [.disconnect(host.id)] + left + [.steer(.leave)] + forget(host.id, &context)
    }

    /// Forgets the hosts with this head.
    mutating func forget(_ head: Peer.ID, _ context: inout Context) -> [StepAction] {
        let hosts = known.forget(withHead: head) ? noteHosts(&context) : []
        return [.forgetHost(head)] + ask(.guest(.forgotHost(head)), &context) + hosts
    }
}
