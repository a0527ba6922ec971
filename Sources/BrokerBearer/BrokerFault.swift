// SPDX-License-Identifier: Apache-2.0

import CMosquitto
import Glibc

/// Why the broker is not connected.
public struct BrokerFault: Error, Hashable, Sendable {
    /// The kinds of faults.
    public enum Kind: Hashable, Sendable {
        /// The broker does not answer, or the connection was lost.
        case unreachable
        /// The broker refuses this node. Another user, password or certificate is needed.
        case refused
        /// The broker's certificate does not prove its identity, or a certificate file cannot be read.
        case untrusted
        /// The broker's certificate is not valid at the time of this device's clock. The cause contains that time.
        case clockWrong
        /// The broker delivers nothing on a topic. The cause contains the topic.
        case silent
    }

    /// The kind of fault, which determines what a person must do.
    public var kind: Kind
    /// The cause, as the end of a sentence. It contains the system's error text.
    public var cause: String

    /// Whether the next attempt may succeed.
    var isPassing = false

    init(_ kind: Kind, _ cause: String, isPassing: Bool = false) {
        (self.kind, self.cause, self.isPassing) = (kind, cause, isPassing)
    }

    /// Creates a fault from libmosquitto's return code and the broker's answer (MQTT 3.1.1, 3.2.2.3).
    init(code: Int32, refusal: Int32) {
        if refusal != 0 {
            // Answer 3 means that the server is unavailable. All other answers require a change.
            self.init(refusal == 3 ? .unreachable : .refused, Self.text(mosquitto_connack_string(refusal)))
            return
        }
        switch mosq_err_t(rawValue: code) {
        case MOSQ_ERR_TLS, MOSQ_ERR_TLS_HANDSHAKE: self.init(.untrusted, Self.text(mosquitto_strerror(code)))
        case MOSQ_ERR_ERRNO: self.init(.unreachable, String(cString: strerror(errno)))
        default: self.init(.unreachable, Self.text(mosquitto_strerror(code)))
        }
    }

    /// Converts a sentence of libmosquitto to the end of a sentence.
    private static func text(_ sentence: UnsafePointer<CChar>?) -> String {
        var text = sentence.map { String(cString: $0) } ?? ""
        while text.hasSuffix(".") { text.removeLast() }
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    /// Replaces the cause by libmosquitto's earlier error message, if that explains more.
    func explained(by complaint: String?) -> BrokerFault {
        guard let complaint, kind == .unreachable || kind == .untrusted else { return self }
        return BrokerFault(kind, complaint.replacing("\n", with: " "))
    }
}

/// Bytes sent to a broker and received from it, with the headers of TLS, TCP and IP.
struct BrokerTraffic: Hashable, Sendable {
    var sent: UInt64 = 0
    var received: UInt64 = 0

    static func + (one: Self, other: Self) -> Self {
        var sum = one
        sum.sent += other.sent
        sum.received += other.received
        return sum
    }

    static func - (one: Self, other: Self) -> Self {
        var rest = one
        rest.sent -= min(other.sent, rest.sent)
        rest.received -= min(other.received, rest.received)
        return rest
    }

    /// Records the kernel's counts for a connection. The counts only grow.
    mutating func note(_ descriptor: Int32) {
        var (sent, received): (UInt64, UInt64) = (0, 0)
        guard descriptor >= 0, cmosquitto_carried(descriptor, &sent, &received) == 0 else { return }
        (self.sent, self.received) = (max(self.sent, sent), max(self.received, received))
    }
}
