// SPDX-License-Identifier: Apache-2.0

import CBlueZ
import Glibc

/// Lets one dial at a time through: the kernel makes one LE connection at a time, and answers EBUSY to others.
struct DialQueue {
    private var waiting: [(id: Int, turn: CheckedContinuation<Bool, Never>)] = []
    private var lastID = 0
    private(set) var isBusy = false

    mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    /// Takes the turn if it is free, or waits for it.
    mutating func enter(_ id: Int, _ turn: CheckedContinuation<Bool, Never>) {
        guard isBusy else {
            isBusy = true
            turn.resume(returning: true)
            return
        }
        waiting.append((id, turn))
    }

    /// Gives up waiting.
    mutating func leave(_ id: Int) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        waiting.remove(at: index).turn.resume(returning: false)
    }

    /// Gives the turn to the next.
    mutating func done() {
        guard !waiting.isEmpty else {
            isBusy = false
            return
        }
        waiting.removeFirst().turn.resume(returning: true)
    }
}

extension BlueZRadio {
    /// Opens a channel, after the dials before it. The kernel keeps one attempt pending for 40 s.
    public func dial(_ endpoint: RadioEndpoint) async throws(RadioError) -> any RadioChannel {
        guard !endpoint.requiresBond || isBonded(with: endpoint) else {
            // A dial would have the kernel pair by itself, with nobody asked, and be refused all the same.
            throw Self.noBond
        }
        guard await takeTurn() else { throw RadioError(.cancelled) }
        await pauseDiscovery()
        await makeWayForDial(of: endpoint)
        let outcome: Result<any RadioChannel, RadioError>
        do throws(RadioError) {
            outcome = .success(try await connect(to: endpoint))
        } catch {
            outcome = .failure(error)
        }
        dialQueue.done()
        // A scan that is wanted goes on; without a dial pending it does not hurt.
        if scanned != nil { try? await discover() }
        return try outcome.get()
    }

    private static let noBond = RadioError(.bondRequired, "the host takes only devices that it is bonded with")

    /// A bond whose key is too short is refused by the host's kernel: ECONNREFUSED, as of a host that has another PSM by
    /// now, which is found out when it is heard the next time. A dial that nobody answers ends so as well, but later.
    ///
    /// Where the other side has forgotten the bond, our kernel ends the link as soon as it is to be encrypted: the
    /// controller says that the key is missing. The socket says no more of it than of an adapter that went away.
    private func isOfForgottenBond(_ code: Int32) -> Bool {
        (code == ECONNABORTED || code == EACCES) && (try? Adapter.find(adapter.name))?.isUp == true
    }

    private func isBonded(with endpoint: RadioEndpoint) -> Bool {
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

    private func connect(to endpoint: RadioEndpoint) async throws(RadioError) -> any RadioChannel {
        await askBeforeDial()
        defer {
            for dial in unansweredDials { dial.close() }
            unansweredDials = []
        }
        var failures = 0
        let giveUp = ContinuousClock.now + RadioLimits.dialLimit
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
                    // What ends a dial is the other side's doing or the air's, unless the adapter itself is gone.
                    let error = Self.socketError(failure)
                    let isOurs = error.code == .noAdapter || error.code == .radioOff
                    throw isOurs ? error : RadioError(.dialFailed, error.cause)
                }
            }
            try? await Task.sleep(for: RadioLimits.dialPause)
            guard !Task.isCancelled else { throw RadioError(.cancelled) }
        }
    }

    private struct DialFailure: Error {
        var errno: Int32
    }

    /// A dial that has waited for `RadioLimits.dialRenewal` is made again.
    private static let renewal: Int32 = EAGAIN

    /// One dial. The kernel would end it after 40 s, and a controller may have forgotten it, so it is made again before.
    /// Cancelling the task closes the socket, which ends it at once.
    ///
    /// Over a link that is up, the answer to it may have gone to another channel. Then the other side has a channel for it, and would
    /// refuse one of the same number: so it stays, unanswered, while the next one is made.
    private func attempt(
        _ endpoint: RadioEndpoint
    ) async throws(RadioError) -> Result<any RadioChannel, DialFailure> {
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
            // Only now: closing it earlier has another reason.
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
            throw RadioError(.radioOff, "the adapter is being reset")
        }
        let result = try socket.attempt { Int(cbluez_l2cap_dial_result($0)) }
        guard result == 0 else { return .failure(DialFailure(errno: Int32(-result))) }
        guard let connected = socket.surrender() else { throw RadioError(.closed) }
        let channel = channel(connected, to: endpoint, isDialled: true)
        dialTimes[channel.handle] = dialClock?.time(now: now)
        return .success(endpoint.isStream ? channel.carryingStream : channel as any RadioChannel)
    }

    /// A controller that has stopped to answer is told from a host that is out of reach, before the dial keeps it from being asked.
    private func askBeforeDial() async {
        askController()
        if asking != nil { try? await Task.sleep(for: RadioLimits.promptAnswer) }
    }

    /// Asks the controller what had to wait for the end of a dial. While the kernel makes a connection, it waits for the
    /// controller's word on that, and does not know it any more where another process's command comes between: the dial hangs
    /// for four seconds then, and nothing else is dialled (`docs/bluez.md`). Before the next dial there is a pause.
    private func commandsThatWaited() {
        guard dialling == nil else { return }
        if questionWaits { askController() }
        askWhatWaits()
    }

    /// "Connection failed to be established" (0x3e) and its kin reach programs as ENOSYS, and a dial of somebody else on
    /// the adapter as EBUSY: both pass.
    private static func isWorthRepeating(_ code: Int32) -> Bool {
        code == ENOSYS || code == EBUSY
    }
}
