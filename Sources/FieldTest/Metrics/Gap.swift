// SPDX-License-Identifier: Apache-2.0

import BLETransport
import MeshNode
import MeshProtocol

/// A time without a link to a peer that had one, and the way back. All times are seconds since the drive began.
public struct Gap: Codable, Hashable, Sendable {
    /// With whom.
    public var peer: Peer.ID
    /// When nothing came any more, as far as a node can know: when the link was lost, less the silence that ended it.
    public var start: Double
    /// When the link was lost.
    public var lost: Double
    /// When the other side was in range again, as far as a node can know: what told so, less what that takes. Nil where
    /// nothing told so.
    public var inReach: Double?
    /// When an advertisement of it, or a link to it, was there.
    public var heard: Double?
    /// When the channel was open.
    public var dialled: Double?
    /// When both sides had introduced themselves.
    public var resumed: Double?
    /// When the state was on view.
    public var current: Double?

    /// The end of the gap: the first that tells that the other side is there. Nil where it lasts.
    public var end: Double? { [inReach, dialled, resumed, current].compactMap(\.self).min() }

    /// How long it lasted, in seconds.
    public var length: Double? { end.map { $0 - start } }

    /// From the end of the gap until everything was as before, in seconds. Nil where nothing but the last step told of
    /// the end, as at a host.
    public var reconnect: Double? {
        guard let end, let back = current ?? resumed, end < back else { return nil }
        return back - end
    }
}

/// Puts a drive's gaps together: rows go in, in order.
struct GapFinder {
    private(set) var gaps: [Gap] = []
    private var open: [String: Int] = [:]
    private(set) var isLinked: Set<String> = []
    private(set) var hadLink = false
    /// Gaps that are over but for the state.
    private var awaitsState: [String: Int] = [:]

    mutating func take(_ row: ContactRow, at: Double) {
        // A host that was only heard is known by the head of its identifier.
        let head = Identity.head(of: row.peer)
        switch row.phase {
        case .lost: lose(head, row, at: at)
        case .heard:
            update(head) { gap in
                if gap.heard == nil {
                    gap.heard = at
                    gap.inReach = Self.inReach(gap, row.evidence)
                }
                // A dial that led to nothing has told something all the same; what counts is the one that worked.
                gap.dialled = nil
            }
        case .dialled: update(head) { $0.dialled = at }
        case .resumed:
            isLinked.insert(head)
            hadLink = true
            update(head) { $0.resumed = at }
            if let index = open.removeValue(forKey: head) { awaitsState[head] = index }
        case .current: if let index = awaitsState.removeValue(forKey: head) { gaps[index].current = at }
        }
    }

    private mutating func lose(_ head: String, _ row: ContactRow, at: Double) {
        awaitsState[head] = nil
        // Only a link that was there can leave a gap, and only one that nobody wanted to end.
        guard isLinked.remove(head) != nil, let silence = row.silence, open[head] == nil else { return }
        open[head] = gaps.count
        gaps.append(Gap(peer: row.peer, start: max(0, at - silence), lost: at))
    }

    /// A link by a dial that was pending is there one and a half advertising intervals after the other side is in
    /// reach, on average. A host that has lost its guest for long advertises more slowly.
    private static func inReach(_ gap: Gap, _ evidence: Contact.Evidence?) -> Double? {
        guard let heard = gap.heard else { return nil }
        guard evidence == .link else { return heard }
        let isSlow = heard - gap.lost > RadioLimits.eagerAdvertising / .seconds(1)
        let lag = isSlow ? FieldTestLimits.slowLinkLag : FieldTestLimits.linkLag
        return max(gap.start, heard - lag / .seconds(1))
    }

    private mutating func update(_ head: String, _ body: (inout Gap) -> Void) {
        if let index = open[head] { body(&gaps[index]) }
    }
}
