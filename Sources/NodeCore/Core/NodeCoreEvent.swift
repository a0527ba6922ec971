// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

extension NodeCore {
    /// An input of the node.
    public enum Event: Sendable {
        /// The radio hosts or scans for the first time, so the node is ready.
        case started
        /// A host or a relay is in range, or is heard again.
        case heard(HeardNode)
        /// A host that this node is linked to is heard on a better bearer than the link's.
        case better(Peer)
        /// A host or a relay is not heard any more.
        case unheard(Peer)
        /// The radio has a link without a channel yet. The peer is nil if the radio does not know the host.
        case reached(Peer?)
        /// The radio does not work, for this reason.
        case radioFailed(NetworkError)
        /// The radio works, possibly again.
        case radioRecovered
        /// The radio has repaired something without a person's help.
        case radioRepaired(Notice)
        /// The adapter's default parameters.
        case adapterTimed(AdapterTiming)
        /// The state of the broker that the node uses in addition to its radio.
        case broker(BrokerReport)
        /// A channel has opened.
        case opened(MeshCore.LinkID, Opening)
        /// A dial has ended without a channel. `refusal` is the reason, if the radio knows it.
        case dialFailed(Int, refusal: RefusalReason?)
        /// An SDU has arrived on a channel.
        case received([UInt8], on: MeshCore.LinkID)
        /// A channel has closed.
        case channelClosed(MeshCore.LinkID)
        /// A bearer that vouches for its peers has linked one, or the peer of such a link has a new name. No handshake
        /// follows.
        case joined(MeshCore.LinkID, Peer)
        /// Like `joined`, for a peer that claims to know the secret that the host asks for.
        case claimed(MeshCore.LinkID, Peer, JoiningSecret)
        /// The peer of a vouched link has sent a message. The node acknowledges it by this number when it is stored.
        case said(MeshMessage, number: UInt64, on: MeshCore.LinkID)
        /// A vouched link has ended.
        case left(MeshCore.LinkID, LinkEnd)
        /// The radio's data about a link, in response to `measure`.
        case measured(MeshCore.LinkID, rssi: Int?, LinkCondition?)
        /// The last `write` is on disk.
        case written
        /// The last `write` has failed.
        case writeFailed(NodeStoreError)
        /// An input from outside the network: a person, a player or a page.
        case input(NodeInput)
        /// The results of a guest's search.
        case found(SearchResults, for: Peer.ID)
        /// The file of a song's cover.
        case cover(Song.ID, path: String)
        /// Covers cannot be loaded, for this reason. The person is notified unless the failure is expected.
        case coverFailed(NetworkError, isExpected: Bool = false)
        /// Covers no longer fail for this reason.
        case coverRecovered(NetworkError)
        /// A song's cover in a size for the air, or nil for a song without one. The response to `makeCover`.
        case coverMade(Song.ID, SmallCover?)
        /// Time has passed: see `deadline`.
        case tick
        /// Checks that the node still takes steps. `answered` follows when all earlier events are decided.
        case asked(Int)
        /// The node must end. It sends goodbyes and writes its last state.
        case end
    }

    /// An open channel.
    public struct Opening: Sendable {
        /// Whether this node has dialled or was dialled.
        public var role: LinkRole
        /// Largest SDU that the peer accepts, in bytes.
        public var sendMTU: Int
        /// The dial that opened this channel; nil for an accepted channel.
        public var dial: Int?
        /// The identifier that the dialled host must prove, or the head of one.
        public var expected: Peer.ID?
        /// The flags that this host has advertised; nil if it was not heard.
        public var advertised: AdvertisedFlags?
        /// Why this node refuses the peer of this link; nil if it may be admitted.
        public var refusal: RefusalReason?
        /// The bearer of the channel; nil if unknown.
        public var bearer: BearerKind?
        /// The circuit of the link; nil for a direct channel.
        public var place: CircuitPlace?
        /// Random bytes for the link.
        public var entropy: MeshCore.Entropy

        /// Creates a direct channel.
        public init(
            _ role: LinkRole, sendMTU: Int, dial: Int? = nil, expected: Peer.ID? = nil,
            advertised: AdvertisedFlags? = nil, refusal: RefusalReason? = nil, bearer: BearerKind? = nil,
            entropy: MeshCore.Entropy
        ) {
            self.expected = expected
            self.advertised = advertised
            self.role = role
            self.sendMTU = sendMTU
            self.dial = dial
            self.refusal = refusal
            self.bearer = bearer
            self.entropy = entropy
        }

        /// Creates a link in a circuit that this node has dialled or that a peer has offered.
        public init(in place: CircuitPlace, dial: Int? = nil, expected: Peer.ID? = nil, entropy: MeshCore.Entropy) {
            self.init(
                place.host == nil ? .responder : .initiator, sendMTU: Limits.innerSDUBytes, dial: dial,
                expected: expected, entropy: entropy)
            self.place = place
        }
    }
}
