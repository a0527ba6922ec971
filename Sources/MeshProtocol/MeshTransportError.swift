// SPDX-License-Identifier: Apache-2.0

/// Why a transport has no channel, or has lost it.
public enum MeshTransportError: Error, Hashable, Sendable {
    /// The connection failed, for this reason.
    case connectionFailed(reason: Reason)

    /// A connection that failed for a cause that a program can tell from others.
    public static func failed(_ code: Code, _ text: String) -> MeshTransportError {
        .connectionFailed(reason: Reason(code, text))
    }

    /// The kind of failure.
    public var code: Code {
        switch self {
        case .connectionFailed(let reason): reason.code
        }
    }

    /// The kinds of failures.
    public enum Code: String, Hashable, Sendable {
        /// The peer does not answer: it is out of range, or not running. Connect again later, over a new transport.
        case unreachable
        /// The transport was used before. Make a new one.
        case alreadyUsed
        /// The transport is not connected yet.
        case notConnected
        /// The peer speaks another version of the protocol.
        case otherVersion
        /// The peer accepts bonded devices only.
        case bondRequired
        /// The peer has too many unfinished handshakes. Connect again later.
        case busy
        /// The peer has left with a goodbye.
        case left
        /// The same node has opened a newer link.
        case replaced
        /// The adapter or the network of this device does not work.
        case radio
        /// Another failure. The text describes it.
        case other
    }

    /// A reason: a code for programs, and a text for people and logs.
    public struct Reason: Hashable, Sendable, CustomStringConvertible, Encodable, ExpressibleByStringInterpolation {
        /// The kind of failure.
        public let code: Code
        /// The text.
        public let description: String

        /// A reason with its text.
        public init(_ code: Code, _ text: String) {
            self.code = code
            description = text
        }

        /// A reason that only its text describes.
        public init(stringLiteral text: String) { self.init(.other, text) }

        /// Writes the text.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(description)
        }
    }
}
