// SPDX-License-Identifier: Apache-2.0

import Bearers

/// DNS-SD with avahi-daemon. It performs the actions of `AvahiMachine`.
actor AvahiDirectory: ServiceDirectory {
    nonisolated let events: AsyncStream<DirectoryEvent>
    private let sink: AsyncStream<DirectoryEvent>.Continuation
    private var machine = AvahiMachine()
    private var bus: AvahiBus?
    private var listening: Task<Void, Never>?

    init() {
        (events, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(LANLimits.directoryEvents))
    }

    func open() async throws(BearerError) {
        let bus = try AvahiBus()
        listening = Task { await self.listen(to: bus) }
    }

    func publish(_ record: ServiceRecord?) { perform(machine.publish(record)) }

    func browse() { perform(machine.browse()) }

    func close() async {
        listening?.cancel()
        bus?.close()
        await listening?.value
        sink.finish()
    }

    private func perform(_ actions: [AvahiMachine.Action]) {
        for action in actions {
            switch action {
            case .call(let call): bus?.call(call)
            case .tell(let event): sink.yield(event)
            }
        }
    }

    /// Listens to the bus, and connects again after the bus has ended. A restarted bus has lost this node's requests.
    private func listen(to first: AvahiBus) async {
        var next: AvahiBus? = first
        while !Task.isCancelled {
            if let bus = next {
                self.bus = bus
                perform(machine.connected())
                for await event in bus.events { perform(machine.handle(event)) }
                bus.close()
                self.bus = nil
                perform(machine.disconnected("the message bus has gone"))
            }
            guard !Task.isCancelled else { return }
            try? await Task.sleep(for: LANLimits.busPause)
            next = try? AvahiBus()
        }
        next?.close()
    }
}
