// SPDX-License-Identifier: Apache-2.0

import Bearers
import FieldTest
import FoundationEssentials
import MeshNode
import MeshProtocol
import MeshSession
import NodeCore

/// The side of `fieldtest bench` that measures.
struct BenchCaller: Sendable {
    /// The person's choices.
    struct Plan: Sendable {
        var host: String
        var distance: Double?
        /// Time of each direction of the data rate.
        var rateTime: Duration
        var gaps: Int
        /// Time to look for the listener.
        var wait: Duration
    }

    private let guest: MeshGuest
    private let bearer: any Bearer
    private let machine: BenchMachine
    private let plan: Plan
    /// Shows what is measured at present.
    private let show: @Sendable (String) -> Void
    private let inbox = BenchInbox()

    init(
        _ guest: MeshGuest, over bearer: any Bearer, _ machine: BenchMachine, _ plan: Plan,
        show: @escaping @Sendable (String) -> Void
    ) {
        (self.guest, self.bearer, self.machine, self.plan, self.show) = (guest, bearer, machine, plan, show)
    }

    /// Measures everything. `began` is when the program started.
    func run(since began: ContinuousClock.Instant) async throws -> BenchResult {
        try await guest.executeThenClose { messages in
            let reading = Task { [inbox] in
                do {
                    for try await message in messages { await inbox.received(message.body) }
                    await inbox.end()
                } catch {
                    await inbox.end()
                    throw error
                }
            }
            let watching = Task { [inbox, guest] in
                for await state in await guest.connectionState { await inbox.show(state) }
            }
            defer {
                reading.cancel()
                watching.cancel()
            }
            return try await withTaskCancellationHandler {
                do {
                    return try await measure(since: began)
                } catch MeshCoreError.sessionOver {
                    // The listener has left, or has refused this node, which explains more.
                    try await reading.value
                    throw noAnswer
                }
            } onCancel: {
                Task { [inbox] in await inbox.end() }
            }
        }
    }

    private func measure(since began: ContinuousClock.Instant) async throws -> BenchResult {
        show("Looking for \(plan.host)…")
        guard await inbox.wait(atMost: plan.wait, until: { $0.isConnected }) else {
            try Task.checkCancellation()
            throw SetupProblem(
                notReached: plan.host, within: plan.wait,
                ". Start it with: roadmesh fieldtest bench --listen \"\(plan.host)\"")
        }
        let join = await inbox.contents.joined - began
        try await send(.hello(machine, callers: nil))
        guard await inbox.wait(atMost: BenchLimits.answer, until: { $0.listener != nil }),
            let listener = await inbox.contents.listener
        else { throw noAnswer }
        var result = BenchResult(
            version: RoadMeshVersion.text, day: String(Date().ISO8601Format().prefix(10)), distance: plan.distance,
            caller: machine, listener: listener, join: join / .seconds(1), links: 1)
        result.roundTrip = await roundTrips()
        result.goodput = try await rates()
        result.idle = try await idle()
        result.reconnect = try await reconnects()
        result.powerCycle = try await powerCycle()
        try await send(.hello(machine, callers: result.links))
        // The echo follows the answer to the hello.
        guard try await echo(.max) != nil else { throw noAnswer }
        result.links = await inbox.contents.callers
        return result
    }

    private var noAnswer: SetupProblem {
        SetupProblem(
            .unavailable, "\(plan.host) has stopped answering, so there is no result. Move closer and try again.")
    }

    private func send(_ message: BenchMessage) async throws { try await guest.send(message.body) }

    // MARK: Round trips and rates

    private func roundTrips() async -> BenchTimes? {
        show("Measuring \(BenchLimits.pings) round trips…")
        var times: [Double?] = []
        for _ in 0..<BenchLimits.pings { times.append(await guest.ping().map { $0 / .milliseconds(1) }) }
        return BenchTimes(times)
    }

    private func rates() async throws -> [BenchGoodput] {
        guard let radio = bearer as? any InterruptibleBearer, machine.radio == "bluez" else {
            return [try await rate(phy: nil)]
        }
        var rates: [BenchGoodput] = []
        for phy in LinkPHY.allCases {
            do throws(BearerError) {
                try await radio.change(to: phy)
            } catch {
                rates.append(BenchGoodput(phy: phy.rawValue, reason: error.cause))
                continue
            }
            rates.append(try await rate(phy: phy.rawValue))
        }
        // A PHY that this process may not choose is the one in use.
        if rates.allSatisfy({ $0.up == nil }) { rates.insert(try await rate(phy: nil), at: 0) }
        return rates
    }

    private func rate(phy: String?) async throws -> BenchGoodput {
        show("Measuring the data rate\(phy.map { " on the \($0) PHY" } ?? "")…")
        return BenchGoodput(phy: phy, up: try await upRate(), down: try await downRate())
    }

    private func upRate() async throws -> Double {
        await inbox.beginBulk()
        let began = ContinuousClock.now
        while ContinuousClock.now < began + plan.rateTime { try await guest.send(BenchMessage.bulk) }
        try await send(.end(bytes: 0))
        return try await endOfBulk { end, _ in Double(end.bytes) / ((end.at - began) / .seconds(1)) }
    }

    private func downRate() async throws -> Double {
        await inbox.beginBulk()
        let began = ContinuousClock.now
        try await send(.request(milliseconds: Int(plan.rateTime / .milliseconds(1))))
        return try await endOfBulk { end, bytes in Double(bytes) / ((end.at - began) / .seconds(1)) }
    }

    private func endOfBulk(
        _ rate: ((bytes: Int, at: ContinuousClock.Instant), _ received: Int) -> Double
    ) async throws -> Double {
        guard await inbox.wait(atMost: plan.rateTime + BenchLimits.answer, until: { $0.end != nil }),
            let end = await inbox.contents.end
        else { throw noAnswer }
        return rate(end, await inbox.contents.bulkBytes)
    }

    /// The loads of both sides while they send nothing.
    private func idle() async throws -> BenchIdle? {
        show("Measuring the idle session…")
        try await send(.idle(milliseconds: Int(BenchLimits.idleTime / .milliseconds(1))))
        let caller = await ProcessLoad.measured(for: BenchLimits.idleTime)
        try Task.checkCancellation()
        guard await inbox.wait(atMost: BenchLimits.answer, until: { $0.load != nil }),
            let listener = await inbox.contents.load
        else { return nil }
        return BenchIdle(caller: caller, listener: listener)
    }

    // MARK: Interruptions

    /// The time to the answer to an echo. Nil if none came in time.
    private func echo(_ number: Int) async throws -> ContinuousClock.Instant? {
        try await send(.echo(number))
        return await inbox.wait(atMost: BenchLimits.answer, until: { $0.lastEcho >= number }) ? .now : nil
    }

    private func reconnects() async throws -> BenchTimes? {
        guard let radio = bearer as? any InterruptibleBearer, plan.gaps > 0 else { return nil }
        var times: [Double?] = []
        for number in 1...plan.gaps {
            show("Ending the link, \(number) of \(plan.gaps)…")
            guard await endLink(of: radio) else {
                try Task.checkCancellation()
                throw noAnswer
            }
            let lost = await inbox.contents.lost
            let answered = try await echo(number)
            try Task.checkCancellation()
            times.append(answered.map { ($0 - lost) / .milliseconds(1) })
        }
        return BenchTimes(times)
    }

    /// Ends the link. Returns whether this happened in time. A radio does not know a new link at once, so a request right
    /// after a reconnect may have no effect, and is repeated.
    private func endLink(of radio: any InterruptibleBearer) async -> Bool {
        let before = await inbox.contents.connections
        let deadline = ContinuousClock.now + BenchLimits.answer
        while ContinuousClock.now < deadline, !Task.isCancelled {
            await radio.endLinks()
            // The guest may be back already.
            let hasEnded = await inbox.wait(
                atMost: BenchLimits.linkEnd, until: { !$0.isConnected || $0.connections > before })
            if hasEnded { return true }
        }
        return false
    }

    private func powerCycle() async throws -> Double? {
        guard let radio = bearer as? any InterruptibleBearer else { return nil }
        show("Switching the adapter off and on…")
        do throws(BearerError) {
            try await radio.switchAdapter(on: false)
        } catch {
            show("The adapter was not switched: \(error.cause).")
            return nil
        }
        // Also if the task is cancelled, the adapter must not stay off.
        try? await Task.sleep(for: BenchLimits.offTime)
        try? await radio.switchAdapter(on: true)
        let on = ContinuousClock.now
        try Task.checkCancellation()
        return try await echo(plan.gaps + 1).map { ($0 - on) / .seconds(1) }
    }
}
