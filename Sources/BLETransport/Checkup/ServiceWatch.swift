// SPDX-License-Identifier: Apache-2.0

import Bearers

/// Detects whether bluetoothd ends between two times, even if it restarts at once.
struct ServiceWatch {
    private let bus: BlueZBus
    private let poller: Poller
    private let listening: Task<Bool, Never>

    /// Starts to watch. Nil without a bluetoothd.
    static func begin() async -> Self? {
        guard let poller = try? Poller(), let bus = try? BlueZBus(poller: poller) else { return nil }
        let listening = Task {
            var (isThere, hasEnded) = (false, false)
            for await event in bus.events {
                switch event {
                case .serviceAppeared: isThere = true
                case .serviceVanished: hasEnded = hasEnded || isThere
                default: break
                }
            }
            return hasEnded
        }
        await bus.start()
        let watch = Self(bus: bus, poller: poller, listening: listening)
        do {
            try await bus.listObjects()
        } catch {
            _ = await watch.end()
            return nil
        }
        return watch
    }

    /// Stops watching. Returns whether bluetoothd has ended.
    func end() async -> Bool {
        // All earlier messages of the bus are among the events when this call is answered.
        try? await bus.listObjects()
        await bus.close()
        let hasEnded = await listening.value
        poller.close()
        return hasEnded
    }
}
