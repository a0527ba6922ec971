// SPDX-License-Identifier: Apache-2.0

/// Why a node that uses a broker has no connection to it, each with the cause in the system's words.
public enum BrokerProblem: Hashable, Sendable {
    /// It has not answered for a while.
    case unreachable(String)
    /// It does not take this node in.
    case refused(String)
    /// It is not who it should be, as far as certificates tell.
    case untrusted(String)
    /// Its certificate is not valid at this time, which is what the device's clock says.
    case clockWrong(String)
    /// It takes this node in, and messages on this topic do not come back.
    case silent(String)

    /// The names of all of them, for programs.
    public static let codes = [
        "brokerUnreachable", "brokerRefused", "brokerUntrusted", "brokerClock", "brokerSilent",
    ]

    var problem: Problem {
        switch self {
        case .unreachable(let cause):
            .stays(
                "brokerUnreachable", "The broker cannot be reached: \(cause). Cars out of radio range are not linked.",
                "It is tried again by itself, and no vote is lost. Everybody in range goes on without it.",
                raisedBy: .radio)
        case .refused(let cause):
            .stays(
                "brokerRefused", "The broker does not let this device in: \(cause).",
                "Check the user in --broker, and the password or certificate that goes with it.", raisedBy: .radio)
        case .untrusted(let cause):
            .stays(
                "brokerUntrusted", "The broker cannot prove who it is: \(cause).",
                "Check its address, and the authority that has signed its certificate: --broker-ca names the file.",
                raisedBy: .radio)
        case .clockWrong(let time):
            .stays(
                "brokerClock",
                "The broker's certificate is not valid on \(time), which is the date of this device's clock.",
                "If the date is wrong, set the clock: sudo timedatectl set-ntp true. It is tried again by itself.",
                raisedBy: .radio)
        case .silent(let topic):
            .stays(
                "brokerSilent", "The broker accepts this device, but messages on \(topic) do not come back.",
                "Let the user in --broker read and write this topic: the broker's access list (ACL) decides that.",
                raisedBy: .radio)
        }
    }
}
