// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// The results of a drive's votes and suggestions.
///
/// A guest has cast a wish when its disk has it (`queued`). The host's answer delivers it, whether the host accepts it
/// or not. If a vote is taken back before its answer, the answer to its withdrawal counts.
public struct Deliveries: Codable, Hashable, Sendable {
    /// The counts at a time.
    public struct Step: Codable, Hashable, Sendable {
        /// Seconds since the start of the drive.
        public var at: Double
        /// Wishes cast so far.
        public var cast: Int
        /// Wishes answered so far.
        public var delivered: Int
    }

    /// Wishes that a guest has cast.
    public private(set) var cast = 0
    /// Wishes that the host has answered.
    public private(set) var delivered = 0
    /// Answered wishes that the host has rejected.
    public private(set) var rejected = 0
    /// Number of wishes that a host received.
    public private(set) var received = 0
    /// At a host: votes that counted again although they counted already, which must not happen.
    public private(set) var countedTwice = 0
    /// Seconds from the cast to the answer, the shortest first.
    public private(set) var waits: [Double] = []
    /// The counts over time.
    public private(set) var steps: [Step] = []

    private var open: [String: Double] = [:]
    private var counted: Set<String> = []

    private enum CodingKeys: String, CodingKey {
        case cast, delivered, rejected, received, countedTwice, waits, steps
    }

    /// Wishes without an answer at the end.
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
