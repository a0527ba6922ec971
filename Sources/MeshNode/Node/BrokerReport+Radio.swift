// SPDX-License-Identifier: Apache-2.0

import Bearers
import NodeCore

extension BrokerReport {
    /// The report of a bearer's condition.
    public init(_ condition: BrokerCondition) {
        switch condition {
        case .connected: self.init(.connected)
        case .unreachable(let cause): self.init(.unreachable, cause: cause)
        case .refused(let cause): self.init(.refused, cause: cause)
        case .untrusted(let cause): self.init(.untrusted, cause: cause)
        case .clockWrong(let cause): self.init(.clockWrong, cause: cause)
        case .silent(let cause): self.init(.silent, cause: cause)
        case .carried(let sent, let received, let isHour):
            self.init(sent: sent, received: received, isHour: isHour)
        }
    }
}
