// SPDX-License-Identifier: Apache-2.0

import Bearers
import NodeCore

extension BrokerReport {
    /// Creates the report for a broker's condition.
    public init(_ condition: BrokerCondition) {
        switch condition {
        case .connected: self.init(state: .connected)
        case .unreachable(let cause): self.init(state: .unreachable, cause: cause)
        case .refused(let cause): self.init(state: .refused, cause: cause)
        case .untrusted(let cause): self.init(state: .untrusted, cause: cause)
        case .clockWrong(let cause): self.init(state: .clockWrong, cause: cause)
        case .silent(let cause): self.init(state: .silent, cause: cause)
        case .carried(let sent, let received, let isHour):
            self.init(sent: sent, received: received, isHour: isHour)
        }
    }
}
