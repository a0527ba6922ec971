// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol

/// A bond that bluetoothd keeps.
public struct Bond: Hashable, Sendable, Codable {
    /// The identifier of the bond, in the radio's own form. Opaque.
    public let id: String
    /// The other device's own name.
    public let name: String
    /// Whether a link to the device is up.
    public let isConnected: Bool

    /// Whether the user means this bond by a name or an address.
    public func isCalled(_ wanted: String) -> Bool { name == wanted || id.lowercased() == wanted.lowercased() }
}

/// The bonds of an adapter. bluetoothd keeps them when it restarts and when the machine restarts.
public actor Bonds {
    private let adapter: Adapter
    private let poller: Poller

    /// The bonds of an adapter, or with nil of the first that is up. Throws without an adapter.
    public init(adapter: String?) throws(BearerError) {
        self.adapter = try Adapter.find(adapter)
        poller = try Poller()
    }

    /// All bonds, by name.
    public func list() async throws(BearerError) -> [Bond] {
        try await withBus { bus throws(BusFailure) in
            await self.devices(on: bus).map(\.bond).sorted { ($0.name, $0.id) < ($1.name, $1.id) }
        }
    }

    /// Removes a bond and ends its link. A missing bond is not an error.
    public func forget(_ bond: Bond) async throws(BearerError) {
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
    ) async throws(BearerError) -> Result {
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
