// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A cache of decoded messages for a simulation. A message of the host to a thousand nodes is decoded once, and its
/// results are kept once. It changes nothing else. A node outside a simulation decodes each message.
package final class SharedReading: Sendable {
    /// Capacity. A state reaches all nodes within some hundred further messages.
    private static let most = 512
    private let read = Mutex<[[UInt8]: MeshMessage]>([:])

    /// Creates an empty cache.
    package init() {}

    /// The decoded message; nil if the bytes are not a message.
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

/// A cache of the states that one change has produced, if it is shared. It does not affect equality of changes.
struct SharedOutcomes: Hashable, Sendable {
    private final class Table: Sendable {
        let known = Mutex<[(before: HostSnapshot, after: HostSnapshot?)]>([])
    }

    /// Number of results kept. States of one revision may differ: guests have different samples of the elapsed time,
    /// and there are states of old runs.
    private static let most = 4
    private var table: Table?

    /// Starts to keep results.
    mutating func share() { table = Table() }

    /// The result for a state. The elapsed time is each node's own, unless the change states it.
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
    /// Whether another state is equal apart from the elapsed time.
    fileprivate func isSame(as other: HostSnapshot) -> Bool {
        var sample = other
        sample.elapsed = elapsed
        return self == sample
    }
}
