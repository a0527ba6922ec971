// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A world before it begins: who is there, what the air is like, and what will go wrong. All of it comes from the seed.
///
/// Each kind of fault is there in every other world: a bug that one fault hides from another is found where the other is
/// alone.
public struct Scenario: Hashable, Sendable {
    /// What can go wrong.
    public enum Fault: Int, CaseIterable, Sendable {
        /// A guest is out of reach for a while, and the ends of its links learn it one after the other, or never.
        case tunnel
        /// A channel carries nothing in one direction, and nobody is told.
        case oneWay
        /// A channel breaks.
        case breaks
        /// A node is killed and comes back with its store.
        case kill
        /// A node is killed and comes back with its key, but without its store.
        case loseStore
        /// A node's adapter goes away and comes back.
        case adapter
        /// A node's clock leaps.
        case clockLeap
        /// A node says goodbye and comes back.
        case leave
        /// Somebody changes what a channel carries.
        case tamper
        /// Somebody dials the host who means no good.
        case intruder
        /// Somebody answers in the host's place.
        case impostor

        /// Many of them, in words.
        public var sentence: String {
            switch self {
            case .tunnel: "tunnels"
            case .oneWay: "one-way channels"
            case .breaks: "broken channels"
            case .kill: "kills"
            case .loseStore: "lost stores"
            case .adapter: "adapters gone"
            case .clockLeap: "clock jumps"
            case .leave: "goodbyes"
            case .tamper: "tamperings"
            case .intruder: "visits of intruders"
            case .impostor: "impostors"
            }
        }
    }

    /// The seed it came from.
    public let seed: UInt64
    /// Nodes: one host, and guests.
    public let nodes: Int
    /// The faults that happen.
    public let faults: [Fault]
    /// When the faults stop.
    public let faultsEnd: Duration
    /// When, after that, everything must have arrived.
    public let patience: Duration = .seconds(60)
    /// Milliseconds between two faults.
    public let faultPause: ClosedRange<Int>
    /// How often somebody casts messages.
    public let casts: Int
    /// Messages that are cast at one time, at most.
    public let burst: Int
    /// Milliseconds that an SDU is on its way.
    public let latency: ClosedRange<Int>
    /// Milliseconds until a node gets to send.
    public let pullDelay: ClosedRange<Int>
    /// SDUs of a direction that may be on their way at one time.
    public let credits: Int
    /// Largest SDU of each node.
    public let sduLimits: [Int]
    /// Milliseconds that a write to a store takes.
    public let writeTime: ClosedRange<Int>
    /// How many dials in a hundred fail.
    public let failingDials: Int
    /// How many messages in a hundred are longer than one record.
    public let longMessages: Int
    /// Bytes of the longest message.
    public let longest: Int
    /// Milliseconds between a kill and the next start.
    public let downTime: ClosedRange<Int>
    /// The road that the guest is driven along. Nil where chance alone decides what goes wrong.
    public let road: Road?

    /// What a seed stands for. `nodes` overrides how many there are.
    public init(seed: UInt64, nodes wanted: Int? = nil) {
        // Another stream than the world's, so that what is overridden here changes nothing there.
        var random = SeededGenerator(seed: seed ^ 0x5CE7_A210_5CE7_A210)
        let share = random.below(100)
        let drawn =
            switch share {
            case ..<50: random.pick(2...3)
            case ..<85: random.pick(4...7)
            default: random.pick(8...16)
            }
        self.seed = seed
        nodes = min(max(wanted ?? drawn, 2), Limits.guests)
        faults = Fault.allCases.filter { _ in random.chance(50) }
        faultsEnd = .seconds(random.pick(nodes > 7 ? 8...14 : 10...25))
        let pause = random.pick(100...1_500)
        faultPause = pause / 4...pause
        // In a few worlds more is said than an outbox holds. All else is fast there, so that it arrives in time.
        let isTalkative = random.chance(3)
        burst = isTalkative ? 2 * Limits.outboxMessages : random.pick([1, 2, 12]) ?? 1
        casts = isTalkative ? 3 : random.pick(10...60) / (burst > 2 ? 4 : 1)
        let latest = isTalkative ? 4 : random.pick([4, 20, 150]) ?? 4
        latency = 1...latest
        pullDelay = 0...(isTalkative ? 1 : random.pick([1, 10, 300]) ?? 1)
        credits = random.pick(1...10)
        let limits = [Limits.leastSDUBytes, 600, 1_024, Limits.sduBytes]
        sduLimits = (0..<Limits.guests).map { _ in random.pick(limits) ?? Limits.sduBytes }
        writeTime = 0...(random.pick(nodes > 4 ? [1, 30, 400] : [1, 30, 400, 1_500]) ?? 1)
        failingDials = random.pick([0, 5, 30]) ?? 0
        // Not more than the slowest air carries in time.
        let isSlow = latest == 150 || pullDelay.upperBound == 300
        longMessages = isTalkative ? 0 : random.pick(isSlow ? [0, 10] : [0, 10, 40]) ?? 0
        longest = latest == 4 && credits > 3 ? Limits.messageBytes - Body.headerBytes : 9_000
        downTime = random.chance(50) ? 10...300 : 100...3_000
        road = nil
    }

    /// A host and a guest that is driven along a road. What the road says happens at its times; the seed decides the rest:
    /// how long everything takes, and which dials fail.
    public init(seed: UInt64, road: Road) {
        self.seed = seed
        self.road = road
        nodes = 2
        faults = []
        faultsEnd = road.length
        faultPause = 1_000...1_000
        casts = 0
        burst = 1
        // A connection interval of 30 to 50 ms, as the kernel asks for.
        latency = 5...50
        pullDelay = 0...10
        credits = 3
        sduLimits = [Int](repeating: Limits.sduBytes, count: Limits.guests)
        writeTime = 0...30
        failingDials = 1
        longMessages = 0
        longest = 9_000
        downTime = 100...3_000
    }
}
