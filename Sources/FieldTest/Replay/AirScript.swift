// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import MeshSimulator
import NodeCore

/// The changes that a recorded drive makes to an air: cuts, heals, signal strengths and votes. The lab's air and the
/// simulator replay a drive with it.
public struct AirScript: Hashable, Sendable {
    /// A change, as a line of JSON.
    public struct Step: Codable, Hashable, Sendable {
        /// What changes.
        public enum Change: String, Codable, Hashable, Sendable {
            /// The two get out of range.
            case cut
            /// The two nodes get into range again.
            case heal
            /// The signal strength changes.
            case rssi
            /// A guest votes.
            case vote
            /// The user has set a mark.
            case mark
            /// The drive ends.
            case end
        }

        /// Seconds since the start.
        public var at: Double
        /// What changes.
        public var change: Change
        /// The new signal strength, in dBm.
        public var rssi: Int?
        /// The text of a mark.
        public var text: String?

        init(_ at: Double, _ change: Change, rssi: Int? = nil, text: String? = nil) {
            self.at = (at * 10_000).rounded() / 10_000
            self.change = change
            self.rssi = rssi
            self.text = text
        }
    }

    /// The changes, in order.
    public private(set) var steps: [Step]

    /// The changes of a drive. `backToBack` shortens the time between two gaps to `FieldTestLimits.backToBack`. For a
    /// host's drive, the guest with the most data counts.
    public init(_ drive: Drive, backToBack: Bool = false) {
        let metrics = DriveMetrics(drive)
        let gaps = Self.gaps(metrics)
        var steps = gaps.flatMap { [Step($0.start, .cut), Step($0.end, .heal)] }
        var last: Int?
        for sample in metrics.samples where sample.peer == Self.peer(metrics) {
            guard let rssi = sample.rssi, rssi != last else { continue }
            last = rssi
            steps.append(Step(sample.at, .rssi, rssi: rssi))
        }
        steps += metrics.deliveries.steps.enumerated().compactMap { index, step in
            let before = index > 0 ? metrics.deliveries.steps[index - 1].cast : 0
            return step.cast > before ? Step(step.at, .vote) : nil
        }
        steps += metrics.marks.map { Step($0.at, .mark, text: $0.text) }
        steps.append(Step(metrics.seconds, .end))
        steps = steps.inOrder(by: \.at)
        self.steps = backToBack ? Self.shortened(steps, gaps, metrics.seconds) : steps
    }

    private static func peer(_ metrics: DriveMetrics) -> Peer.ID? {
        var counts: [Peer.ID: Int] = [:]
        for sample in metrics.samples { counts[sample.peer, default: 0] += 1 }
        return counts.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
    }

    /// The gaps of the peer with the most data, in order.
    private static func gaps(_ metrics: DriveMetrics) -> [(start: Double, end: Double)] {
        let peer = peer(metrics)
        return metrics.gaps.filter { peer == nil || Identity.head(of: $0.peer) == Identity.head(of: peer ?? "") }
            .spans(metrics.seconds)
    }

    /// Removes the middle of the time between two gaps. The last changes of that time are kept.
    private static func shortened(
        _ steps: [Step], _ gaps: [(start: Double, end: Double)], _ seconds: Double
    ) -> [Step] {
        let keep = FieldTestLimits.backToBack / .seconds(1)
        var cuts: [(from: Double, to: Double)] = []
        var last = 0.0
        for gap in gaps + [(start: seconds, end: seconds)] {
            if gap.start - last > keep { cuts.append((last + keep / 2, gap.start - keep / 2)) }
            last = gap.end
        }
        // Steps are in order, and so are cuts.
        var next = cuts[...], taken = 0.0
        func place(_ at: Double) -> Double {
            while let cut = next.first, cut.to <= at {
                taken += cut.to - cut.from
                next.removeFirst()
            }
            return at - taken - max(0, at - (next.first?.from ?? at))
        }
        var result: [Step] = []
        for step in steps {
            let moved = Step(place(step.at), step.change, rssi: step.rssi, text: step.text)
            // Of the signal strengths in the removed time, only the last is kept.
            if moved.change == .rssi, let before = result.last, before.change == .rssi, before.at == moved.at {
                result.removeLast()
            }
            result.append(moved)
        }
        return result
    }

    /// The steps as lines of JSON, for a program that controls an air.
    public var lines: [String] { steps.map { JSONLine.text($0) } }

    /// The road on which the simulator drives a guest.
    public var road: Road {
        var gaps: [Range<Duration>] = []
        var cut: Duration?
        for step in steps {
            switch step.change {
            case .cut: cut = .seconds(step.at)
            case .heal:
                if let start = cut, start < .seconds(step.at) { gaps.append(start..<Duration.seconds(step.at)) }
                cut = nil
            default: break
            }
        }
        return Road(
            gaps: gaps,
            signal: steps.compactMap { step in
                step.rssi.map { Road.Strength(at: .seconds(step.at), dBm: $0) }
            },
            votes: steps.filter { $0.change == .vote }.map { .seconds($0.at) },
            // A guest needs some seconds to find its host.
            length: .seconds(max(steps.last?.at ?? 0, 5)))
    }
}
