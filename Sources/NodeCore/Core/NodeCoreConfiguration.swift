// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

extension NodeCore {
    /// The data from which a node is created.
    public struct Configuration: Sendable {
        /// The node's description for people and programs.
        public var description: NodeDescription
        /// The node's key.
        public var identity: Identity
        /// The role in which the node starts.
        public var part: Part
        /// The stored data of earlier runs.
        public var contents: StoredNode
        /// The path to which a damaged database was moved; nil if there was no damage.
        public var setAside: String?
        /// The instant at which the node's time was zero, to compare its times with those of other clocks.
        public var origin: ContinuousClock.Instant
        /// A random number that spreads the pauses between dials.
        public var seed: UInt64

        /// Creates a configuration.
        public init(
            _ part: Part, _ description: NodeDescription, identity: Identity, contents: StoredNode,
            setAside: String? = nil, origin: ContinuousClock.Instant, seed: UInt64
        ) {
            self.part = part
            self.description = description
            self.identity = identity
            self.contents = contents
            self.setAside = setAside
            self.origin = origin
            self.seed = seed
        }
    }

    /// The role in which a node starts.
    public enum Part: Sendable {
        /// A host with a library.
        case host(Hosting)
        /// A guest that joins the host with this name or identifier.
        ///
        /// If `wanted` is nil, it joins hosts that it has joined before. It joins any host if `joinsAny` is true or if
        /// it knows none. With `relays` it carries other nodes. With a `secret` it proves the secret to the host, and
        /// it joins only hosts that can prove the secret as well. A guest that is `isQuiet` saves power: it and its host
        /// ping each other every ten seconds (`NodeLimits.quietSilence`). Its votes are as fast.
        case guest(
            wanted: String?, joinsAny: Bool = false, relays: Bool = false, secret: JoiningSecret? = nil,
            isQuiet: Bool = false)

        /// The node's role in its conversations.
        var role: LinkRole { if case .host = self { .responder } else { .initiator } }

        /// Whether the host accepts only bonded guests.
        var requiresBond: Bool { if case .host(let hosting) = self { hosting.requiresBond } else { false } }

        /// How long the node may be silent on its links.
        fileprivate var silence: Duration {
            if case .guest(_, _, _, _, true) = self { NodeLimits.quietSilence } else { Limits.pongTimeout }
        }

        var relays: Bool { if case .guest(_, _, true, _, _) = self { true } else { false } }
    }
}

extension NodeCore.Configuration {
    /// The protocol as an earlier run left it.
    var mesh: MeshCore {
        var mesh = MeshCore(
            identity: identity, name: description.peer.name, service: description.service,
            remembered: contents.remembered, holdsUntilStored: true, silence: part.silence,
            relays: part.relays)
        switch part {
        case .host(let hosting):
            mesh.takesCircuits = true
            mesh.admissionPolicy = AdmissionPolicy(
                pin: hosting.pin, invitations: contents.invitations, wallClockSeconds: hosting.wallClockSeconds)
        case .guest(_, _, _, let secret, _):
            mesh.secret = secret
            mesh.unanswered = UnansweredProofs(contents.unanswered)
        }
        return mesh
    }
}
