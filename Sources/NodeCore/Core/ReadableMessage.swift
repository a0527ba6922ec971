// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

extension ReceivedMessage {
    /// The message, without its body if this side cannot use it. A reliable one keeps its number, because it must be
    /// acknowledged in order.
    func readable(_ content: MeshMessage?, byHost: Bool) -> ReceivedMessage? {
        if content?.isGuests == byHost { return self }
        guard messageClass == .reliable else { return nil }
        var number = self
        number.body = []
        return number
    }
}

extension MeshMessage {
    /// Whether only guests send this message.
    fileprivate var isGuests: Bool {
        switch self {
        case .intent, .stateRequest, .search, .coverRequest: true
        case .stateUpdate, .stateChange, .rejection, .stateHeartbeat, .searchResults, .coverPiece: false
        }
    }
}
