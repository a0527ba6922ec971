// SPDX-License-Identifier: Apache-2.0

import BLETransport
import MeshProtocol

/// When a broker is tried again, what people are told of it, and what it costs.
struct BrokerAccount: Sendable {
    private var tries = 0
    /// The server that was tried last, of how many.
    private var server: Int?
    private var servers = 1
    /// When the last try began, and how long one took that has led to a connection.
    private var began: MeshInstant
    private var took: Duration?
    private var connectedSince: MeshInstant?
    /// Since when there is no connection.
    private var awaySince: MeshInstant
    /// What was told last.
    private var told: BrokerCondition?
    private var fault: BrokerFault?
    /// Of the connections that are over.
    private var former = BrokerTraffic()
    private var hourBegan: MeshInstant
    private var atBeginOfHour = BrokerTraffic()
    private var billTold: MeshInstant

    init(now: MeshInstant) { (began, awaySince, hourBegan, billTold) = (now, now, now, now) }

    /// A try begins: with which of the broker's servers, and how long it may take. They are tried in turn, from one on that `chance`
    /// decides, so that not all nodes are at the first.
    mutating func begin(
        _ options: MQTTConnection.Options, chance: Int, now: MeshInstant
    ) -> MQTTConnection.Options {
        var options = options
        servers = options.broker.servers.count
        options.server = (server.map { $0 + 1 } ?? chance) % servers
        (server, began) = (options.server, now)
        if servers > 1, let took, now - awaySince < BrokerLimits.hurry {
            options.patience = min(max(took * 4, BrokerLimits.leastPatience), BrokerLimits.connect)
        }
        return options
    }

    /// This node can call, and be called.
    mutating func connected(now: MeshInstant) -> [BrokerCondition] {
        (connectedSince, fault, took) = (now, nil, now - began)
        return tell(.connected)
    }

    /// Messages on a topic do not come back, and the connection stays.
    mutating func silent(_ topic: String) -> [BrokerCondition] { tell(.silent(topic)) }

    /// The connection is over, or there was none.
    mutating func ended(_ fault: BrokerFault, now: MeshInstant) -> [BrokerCondition] {
        if let connectedSince {
            if now - connectedSince >= BrokerLimits.settled { tries = 0 }
            awaySince = now
        }
        connectedSince = nil
        tries += 1
        self.fault = fault
        return judge(now: now)
    }

    /// How long the next try waits: all of it is chance, so that many do not come at once. `jitter` is from 0 to 1. It grows when all
    /// servers have been tried, and is shorter where there are more of them, each of which fewer come to.
    func pause(jitter: Double) -> Duration {
        let rounds = max(tries - 1, 0) / servers
        let longest = BrokerLimits.firstPause * (1 << min(rounds, 8)) / servers
        return min(longest, BrokerLimits.longestPause) * jitter
    }

    /// What a person has to do something about is told at once; that nothing answers only when it lasts.
    private mutating func judge(now: MeshInstant) -> [BrokerCondition] {
        guard let fault else { return [] }
        let mayPass = fault.kind == .unreachable || fault.isPassing
        if mayPass, now - awaySince < BrokerLimits.patience { return [] }
        switch fault.kind {
        case .refused: return tell(.refused(fault.cause))
        case .untrusted: return tell(.untrusted(fault.cause))
        case .clockWrong: return tell(.clockWrong(fault.cause))
        case .silent: return tell(.silent(fault.cause))
        case .unreachable: return tell(.unreachable(fault.cause))
        }
    }

    private mutating func tell(_ condition: BrokerCondition) -> [BrokerCondition] {
        guard condition != told else { return [] }
        told = condition
        return [condition]
    }

    // MARK: The bill

    /// A connection that is over has carried this.
    mutating func carried(_ traffic: BrokerTraffic) { former = former + traffic }

    /// Everything, with what the connection has carried so far.
    func all(with traffic: BrokerTraffic) -> BrokerTraffic { former + traffic }

    /// Time has passed; the connection has carried this so far.
    mutating func tick(_ traffic: BrokerTraffic, now: MeshInstant) -> [BrokerCondition] {
        let isHour = now - hourBegan >= BrokerLimits.bill
        let isDue = isHour || now - billTold >= BrokerLimits.billTold
        var conditions = judge(now: now)
        guard isDue else { return conditions }
        billTold = now
        let all = all(with: traffic)
        let bill = all - atBeginOfHour
        conditions.append(.carried(sent: bill.sent, received: bill.received, isHour: isHour))
        if isHour { (hourBegan, atBeginOfHour) = (now, all) }
        return conditions
    }
}

extension Doorbell {
    /// Waits until it rings, or until this has passed: the pause before the next try.
    func wait(atMost pause: Duration) async {
        let alarm = Task {
            try? await Task.sleep(for: pause)
            if !Task.isCancelled { ring() }
        }
        try? await wait()
        alarm.cancel()
    }
}
