// SPDX-License-Identifier: Apache-2.0

/// Decides which connections there may be. A newcomer that finds no room gets that of the connection that has done
/// nothing for the longest: a browser asks at once, and a client that only holds connections loses them. Some places are
/// kept for browsers of this device, and some for the driver's on the network, who is known by what is asked: so passengers never
/// shut the driver out.
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
        /// The driver has asked something by it.
        var isDriver = false
        /// It is busy with what somebody else than the driver has asked.
        var servesGuest = false
        /// Its place in the order of becoming idle.
        var turn: Int

        /// Who goes first to make room: the lower one.
        var rank: (Int, Int) { (isDriver ? 1 : 0, turn) }
    }

    private let limit: Int
    private let limitPerAddress: Int
    private let kept: Int
    private var entries: [ID: Entry] = [:]
    /// Grows: one that becomes idle again gets a new place at the end.
    private var turn = 0
    private var last = 0

    /// `kept` of the `limit` are for this device's own browsers.
    init(
        limit: Int = DashboardLimits.connections, limitPerAddress: Int = DashboardLimits.connectionsPerAddress,
        kept: Int = DashboardLimits.keptConnections
    ) {
        self.limit = limit
        self.limitPerAddress = limitPerAddress
        self.kept = min(kept, limit / 4)
    }

    var count: Int { entries.count }

    /// A connection from an address has been made.
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

    /// It has asked something, or has its answer.
    mutating func changed(_ id: ID, isBusy: Bool) {
        turn += 1
        entries[id]?.isBusy = isBusy
        entries[id]?.turn = turn
        if !isBusy { entries[id]?.servesGuest = false }
    }

    /// What it has asked is known: the driver's is answered always, that of others as long as enough places stay free for the
    /// driver, in all and of each address.
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

    /// It is gone.
    mutating func closed(_ id: ID) { entries[id] = nil }
}
