// SPDX-License-Identifier: Apache-2.0

/// Notices whether bluetoothd ends between two moments, also where it is started again at once.
struct ServiceWatch {
    private let bus: BlueZBus
    private let poller: Poller
    private let listening: Task<Bool, Never>

    /// From now on. Nil where there is no bluetoothd to watch.
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

    /// Until now. Whether it has ended meanwhile.
    func end() async -> Bool {
        // What the bus has told before its answer is among the events by then.
        try? await bus.listObjects()
        await bus.close()
        let hasEnded = await listening.value
        poller.close()
        return hasEnded
    }
}
