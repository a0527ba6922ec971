// SPDX-License-Identifier: Apache-2.0

/// The kernel's default parameters of an adapter, to be saved and restored. They outlive bluetoothd, which sets them
/// only at its start.
public struct AdapterDefaults: Hashable, Sendable, Codable {
    private var settings: AdapterSettings

    init(_ settings: AdapterSettings) { self.settings = settings }

    /// An adapter's current defaults. Nil if the kernel does not report them, or the adapter does not exist.
    public static func read(of adapter: String) -> Self? {
        (try? Adapter.find(adapter)).flatMap { AdapterSettings.read(of: $0.index) }.map(Self.init)
    }

    /// Sets an adapter to these defaults. Needs CAP_NET_ADMIN. Returns whether the kernel accepts them.
    public func set(on adapter: String) -> Bool {
        (try? Adapter.find(adapter)).map { settings.set(on: $0.index) } ?? false
    }

    /// A copy with this advertising interval, in units of 0.625 ms.
    public func advertising(_ interval: ClosedRange<UInt16>) -> Self {
        var copy = self
        (copy.settings.advertisingMin, copy.settings.advertisingMax) = (interval.lowerBound, interval.upperBound)
        return copy
    }

    /// A copy with this connection interval of dialled links, in units of 1.25 ms, and their supervision timeout, in
    /// units of 10 ms.
    public func links(_ interval: ClosedRange<UInt16>, supervisionTimeout: UInt16) -> Self {
        var copy = self
        (copy.settings.connectionMin, copy.settings.connectionMax) = (interval.lowerBound, interval.upperBound)
        copy.settings.supervisionTimeout = supervisionTimeout
        return copy
    }
}
