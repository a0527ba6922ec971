// SPDX-License-Identifier: Apache-2.0

/// The events on a guest's way: where it is out of range, the signal strength, and its votes. Times are since the
/// start.
public struct Road: Hashable, Sendable {
    /// The signal strength from a time on.
    public struct Strength: Hashable, Sendable {
        /// Start of this strength.
        public var at: Duration
        /// The signal in dBm.
        public var dBm: Int

        /// A strength.
        public init(at: Duration, dBm: Int) {
            self.at = at
            self.dBm = dBm
        }
    }

    /// Times out of range, in order.
    public var gaps: [Range<Duration>]
    /// Signal strengths, in order.
    public var signal: [Strength]
    /// Times of votes.
    public var votes: [Duration]
    /// Total time.
    public var length: Duration

    /// A road.
    public init(gaps: [Range<Duration>], signal: [Strength], votes: [Duration], length: Duration) {
        self.gaps = gaps
        self.signal = signal
        self.votes = votes
        self.length = length
    }

    /// Below this signal strength, in dBm, packets get lost.
    static let audible = -80
    /// Percentage of lost packets for each dB below that.
    static let lossPerDecibel = 4
    /// Highest percentage of lost packets. A link with more would be lost.
    static let mostLost = 70
    /// A lost packet is sent again after the connection interval.
    static let interval: Duration = .milliseconds(50)
    /// Maximum number of losses of a packet in a row before the link is lost: the supervision timeout.
    static let resends = 8

    /// Percentage of lost packets at a signal strength. This is a model, not a measurement: none at -80 dBm, 40 at -90.
    static func loss(at dBm: Int) -> Int { min(max(0, (audible - dBm) * lossPerDecibel), mostLost) }

    /// Percentage of lost packets at a time.
    func loss(at time: Duration) -> Int {
        var low = 0, high = signal.count
        while low < high {
            let middle = (low + high) / 2
            if signal[middle].at <= time { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? Self.loss(at: signal[low - 1].dBm) : 0
    }
}

/// A world that follows a road.
extension World {
    mutating func prepare(_ road: Road) {
        for gap in road.gaps {
            at(gap.lowerBound.microseconds) { $0.leavesRange(1) }
            at(gap.upperBound.microseconds) { $0.air.outOfReach.remove(1) }
        }
        for vote in road.votes { at(vote.microseconds) { $0.votes() } }
    }

    /// The road leads out of range. The link layer reports it after the supervision timeout.
    private mutating func leavesRange(_ guest: Int) {
        guard air.outOfReach.insert(guest).inserted else { return }
        people.figures.faults[.tunnel, default: 0] += 1
        trace(guest, "is in a gap of its road")
        breakChannels(of: guest, after: 420...600)
    }

    /// Additional time of an SDU for packets that are sent again.
    mutating func resending() -> Int {
        guard let loss = scenario.road?.loss(at: instant), loss > 0 else { return 0 }
        return (0..<Road.resends).count { _ in random.chance(loss) } * Road.interval.microseconds
    }
}
