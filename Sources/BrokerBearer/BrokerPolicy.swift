// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol

/// Decides when to retry the connection to a broker and what to report to people, and counts the bytes.
struct BrokerPolicy: Sendable {
    private var tries = 0
    /// The index of the server that was tried last.
    private var server: Int?
    private var servers = 1
    /// When the last attempt began, and how long the last successful attempt took.
    private var began: MeshInstant
    private var took: Duration?
    private var connectedSince: MeshInstant?
    /// The time since which the connection is lost.
    private var awaySince: MeshInstant
    /// The condition that was reported last.
    private var told: BrokerCondition?
    private var fault: BrokerFault?
    /// The traffic of earlier connections.
    private var former = BrokerTraffic()
    private var hourBegan: MeshInstant
    private var atBeginOfHour = BrokerTraffic()
    private var billTold: MeshInstant

    init(now: MeshInstant) { (began, awaySince, hourBegan, billTold) = (now, now, now, now) }

    /// Starts an attempt: chooses the server and the time limit. The servers are tried in turn. The first one is random
    /// (`chance`), so that the nodes spread over all servers.
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

    /// The connection works: the node can call other nodes and be called.
    mutating func connected(now: MeshInstant) -> [BrokerCondition] {
        (connectedSince, fault, took) = (now, nil, now - began)
        return tell(.connected)
    }

    /// Messages on a topic do not come back. The connection stays.
    mutating func silent(_ topic: String) -> [BrokerCondition] { tell(.silent(topic)) }

    /// The connection has ended, or the attempt failed.
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

    /// Returns the pause before the next attempt. It is entirely random, so that many nodes do not connect at once.
    /// `jitter` is from 0 to 1. The pause grows each time that all servers were tried. With more servers it is shorter,
    /// because each server gets fewer nodes.
    func pause(jitter: Double) -> Duration {
        let rounds = max(tries - 1, 0) / servers
        let longest = BrokerLimits.firstPause * (1 << min(rounds, 8)) / servers
        return min(longest, BrokerLimits.longestPause) * jitter
    }

    /// Reports a fault that a person must fix at once. Reports an unreachable broker only after
    /// `BrokerLimits.patience`.
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

    // MARK: Counting bytes

    /// Adds the traffic of a connection that has ended.
    mutating func carried(_ traffic: BrokerTraffic) { former = former + traffic }

    /// The traffic of all connections, including the present one.
    func all(with traffic: BrokerTraffic) -> BrokerTraffic { former + traffic }

    /// Handles the passage of time. `traffic` is the traffic of the present connection.
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
    /// Waits until the doorbell rings, but at most for `pause`: the pause before the next attempt.
    func wait(atMost pause: Duration) async {
        let alarm = Task {
            try? await Task.sleep(for: pause)
            if !Task.isCancelled { ring() }
        }
        try? await wait()
        alarm.cancel()
    }
}
