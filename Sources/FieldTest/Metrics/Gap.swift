// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol
import NodeCore

/// A time without a link to a peer that had one, and the reconnect. All times are seconds since the start of the drive.
public struct Gap: Codable, Hashable, Sendable {
    /// The peer.
    public var peer: Peer.ID
    /// The last received data, as far as a node can know: when the link was lost, less the silence that ended it.
    public var start: Double
    /// When the link was lost.
    public var lost: Double
    /// When the other side was in range again, as far as a node can know: the first sign of the other side, less the
    /// time that this sign takes. Nil without such a sign.
    public var inReach: Double?
    /// When the peer's advertisement was received, or a link to the peer was made.
    public var heard: Double?
    /// When the channel opened.
    public var dialled: Double?
    /// When both sides had sent their hellos.
    public var resumed: Double?
    /// When the state was shown.
    public var current: Double?

    /// The end of the gap: the first sign of the other side. Nil if the gap has not ended.
    public var end: Double? { [inReach, dialled, resumed, current].compactMap(\.self).min() }

    /// The length of the gap, in seconds.
    public var length: Double? { end.map { $0 - start } }

    /// Seconds from the end of the gap until the state was current. Nil if only the last step was a sign of the end, as
    /// at a host.
    public var reconnect: Double? {
        guard let end, let back = current ?? resumed, end < back else { return nil }
        return back - end
    }
}

extension Sequence<Gap> {
    /// The times without a link, in order and without overlaps: gaps of several peers may overlap. A gap that has not
    /// ended ends with the drive, after `seconds`.
    func spans(_ seconds: Double) -> [(start: Double, end: Double)] {
        var spans: [(start: Double, end: Double)] = []
        for gap in sorted(by: { $0.start < $1.start }) {
            let (start, end) = (Swift.max(gap.start, spans.last?.end ?? 0), gap.end ?? seconds)
            if end > start { spans.append((start, end)) }
        }
        return spans
    }
}

/// Finds a drive's gaps from its rows, which must come in order.
struct GapFinder {
    private(set) var gaps: [Gap] = []
    private var open: [String: Int] = [:]
    private(set) var isLinked: Set<String> = []
    private(set) var hadLink = false
    /// Gaps that have ended, except that the state is not current yet.
    private var awaitsState: [String: Int] = [:]

    mutating func take(_ row: ContactRow, at: Double) {
        // A scan result has only the head of the host's identifier.
        let head = Identity.head(of: row.peer)
        switch row.phase {
        case .lost: lose(head, row, at: at)
        case .heard:
            update(head) { gap in
                if gap.heard == nil {
                    gap.heard = at
                    gap.inReach = Self.inReach(gap, row.evidence)
                }
                // A failed dial is also a sign. The dial that succeeded counts.
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
        // Only the loss of a live link leaves a gap, unless one side has ended the link.
        guard isLinked.remove(head) != nil, let silence = row.silence, open[head] == nil else { return }
        open[head] = gaps.count
        gaps.append(Gap(peer: row.peer, start: max(0, at - silence), lost: at))
    }

    /// A pending dial makes its link, on average, one and a half advertising intervals after the other side is in
    /// range. A host that has lost its guest long ago advertises more slowly.
    private static func inReach(_ gap: Gap, _ evidence: Encounter.Evidence?) -> Double? {
        guard let heard = gap.heard else { return nil }
        guard evidence == .link else { return heard }
        let isSlow = heard - gap.lost > BearerLimits.eagerAdvertising / .seconds(1)
        let lag = isSlow ? FieldTestLimits.slowLinkLag : FieldTestLimits.linkLag
        return max(gap.start, heard - lag / .seconds(1))
    }

    private mutating func update(_ head: String, _ body: (inout Gap) -> Void) {
        if let index = open[head] { body(&gaps[index]) }
    }
}
