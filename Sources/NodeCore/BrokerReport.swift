// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// A report about the broker that a node uses next to its radio: its state, or the bytes sent and received.
public struct BrokerReport: Hashable, Sendable {
    /// Whether the node reaches other nodes through the broker.
    public enum State: String, Hashable, Sendable, Codable, CaseIterable {
        /// The broker accepts the node.
        case connected
        /// The broker has not answered for some time.
        case unreachable
        /// The broker refuses the node.
        case refused
        /// The broker's certificate does not prove its identity.
        case untrusted
        /// The broker's certificate is not valid at the time of this device's clock.
        case clockWrong
        /// The broker accepts the node but delivers nothing on a topic.
        case silent
    }

    /// The new state; nil in a report about bytes.
    public var state: State?
    /// Why the broker is not connected, in the system's words.
    public var cause: String?
    /// Bytes sent to the broker over the network, including all headers, since the last full hour.
    public var sent: UInt64?
    /// Bytes received from the broker, counted the same way.
    public var received: UInt64?
    /// Whether an hour ends with these counts.
    public var isHour = false

    /// A report of the connection's state. `cause` is nil if there is nothing to say.
    public init(state: State, cause: String? = nil) { (self.state, self.cause) = (state, cause) }

    /// A report of the traffic.
    public init(sent: UInt64, received: UInt64, isHour: Bool) {
        (self.sent, self.received, self.isHour) = (sent, received, isHour)
    }

    /// Shows the broker's state. A new notice replaces the old one, and a connection clears it.
    var acts: [StepAction] {
        let problem = problem.map { Notice(HeadUnitProblem.broker($0)) }
        let former = state == nil ? [] : BrokerProblem.codes.filter { $0 != problem?.code }
        return [.show(.broker(self))] + former.map { .clear($0) } + (problem.map { [.tell($0)] } ?? [])
    }

    /// The problem shown to people; nil for a report that is not a problem.
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
