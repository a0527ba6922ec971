// SPDX-License-Identifier: Apache-2.0

/// A bug that the simulator plants, to show that it would be found.
///
/// Each is one condition at one site. Only code of this package can plant one (`MeshCore.plant`), for one node, and
/// only in a node that is made for it: nothing else sets it, so a program that uses the library has none and can switch
/// none on. What it costs there is one byte that is compared.
package enum PlantedBug: String, CaseIterable, Sendable {
    /// A message is acknowledged when it has arrived, not when it is safe.
    case acknowledgesUnstored
    /// An acknowledgement covers one message more than is safe.
    case acknowledgesOneTooMany
    /// What the other side says it has got is not looked at on a new link.
    case ignoresDelivered
    /// A message that was made safe stands for the one of that number in whatever epoch the peer has now.
    case confirmsOldNumbers
    /// What was here before is given to the application again.
    case keepsDuplicates
    /// What waits for an acknowledgement goes with its link.
    case dropsOutbox
    /// A node whose store is lost takes the epoch that it had.
    case keepsEpoch
    /// A peer's older link lives on beside its newer one.
    case keepsOldLink
    /// A state update waits through the end of its link, for the next one.
    case keepsLatest
    /// State updates of a new link are compared with those of the last.
    case keepsLatestNumbers
    /// A half of a message is put together with what comes on a new link.
    case keepsFragments
    /// Any number of handshakes may be half open.
    case countsNoStrangers
    /// A known hello connects before anything shows that it is no replay.
    case believesReplays
    /// What stands behind the end of a link is told.
    case tellsAfterEnd
    /// A link is kept when its channel is gone.
    case keepsLinks
    /// An outbox has no limit.
    case growsOutbox
    /// An initiator that comes while its older link stands is refused.
    case refusesReturning
    /// A message leaves before it is stored. This one is the node's that owns a `MeshCore`, not the protocol's.
    case leavesUnstored
}

extension MeshCore {
    /// Plants a bug in a node that has no links yet.
    package mutating func plant(_ bug: PlantedBug?) {
        plantedBug = bug
        for peer in conversations.keys { conversations[peer]?.plantedBug = bug }
    }
}
