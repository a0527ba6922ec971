// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ
import Glibc

/// Allows one dial at a time. The kernel makes one LE connection at a time, and answers EBUSY to others.
struct DialQueue {
    private var waiting: [(id: Int, turn: CheckedContinuation<Bool, Never>)] = []
    private var lastID = 0
    private(set) var isBusy = false

    mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    /// Starts the dial if no other runs, or waits.
    mutating func enter(_ id: Int, _ turn: CheckedContinuation<Bool, Never>) {
        guard isBusy else {
            isBusy = true
            turn.resume(returning: true)
            return
        }
        waiting.append((id, turn))
    }

    /// Stops waiting.
    mutating func leave(_ id: Int) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        waiting.remove(at: index).turn.resume(returning: false)
    }

    /// Ends the dial and starts the next.
    mutating func done() {
        guard !waiting.isEmpty else {
            isBusy = false
            return
        }
        waiting.removeFirst().turn.resume(returning: true)
    }
}

extension BlueZBearer {
    /// Opens a channel, after the dials before it. The kernel keeps an attempt pending for 40 s.
    public func dial(_ endpoint: BearerEndpoint) async throws(BearerError) -> any BearerChannel {
        guard !endpoint.requiresBond || isBonded(with: endpoint) else {
            // Without this check the kernel would pair without asking the user, and the dial would be refused anyway.
            throw Self.noBond
        }
        guard await takeTurn() else { throw BearerError(.cancelled) }
        await pauseDiscovery()
        await makeWayForDial(of: endpoint)
        let outcome: Result<any BearerChannel, BearerError>
        do throws(BearerError) {
            outcome = .success(try await connect(to: endpoint))
        } catch {
            outcome = .failure(error)
        }
        dialQueue.done()
        // Resume a wanted scan, which does no harm while no dial is pending.
        if scanned != nil { try? await discover() }
        return try outcome.get()
    }

    private static let noBond = BearerError(.bondRequired, "the host takes only devices that it is bonded with")

    /// If the bond's key is too short, the host's kernel refuses the dial with ECONNREFUSED. A host with a new PSM
    /// gives the same error, and its next scan result shows the new PSM. A dial without an answer also ends this way,
    /// but later.
    ///
    /// If the other side has forgotten the bond, our kernel ends the link as soon as encryption starts: the controller
    /// reports a missing key. The socket then gives the same error as for an adapter that went away.
    private func isOfForgottenBond(_ code: Int32) -> Bool {
        (code == ECONNABORTED || code == EACCES) && (try? Adapter.find(adapter.name))?.isUp == true
    }

    private func isBonded(with endpoint: BearerEndpoint) -> Bool {
        devices.values.contains { $0.hasBond && $0.address?.address == endpoint.address }
    }

    private func takeTurn() async -> Bool {
        let id = dialQueue.nextID()
        let isOurs = await withTaskCancellationHandler {
            await withCheckedContinuation { turn in
                if Task.isCancelled { turn.resume(returning: false) } else { dialQueue.enter(id, turn) }
            }
        } onCancel: {
            Task { await self.leaveQueue(id) }
        }
        if isOurs, Task.isCancelled {
            dialQueue.done()
            return false
        }
        return isOurs
    }

    private func leaveQueue(_ id: Int) { dialQueue.leave(id) }

    private func connect(to endpoint: BearerEndpoint) async throws(BearerError) -> any BearerChannel {
        await askBeforeDial()
        defer {
            for dial in unansweredDials { dial.close() }
            unansweredDials = []
        }
        var failures = 0
        let giveUp = ContinuousClock.now + BearerLimits.dialLimit
        while true {
            let begun = ContinuousClock.now
            let failure: Int32
            switch try await attempt(endpoint) {
            case .success(let channel): return channel
            case .failure(let code): failure = code.errno
            }
            let isAnswered = ContinuousClock.now - begun < RadioLimits.dialAnswered
            if endpoint.requiresBond, isOfForgottenBond(failure) || failure == ECONNREFUSED && isAnswered {
                throw Self.noBond
            }
            if failure != Self.renewal || ContinuousClock.now >= giveUp {
                failures += 1
                guard Self.isWorthRepeating(failure), failures < RadioLimits.dialRepeats else {
                    // A dial fails because of the other side or the air, unless the adapter itself is gone.
                    let error = Self.socketError(failure)
                    let isOurs = error.code == .noAdapter || error.code == .radioOff
                    throw isOurs ? error : BearerError(.dialFailed, error.cause)
                }
            }
            try? await Task.sleep(for: RadioLimits.dialPause)
            guard !Task.isCancelled else { throw BearerError(.cancelled) }
        }
    }

    private struct DialFailure: Error {
        var errno: Int32
    }

    /// Makes a dial again that has waited for `RadioLimits.dialRenewal`.
    private static let renewal: Int32 = EAGAIN

    /// Makes one dial. The kernel would end the dial after 40 s, and a controller may have lost it, so the dial is made
    /// again before that. Cancelling the task closes the socket, which ends the dial at once.
    ///
    /// Over a link that is up, the answer may have gone to another channel. The other side then has a channel for this
    /// number and would refuse another dial with it. So this socket stays open, unanswered, while the next dial runs.
    private func attempt(
        _ endpoint: BearerEndpoint
    ) async throws(BearerError) -> Result<any BearerChannel, DialFailure> {
        applySettings(toDialOf: endpoint)
        let device = devices.values.first { $0.address?.address == endpoint.address }
        dialClock = DialClock(of: endpoint.address, lastHeard: device?.lastHeard, now: now)
        var local = adapter.address.kernelAddress
        var remote = endpoint.kernelAddress
        var options = Self.channelOptions
        let descriptor = cbluez_l2cap_dial(&local, &remote, UInt16(endpoint.psm), &options)
        guard descriptor >= 0 else { return .failure(DialFailure(errno: -descriptor)) }
        let socket = PacketSocket(descriptor, poller: poller)
        dialling = socket
        let isLinked = device?.isConnected == true && unansweredDials.count < RadioLimits.linkedDials
        let renewal = Task {
            try await Task.sleep(for: isLinked ? RadioLimits.linkedDialRenewal : RadioLimits.dialRenewal)
            // Only now: a socket that was closed earlier was closed for another reason.
            if dialling === socket { dialling = nil }
            if isLinked, let descriptor = socket.surrender() {
                unansweredDials.append(PacketSocket(descriptor, poller: poller))
            } else {
                socket.close()
            }
        }
        defer {
            renewal.cancel()
            if dialling === socket { dialling = nil }
            dialClock = nil
            commandsThatWaited()
        }
        do {
            try await socket.wait(for: .writable)
        } catch {
            guard error.code == .closed else { throw error }
            guard dialling === socket else { return .failure(DialFailure(errno: Self.renewal)) }
            throw BearerError(.radioOff, "the adapter is being reset")
        }
        let result = try socket.attempt { Int(cbluez_l2cap_dial_result($0)) }
        guard result == 0 else { return .failure(DialFailure(errno: Int32(-result))) }
        guard let connected = socket.surrender() else { throw BearerError(.closed) }
        let channel = channel(connected, to: endpoint, isDialled: true)
        dialTimes[channel.handle] = dialClock?.time(now: now)
        return .success(endpoint.isStream ? channel.carryingStream : channel as any BearerChannel)
    }

    /// Distinguishes a hung controller from an unreachable host, before the dial blocks questions to the controller.
    private func askBeforeDial() async {
        askController()
        if asking != nil { try? await Task.sleep(for: RadioLimits.promptAnswer) }
    }

    /// Sends the questions that had to wait for the end of a dial. During a connection attempt the kernel waits for the
    /// controller's result, and misses it if a command of another process comes in between. The dial then hangs for
    /// four seconds and blocks all others (`docs/bluez.md`). There is a pause before the next dial.
    private func commandsThatWaited() {
        guard dialling == nil else { return }
        if questionWaits { askController() }
        askWhatWaits()
    }

    /// "Connection failed to be established" (0x3e) and similar errors reach programs as ENOSYS. A dial of another
    /// program on the adapter gives EBUSY. Both are temporary.
    private static func isWorthRepeating(_ code: Int32) -> Bool {
        code == ENOSYS || code == EBUSY
    }
}
