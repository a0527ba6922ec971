// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

extension NodeDecisions {
    /// The input of a step: the conversations that hold messages, and the content of the next write.
    struct Context {
        var mesh: MeshCore
        /// How a guest reaches its host. A step reads it, and its acts change it.
        var route: Route
        /// This node's side of all conversations.
        let role: LinkRole
        var memory: NodeMemory
        var now: MeshInstant
        /// The last decoded message, because an arriving message is read before its step and again in it.
        private var last: (bytes: [UInt8], message: MeshMessage?)?
        /// Decoded messages that nodes of a simulation share.
        var reading: SharedReading?
        /// The disk has failed, so results that would have to be written first may not be sent.
        var isWithoutStore = false
        /// The way in which the message that the node decides on has arrived.
        enum Asker: Sendable {
            /// The message has arrived on this vouched link.
            case link(MeshCore.LinkID)
            /// The message has arrived in the peer's conversation.
            case radio
        }

        var asker: Asker?

        init(mesh: MeshCore, route: Route, role: LinkRole, memory: NodeMemory, now: MeshInstant) {
            (self.mesh, self.route, self.role, self.memory, self.now) = (mesh, route, role, memory, now)
        }

        /// Decodes a peer's message; nil if it is malformed.
        mutating func read(_ bytes: [UInt8]) -> MeshMessage? {
            if let last, last.bytes == bytes { return last.message }
            let message = reading.map { $0.message(bytes) } ?? MeshMessage(encoded: bytes)
            last = (bytes, message)
            return message
        }

        func key(of peer: Peer.ID) -> ConversationKey { mesh.key(peer, as: role) }

        /// Stores and shows the changed invitations.
        mutating func noteInvitations(making given: GivenInvitation? = nil) -> [StepAction] {
            memory.note(mesh.admissionPolicy.invitations)
            return [.showInvitations(making: given)]
        }

        /// The person asks for one more attempt with the PIN.
        mutating func allowOneProof() {
            if mesh.allowOneProof() { memory.note(unanswered: mesh.unanswered.rows) }
        }
    }
}
