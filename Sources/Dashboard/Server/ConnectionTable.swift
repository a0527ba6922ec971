// SPDX-License-Identifier: Apache-2.0

/// Decides which connections to admit. If the table is full, a new connection replaces the one that has been idle for
/// the longest. A browser sends its request at once, so only clients that hold idle connections lose them. Some slots
/// are reserved for browsers on this device. Others are reserved for the driver's browsers on the network, which are
/// recognised by their requests. So passengers cannot shut the driver out.
struct ConnectionTable: Sendable {
    typealias ID = Int

    /// How the table handles a new connection.
    enum Verdict: Hashable, Sendable {
        case admit(ID, closing: ID?)
        case refuse
    }

    private struct Entry: Sendable {
        var address: String
        var isBusy = false
        /// Whether the driver has sent a request on this connection.
        var isDriver = false
        /// Whether the connection serves a request of a guest.
        var servesGuest = false
        /// The position of this connection in the order in which connections became idle.
        var turn: Int

        /// The connection with the lowest rank is closed first.
        var rank: (Int, Int) { (isDriver ? 1 : 0, turn) }
    }

    private let limit: Int
    private let limitPerAddress: Int
    private let kept: Int
    private var entries: [ID: Entry] = [:]
    /// The last position. A connection that becomes idle again moves to the end.
    private var turn = 0
    private var last = 0

    /// `kept` of the `limit` slots are reserved for browsers on this device.
    init(
        limit: Int = DashboardLimits.connections, limitPerAddress: Int = DashboardLimits.connectionsPerAddress,
        kept: Int = DashboardLimits.keptConnections
    ) {
        self.limit = limit
        self.limitPerAddress = limitPerAddress
        self.kept = min(kept, limit / 4)
    }

    var count: Int { entries.count }

    /// A connection from this address was made.
    mutating func opened(from address: String) -> Verdict {
        let ofAddress = entries.filter { $0.value.address == address }
        let fromOutside = entries.filter { !DashboardAddress.isLoopback($0.value.address) }
        let isOutside = !DashboardAddress.isLoopback(address)
        let isFull = entries.count >= limit
        var closing: ID?
        if ofAddress.count >= limitPerAddress || isFull || isOutside && fromOutside.count >= limit - kept {
            let mayGo = ofAddress.count >= limitPerAddress ? ofAddress : isFull ? entries : fromOutside
            closing = mayGo.filter { !$0.value.isBusy }.min { $0.value.rank < $1.value.rank }?.key
            guard let closing else { return .refuse }
            closed(closing)
        }
        (last, turn) = (last + 1, turn + 1)
        entries[last] = Entry(address: address, turn: turn)
        return .admit(last, closing: closing)
    }

    /// A request has arrived, or its answer has left.
    mutating func changed(_ id: ID, isBusy: Bool) {
        turn += 1
        entries[id]?.isBusy = isBusy
        entries[id]?.turn = turn
        if !isBusy { entries[id]?.servesGuest = false }
    }

    /// The sender of the request is known. A driver's request is always served. A guest's request is served while
    /// enough slots stay free for the driver, in total and for each address.
    mutating func serves(_ id: ID, asDriver: Bool) -> Bool {
        guard let address = entries[id]?.address else { return false }
        if asDriver {
            entries[id]?.isDriver = true
            return true
        }
        let served = entries.filter { $0.key != id && $0.value.servesGuest }
        let ofAddress = served.count { $0.value.address == address }
        guard served.count < limit - 2 * kept, ofAddress < limitPerAddress - kept else { return false }
        entries[id]?.servesGuest = true
        return true
    }

    /// The connection is closed.
    mutating func closed(_ id: ID) { entries[id] = nil }
}
