// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A result of a step, to be performed once the write is durable.
enum StepAction: Sendable {
    case begin
    case effect(AppFeature.Effect)
    case show(NodeEvent)
    case tell(Notice)
    /// The cause of the notice with this code has ended.
    case clear(String)
    /// An event that ends notices has occurred.
    case cleared(by: Problem.Clearer)
    case steer(ReconnectPolicy.Event)
    case share(StateFeed.Event)
    /// The host's invitations have changed. `making` is the one that was just created.
    case showInvitations(making: GivenInvitation?)
    /// Bans this key and ends its link; nil if a ban was lifted.
    case keepOut(Peer.ID?)
    /// A host's session has ended, and the next one has begun. Its guests get a goodbye and join again.
    case sessionEnded
    /// A guest has connected on this link.
    case guestConnected(Peer.ID, on: MeshCore.LinkID)
    case accept(ReceivedMessage)
    /// The same as `accept`, on a vouched link.
    case acknowledge(UInt64, on: MeshCore.LinkID)
    /// Send a message on a vouched link.
    case deliver(MeshMessage, on: MeshCore.LinkID)
    /// A reliable message that waited for the disk may be sent.
    case release(number: UInt64, in: ConversationKey)
    case disconnect(Peer.ID)
    /// Forget the hosts with this head.
    case forgetHost(Peer.ID)
    /// The link to the host is gone, for this reason, and the guest waits for the host.
    case waitForHost(NetworkError)
    case retryRadio
    /// A message could not be sent.
    case notSent(SendError)
    /// The person wants a retry. `isWell` is true if the radio works, the node is linked and covers load.
    case retried(isWell: Bool)
    /// A write has failed. `isFirst` is true for the first failure since the last success.
    case storeFailed(NodeStoreError, isFirst: Bool)
    /// The disk works again. Ask peers for the messages that were declined.
    case askForDeclined
    case answer(Int)
    case quit(ByeReason)
}

extension StepAction {
    /// The host's state, if this act broadcasts it.
    var state: HostSnapshot? { if case .effect(.host(.broadcast(let state))) = self { state } else { nil } }

    /// Whether this act is a host's heartbeat.
    var isHeartbeat: Bool { if case .effect(.host(.heartbeat)) = self { true } else { false } }
}
