// SPDX-License-Identifier: Apache-2.0

import FieldTest
import MeshProtocol

/// The data that the caller has received, and its waits for more.
actor BenchInbox {
    /// The data received so far.
    struct Contents {
        var isConnected = false
        /// How often the session was connected.
        var connections = 0
        /// When the session was first connected, and when it was last lost.
        var joined = ContinuousClock.now
        var lost = ContinuousClock.now
        var listener: BenchMachine?
        var callers = 1
        var lastEcho = 0
        /// The load of the listener in the idle session.
        var load: LoadRate?
        var bulkBytes = 0
        /// The bytes of the other side's last `end`, and when it came.
        var end: (bytes: Int, at: ContinuousClock.Instant)?
        /// The stream of messages is over.
        var isOver = false
    }

    private(set) var contents = Contents()
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func show(_ state: ConnectionState) {
        let isConnected = state == .connected
        guard isConnected != contents.isConnected else { return }
        contents.isConnected = isConnected
        if isConnected {
            contents.connections += 1
            if contents.connections == 1 { contents.joined = .now }
        } else {
            contents.lost = .now
        }
        wake()
    }

    func received(_ body: [UInt8]) {
        if body.first == BenchMessage.bulkMark {
            contents.bulkBytes += body.count
        } else {
            switch BenchMessage(body) {
            case .hello(let machine, let callers):
                (contents.listener, contents.callers) = (machine.shortened, callers ?? 1)
            case .echo(let number): contents.lastEcho = max(contents.lastEcho, number)
            case .load(let rate): contents.load = rate
            case .end(let bytes): contents.end = (bytes, .now)
            case .request, .idle, nil: return
            }
        }
        wake()
    }

    func beginBulk() { (contents.bulkBytes, contents.end) = (0, nil) }

    func end() {
        contents.isOver = true
        wake()
    }

    /// Waits until a condition holds. Returns whether it holds; it may not when the time is over, the session has ended
    /// or the task is cancelled.
    func wait(atMost limit: Duration, until condition: @Sendable (Contents) -> Bool) async -> Bool {
        let deadline = ContinuousClock.now + limit
        let alarm = Task {
            try? await Task.sleep(until: deadline, clock: .continuous)
            self.wake()
        }
        defer { alarm.cancel() }
        while !condition(contents) {
            guard !contents.isOver, !Task.isCancelled, ContinuousClock.now < deadline else { return false }
            await withCheckedContinuation { waiting.append($0) }
        }
        return true
    }

    private func wake() {
        for waiter in waiting { waiter.resume() }
        waiting = []
    }
}

extension BenchMachine {
    /// The description with short texts. Another machine's texts may have any length and contain anything.
    var shortened: BenchMachine {
        func short(_ text: String) -> String { UntrustedText.shown(text, atMost: BenchLimits.textCharacters) }
        var machine = self
        (machine.radio, machine.kernel) = (short(radio), short(kernel))
        (machine.usb, machine.driver) = (usb.map(short), driver.map(short))
        (machine.firmware, machine.bluez) = (firmware.map(short), bluez.map(short))
        return machine
    }
}
