// SPDX-License-Identifier: Apache-2.0

import BLETransport
import DemocracyDJ

/// What is told of the broker that a node uses beside its radio.
public struct BrokerReport: Hashable, Sendable {
    /// Whether the node can be reached there.
    public enum State: String, Hashable, Sendable, Codable, CaseIterable {
        /// It takes the node in.
        case connected
        /// It has not answered for a while.
        case unreachable
        /// It does not take the node in.
        case refused
        /// It is not who it should be, as far as certificates tell.
        case untrusted
        /// Its certificate is not valid at the time of this device's clock.
        case clockWrong
        /// It takes the node in, and delivers nothing on a topic.
        case silent
    }

    /// What it went over to; nil where this is about bytes.
    public var state: State?
    /// Why it is not connected, in the system's words.
    public var cause: String?
    /// Bytes that have gone to it over the network, with all headers, since the last hour ended.
    public var sent: UInt64?
    /// Bytes that have come from it.
    public var received: UInt64?
    /// An hour ends with these.
    public var isHour = false

    /// What a radio has said.
    public init(_ condition: BrokerCondition) {
        switch condition {
        case .connected: state = .connected
        case .unreachable(let cause): (state, self.cause) = (.unreachable, cause)
        case .refused(let cause): (state, self.cause) = (.refused, cause)
        case .untrusted(let cause): (state, self.cause) = (.untrusted, cause)
        case .clockWrong(let cause): (state, self.cause) = (.clockWrong, cause)
        case .silent(let cause): (state, self.cause) = (.silent, cause)
        case .carried(let sent, let received, let isHour):
            (self.sent, self.received, self.isHour) = (sent, received, isHour)
        }
    }

    /// What a person is told of it.
    var problem: BrokerProblem? {
        switch state {
        case .unreachable: .unreachable(cause ?? "")
        case .refused: .refused(cause ?? "")
        case .untrusted: .untrusted(cause ?? "")
        case .clockWrong: .clockWrong(cause ?? "")
        case .silent: .silent(cause ?? "")
        case .connected, nil: nil
        }
    }
}
