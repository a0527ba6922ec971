// SPDX-License-Identifier: Apache-2.0

/// Decides which connections there may be. A newcomer that finds no room gets that of the connection that has done nothing
/// for the longest: a browser asks at once, and whoever only holds connections loses them.
struct ConnectionTable: Sendable {
    typealias ID = Int

    /// What becomes of a new connection.
    enum Verdict: Hashable, Sendable {
        case admit(ID, closing: ID?)
        case refuse
    }

    private struct Entry: Sendable {
        var address: String
        var isBusy = false
    }

    private let limit: Int
    private let limitPerAddress: Int
    /// Identifiers grow, and one that becomes idle again gets a new place at the end.
    private var entries: [ID: Entry] = [:]
    private var order: [ID: Int] = [:]
    private var turn = 0
    private var last = 0

    init(limit: Int = DashboardLimits.connections, limitPerAddress: Int = DashboardLimits.connectionsPerAddress) {
        self.limit = limit
        self.limitPerAddress = limitPerAddress
    }

    var count: Int { entries.count }

    /// A connection from an address has been made.
    mutating func opened(from address: String) -> Verdict {
        let ofAddress = entries.filter { $0.value.address == address }
        var closing: ID?
        if ofAddress.count >= limitPerAddress || entries.count >= limit {
            let mayGo = ofAddress.count >= limitPerAddress ? ofAddress : entries
            let idle = mayGo.filter { !$0.value.isBusy }.keys
            closing = idle.min { order[$0, default: 0] < order[$1, default: 0] }
            guard let closing else { return .refuse }
            closed(closing)
        }
        last += 1
        entries[last] = Entry(address: address)
        place(last)
        return .admit(last, closing: closing)
    }

    /// It has asked something, or has its answer.
    mutating func changed(_ id: ID, isBusy: Bool) {
        guard entries[id] != nil else { return }
        entries[id]?.isBusy = isBusy
        place(id)
    }

    /// It is gone.
    mutating func closed(_ id: ID) {
        entries[id] = nil
        order[id] = nil
    }

    private mutating func place(_ id: ID) {
        turn += 1
        order[id] = turn
    }
}
