// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import MeshProtocol

/// Turns messages into a frame's body and back. Nothing above this sees bytes, nothing below sees messages.
enum MessageCodec {
    /// A body, at most `Limits.messageBytes` long: the tail of a queue that does not fit is left out.
    static func body(of message: MeshMessage) -> [UInt8] {
        let body = encode(message)
        guard body.count > Limits.messageBytes, case .stateUpdate(var snapshot) = message else { return body }
        // Only names and titles of the longest kind get here. What is far down the queue is missed least.
        snapshot.queue.removeLast((snapshot.queue.count + 3) / 4)
        return Self.body(of: .stateUpdate(snapshot))
    }

    /// The message in a body, or nil where it is none.
    static func message(in body: [UInt8]) -> MeshMessage? {
        try? JSONDecoder().decode(MeshMessage.self, from: Data(body))
    }

    private static func encode(_ message: MeshMessage) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(message))
        } catch {
            preconditionFailure("a message of ours cannot be encoded: \(error)")
        }
    }
}
