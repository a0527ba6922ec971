// SPDX-License-Identifier: Apache-2.0

/// Why a node has no connection to its broker. The associated value is the cause in the system's words, unless stated
/// otherwise.
public enum BrokerProblem: Hashable, Sendable {
    /// The broker does not answer.
    case unreachable(String)
    /// The broker rejects this node.
    case refused(String)
    /// The broker's certificate does not prove its identity.
    case untrusted(String)
    /// The broker's certificate is not valid at the time of the device's clock, which is the associated value.
    case clockWrong(String)
    /// The broker accepts this node, but messages on this topic do not come back.
    case silent(String)

    /// The codes of all these problems, for programs.
    public static let codes = [
        "brokerUnreachable", "brokerRefused", "brokerUntrusted", "brokerClock", "brokerSilent",
    ]

    var problem: Problem {
        switch self {
        case .unreachable(let cause):
            .stays(
                "brokerUnreachable", "The broker cannot be reached: \(cause). Cars out of radio range are not linked.",
                "RoadMesh retries automatically, and no vote is lost. Devices in range work without it.",
                raisedBy: .radio)
        case .refused(let cause):
            .stays(
                "brokerRefused", "The broker rejects this device: \(cause).",
                "Check the user in --broker, and the password or certificate that goes with it.", raisedBy: .radio)
        case .untrusted(let cause):
            .stays(
                "brokerUntrusted", "The broker cannot prove its identity: \(cause).",
                "Check its address, and the authority that has signed its certificate: --broker-ca names the file.",
                raisedBy: .radio)
        case .clockWrong(let time):
            .stays(
                "brokerClock",
                "The broker's certificate is not valid on \(time), which is the date of this device's clock.",
                "If the date is wrong, set the clock: sudo timedatectl set-ntp true. RoadMesh retries automatically.",
                raisedBy: .radio)
        case .silent(let topic):
            .stays(
                "brokerSilent", "The broker accepts this device, but messages on \(topic) do not come back.",
                "Let the user in --broker read and write this topic: the broker's access list (ACL) decides that.",
                raisedBy: .radio)
        }
    }
}
