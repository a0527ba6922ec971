// SPDX-License-Identifier: Apache-2.0

import CMosquitto
import Glibc

/// Why there is no connection to the broker.
public struct BrokerFault: Error, Hashable, Sendable {
    /// What is the matter.
    public enum Kind: Hashable, Sendable {
        /// It does not answer, or the connection was lost.
        case unreachable
        /// It does not take this node in: another user, password or certificate is needed.
        case refused
        /// It is not who it should be, as far as certificates tell; or a file with one cannot be read.
        case untrusted
        /// Its certificate is not valid at the time of this device's clock, which is the cause.
        case clockWrong
        /// Nothing that it should deliver arrives; the topic is the cause.
        case silent
    }

    /// What has to be done about it.
    public var kind: Kind
    /// The end of a sentence, in the system's words.
    public var cause: String

    /// It may be over with the next try.
    var isPassing = false

    init(_ kind: Kind, _ cause: String, isPassing: Bool = false) {
        (self.kind, self.cause, self.isPassing) = (kind, cause, isPassing)
    }

    /// What libmosquitto has returned, and the broker's own answer (MQTT 3.1.1, 3.2.2.3).
    init(code: Int32, refusal: Int32) {
        if refusal != 0 {
            // 3 is a server that has no time; everything else wants something to be changed.
            self.init(refusal == 3 ? .unreachable : .refused, Self.text(mosquitto_connack_string(refusal)))
            return
        }
        switch mosq_err_t(rawValue: code) {
        case MOSQ_ERR_TLS, MOSQ_ERR_TLS_HANDSHAKE: self.init(.untrusted, Self.text(mosquitto_strerror(code)))
        case MOSQ_ERR_ERRNO: self.init(.unreachable, String(cString: strerror(errno)))
        default: self.init(.unreachable, Self.text(mosquitto_strerror(code)))
        }
    }

    /// libmosquitto writes whole sentences; these are the ends of ours.
    private static func text(_ sentence: UnsafePointer<CChar>?) -> String {
        var text = sentence.map { String(cString: $0) } ?? ""
        while text.hasSuffix(".") { text.removeLast() }
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    /// With what was said of it before, where that says more.
    func explained(by complaint: String?) -> BrokerFault {
        guard let complaint, kind == .unreachable || kind == .untrusted else { return self }
        return BrokerFault(kind, complaint.replacing("\n", with: " "))
    }
}

/// Bytes to a broker and from it, with the headers of TLS, TCP and IP.
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

    /// What the kernel says of a connection; it grows.
    mutating func note(_ descriptor: Int32) {
        var (sent, received): (UInt64, UInt64) = (0, 0)
        guard descriptor >= 0, cmosquitto_carried(descriptor, &sent, &received) == 0 else { return }
        (self.sent, self.received) = (max(self.sent, sent), max(self.received, received))
    }
}
