// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol

/// A snapshot of all objects of bluetoothd on the message bus.
struct BusSnapshot {
    var service: RadioFacts.Service
    private(set) var adapters: [String: AdapterProperties] = [:]
    private(set) var devices: [String: KnownDevice] = [:]

    /// Takes the snapshot. A call that hangs is cancelled.
    static func look(_ poller: Poller) async -> Self {
        let bus: BlueZBus
        do {
            bus = try BlueZBus(poller: poller)
        } catch {
            return Self(service: error.code == .notPermitted ? .denies(error.cause) : .hasNoBus(error.cause))
        }
        let alarm = Task {
            try await Task.sleep(for: RadioLimits.checkup)
            await bus.close()
        }
        defer { alarm.cancel() }
        await bus.start()
        var look = Self(service: .hasNoBus("the message bus does not answer"))
        guard await look.awaitService(bus.events) else {
            await bus.close()
            return look
        }
        look.service = await answer(of: bus)
        // The listed objects are among the events, which end here.
        await bus.close()
        for await event in bus.events { look.take(event) }
        return look
    }

    /// Whether bluetoothd is on the bus. The bus reports this first.
    private mutating func awaitService(_ events: AsyncStream<BusEvent>) async -> Bool {
        for await event in events {
            switch event {
            case .serviceAppeared: return true
            case .serviceVanished:
                service = .isMissing
                return false
            default: continue
            }
        }
        return false
    }

    private static func answer(of bus: BlueZBus) async -> RadioFacts.Service {
        do {
            try await bus.listObjects()
            return .answers
        } catch {
            let cause = error.text.isEmpty ? error.name : error.text
            return switch error.radioError.code {
            case .notPermitted: .denies(cause)
            case .serviceNotRunning: .fails("bluetoothd does not answer: \(cause)")
            default: .fails(cause)
            }
        }
    }

    /// Adds what bluetoothd reports of an adapter or a device.
    mutating func take(_ event: BusEvent) {
        switch event {
        case .adapter(let path, let change): adapters[path] = change
        case .device(let path, let change): devices[path, default: KnownDevice()].merge(change)
        default: break
        }
    }

    /// An adapter's facts, completed with what bluetoothd reports.
    func completed(_ facts: AdapterFacts) -> AdapterFacts {
        var facts = facts
        let path = "/org/bluez/\(facts.name)"
        facts.properties = adapters[path] ?? AdapterProperties()
        facts.linked = devices.sorted { $0.key < $1.key }.compactMap { device, known in
            guard device.hasPrefix(path + "/"), known.isConnected else { return nil }
            let name = known.name.isEmpty ? known.address?.address ?? "" : known.name
            return LinkedDevice(
                name: NodeName(untrusted: name).text,
                isAudio: known.icon.hasPrefix("audio") || known.services.contains(where: Self.isSound))
        }
        return facts
    }

    /// Headset, audio sink and source, hands-free, and the services of LE Audio (assigned numbers, 3.4 and 3.3).
    private static func isSound(_ service: String) -> Bool {
        let sounds = ["1108", "110a", "110b", "1112", "111e", "111f", "184e", "184f", "1850", "1853", "1854"]
        return service.hasSuffix("-0000-1000-8000-00805f9b34fb")
            && sounds.contains(String(service.dropFirst(4).prefix(4)))
    }
}
