// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A bond that bluetoothd keeps.
public struct Bond: Hashable, Sendable, Codable {
    /// Which one it is. Opaque; the radio's own form.
    public let id: String
    /// What the other device calls itself.
    public let name: String
    /// Whether a link to it is up.
    public let isConnected: Bool

    /// Whether it is the one that a person has named, by its name or its address.
    public func isCalled(_ wanted: String) -> Bool { name == wanted || id.lowercased() == wanted.lowercased() }
}

/// The bonds of an adapter: bluetoothd keeps them, across its restarts and the device's.
public actor Bonds {
    private let adapter: Adapter
    private let poller: Poller

    /// The bonds of an adapter, or of the first that is up where it is nil. Throws where there is none.
    public init(adapter: String?) throws(RadioError) {
        self.adapter = try Adapter.find(adapter)
        poller = try Poller()
    }

    /// All of them, by name.
    public func list() async throws(RadioError) -> [Bond] {
        try await withBus { bus throws(BusFailure) in
            await self.devices(on: bus).map(\.bond).sorted { ($0.name, $0.id) < ($1.name, $1.id) }
        }
    }

    /// Forgets a bond, and drops its link. Forgetting what is not there is no error.
    public func forget(_ bond: Bond) async throws(RadioError) {
        let adapter = adapter.path
        try await withBus { bus throws(BusFailure) in
            for device in await self.devices(on: bus) where device.bond.id == bond.id {
                try await bus.remove(device: device.path, from: adapter)
            }
        }
    }

    private struct Device {
        var path: String
        var bond: Bond
    }

    private func withBus<Result: Sendable>(
        _ body: (BlueZBus) async throws(BusFailure) -> Result
    ) async throws(RadioError) -> Result {
        let bus = try BlueZBus(poller: poller)
        await bus.start()
        let result: Swift.Result<Result, BusFailure>
        do throws(BusFailure) {
            try await bus.listObjects()
            result = .success(try await body(bus))
        } catch {
            result = .failure(error)
        }
        await bus.close()
        do {
            return try result.get()
        } catch {
            throw error.radioError
        }
    }

    private func devices(on bus: BlueZBus) async -> [Device] {
        var known: [String: KnownDevice] = [:]
        for await event in bus.events {
            if case .objectsListed = event { break }
            guard case .device(let path, let change) = event, path.hasPrefix(adapter.path + "/") else { continue }
            known[path, default: KnownDevice()].merge(change)
        }
        return known.compactMap { path, device in
            guard device.hasBond, let address = device.address?.address else { return nil }
            let name = NodeName(untrusted: device.alias.isEmpty ? device.name : device.alias).text
            return Device(path: path, bond: Bond(id: address, name: name, isConnected: device.isConnected))
        }
    }

    deinit { poller.close() }
}
