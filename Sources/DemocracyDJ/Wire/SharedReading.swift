// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Messages that were read before, for a simulation: what the host tells a thousand nodes is read once and not a thousand times, and what
/// comes of it is kept once. All else is as it is. A node by itself reads each message that it gets.
package final class SharedReading: Sendable {
    /// Kept at a time; a state reaches everybody within some hundred others.
    private static let most = 512
    private let read = Mutex<[[UInt8]: MeshMessage]>([:])

    /// Nothing was read.
    package init() {}

    /// The message that has arrived; nil where the bytes are none.
    package func message(_ bytes: [UInt8]) -> MeshMessage? {
        read.withLock { read in
            if let message = read[bytes] { return message }
            guard var message = MeshMessage(encoded: bytes) else { return nil }
            if case .stateChange(var change) = message {
                change.outcomes.share()
                message = .stateChange(change)
            }
            if read.count >= Self.most { read = [:] }
            read[bytes] = message
            return message
        }
    }
}

/// What one change has made of the states that it was applied to, where that is shared. It is no part of what the change says.
struct SharedOutcomes: Hashable, Sendable {
    private final class Table: Sendable {
        let known = Mutex<[(before: HostSnapshot, after: HostSnapshot?)]>([])
    }

    /// Different states of one revision: those of guests that have different samples of what plays, and of old runs.
    private static let most = 4
    private var table: Table?

    /// Keeps them from now on.
    mutating func share() { table = Table() }

    /// What comes of a state. For how long a song has played is each node's own, where the change does not say it.
    func outcome(of before: HostSnapshot, elapsed: Double?, _ make: () -> HostSnapshot?) -> HostSnapshot? {
        guard let table else { return make() }
        return table.known.withLock { known in
            for (other, after) in known where other.isSame(as: before) {
                var after = after
                after?.elapsed = elapsed ?? before.elapsed
                return after
            }
            let after = make()
            if known.count < Self.most { known.append((before, after)) }
            return after
        }
    }

    static func == (one: SharedOutcomes, other: SharedOutcomes) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

extension HostSnapshot {
    /// Whether another one is the same but for the time that was sampled.
    fileprivate func isSame(as other: HostSnapshot) -> Bool {
        var sample = other
        sample.elapsed = elapsed
        return self == sample
    }
}
