// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// What became of the votes and suggestions of a drive.
///
/// A guest has cast a wish when its disk has it (`queued`), and the host's answer delivers it, whether the host takes
/// it or not. A vote that is taken back before its answer is answered with its taking back.
public struct Deliveries: Codable, Hashable, Sendable {
    /// How many there were at a time.
    public struct Step: Codable, Hashable, Sendable {
        /// Seconds since the drive began.
        public var at: Double
        /// How many had been cast.
        public var cast: Int
        /// How many had been answered.
        public var delivered: Int
    }

    /// How many a guest has cast.
    public private(set) var cast = 0
    /// How many of them the host has answered.
    public private(set) var delivered = 0
    /// How many of those it did not take.
    public private(set) var rejected = 0
    /// At a host: wishes that it was told.
    public private(set) var received = 0
    /// At a host: votes that counted again although they counted already, which must not be.
    public private(set) var countedTwice = 0
    /// From the cast to the answer, in seconds, the shortest first.
    public private(set) var waits: [Double] = []
    /// How it grew.
    public private(set) var steps: [Step] = []

    private var open: [String: Double] = [:]
    private var counted: Set<String> = []

    private enum CodingKeys: String, CodingKey {
        case cast, delivered, rejected, received, countedTwice, waits, steps
    }

    /// How many wait for their answer at the end.
    public var waiting: Int { open.count }

    init() {}

    mutating func take(_ row: WishRow, at: Double) {
        let key = "\(row.wish) \(row.song)"
        switch row.state {
        case "queued":
            if row.wish == "takeBack" { answer("vote \(row.song)", at: at) }
            guard open[key] == nil else { return }
            open[key] = at
            cast += 1
            step(at)
        case "confirmed", "rejected":
            if row.state == "rejected", open[key] != nil { rejected += 1 }
            answer(key, at: at)
        default: break
        }
    }

    mutating func take(_ row: IntentRow, at: Double) {
        guard row.accepted else { return }
        received += 1
        let key = "\(row.peer) \(row.song ?? "")"
        switch row.intent {
        case "vote": if !counted.insert(key).inserted { countedTwice += 1 }
        case "takeBackVote": counted.remove(key)
        default: break
        }
        step(at)
    }

    mutating func finish() { waits.sort() }

    private mutating func answer(_ key: String, at: Double) {
        guard let since = open.removeValue(forKey: key) else { return }
        delivered += 1
        waits.append(at - since)
        step(at)
    }

    private mutating func step(_ at: Double) {
        steps.append(Step(at: at, cast: cast, delivered: delivered + received))
    }
}
