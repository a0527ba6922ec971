// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

extension NodeCore {
    /// An output of the node, for its owner to perform.
    public enum Action: Sendable {
        /// Host or scan.
        case startRadio
        /// Stop scanning.
        case stopScanning
        /// Retry to make this node visible to guests.
        case retryRadio
        /// A link opened or closed. Legacy advertising stops at this point and must be restarted.
        case linksChanged
        /// Dial the host with this head. `expecting` is its identifier, or its head if the identifier is unknown.
        case dial(Int, head: Peer.ID, expecting: Peer.ID)
        /// Cancel this dial.
        case cancelDial(Int)
        /// Open a link in a circuit: send `opened` with random bytes. It must contain the dial and the expected peer,
        /// if any. `NodeLoop` does that.
        case openCircuit(CircuitPlace, dial: Int?, expecting: Peer.ID?)
        /// Advertise this node as a relay with this content; nil stops that.
        case relay(RelayNotice?)
        /// Advertise whether this host reserves its last slots for relays.
        case placesForRelays(Bool)
        /// A link has something to send. Call `nextSDU` until it returns nil.
        case wake(MeshCore.LinkID)
        /// Close a channel. With `afterFinalFrame`, send the remaining SDUs from `nextSDU` first.
        case close(MeshCore.LinkID, afterFinalFrame: Bool)
        /// Send a message to the peer of a vouched link.
        case deliver(MeshMessage, on: MeshCore.LinkID)
        /// The message with this number on a vouched link is stored.
        case acknowledge(UInt64, on: MeshCore.LinkID)
        /// A vouched link has ended or was refused. Nothing follows on it.
        case end(MeshCore.LinkID, LinkEnd)
        /// Ask the radio for a link's signal strength and condition. `measured` is the response.
        case measure(MeshCore.LinkID)
        /// Give the radio a note that the peer's radio has made about this link.
        case heed(MeshCore.LinkID, AirNote)
        /// Write this as one transaction. The response is `written` or `writeFailed`. Only one write is pending at a
        /// time.
        case write(StoreBatch)
        /// Retry failed downloads now, because the person has asked for it.
        case retryCovers
        /// Search the host's library. The response is `found`.
        case search(SearchRequest, for: Peer.ID)
        /// Load the covers of these visible songs. The song that plays comes first.
        case fetchCovers([Song])
        /// Make a song's cover small enough for the air. The response is `coverMade`. Only one request is pending at a
        /// time.
        case makeCover(Song.ID)
        /// Save a cover that was received over the air. The response is `cover` with the file.
        case keepCover(Song.ID, [UInt8])
        /// Send this to the node's displays.
        case show(NodeEvent)
        /// A peer has broken the protocol in this way. `count` is the number of such violations so far. For the log.
        case misbehaved(Misbehaviour, who: String, count: Int)
        /// A write has failed. `isFirst` is true for the first failure since the last success. For the log.
        case storeFailed(NodeStoreError, isFirst: Bool)
        /// The response to `asked` with this number.
        case answered(Int)
        /// A message could not be sent; for the log. `count` is the number of failures with this cause.
        case notSent(SendError, count: Int)
        /// The node must end, for this reason.
        case quit(ByeReason)
    }

    /// The content of a relay's advertisement.
    public struct RelayNotice: Hashable, Sendable {
        /// The host to which its circuits lead.
        public var host: Peer
        /// Number of links from the relay to the host, at least 1.
        public var hops: Int
        /// Whether the relay accepts another node.
        public var hasRoom: Bool
        /// Whether the relay's last slots are reserved for relays.
        public var placesForRelays: Bool
        /// Whether the host asks for a PIN.
        public var asksForPIN: Bool
    }
}
