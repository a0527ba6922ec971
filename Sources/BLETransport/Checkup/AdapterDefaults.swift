// SPDX-License-Identifier: Apache-2.0

/// What the kernel uses on an adapter where an advertisement or a dial names nothing else, to be kept and put back: it
/// outlives bluetoothd, which only sets it at its start.
public struct AdapterDefaults: Hashable, Sendable, Codable {
    private var settings: AdapterSettings

    init(_ settings: AdapterSettings) { self.settings = settings }

    /// What an adapter has now; nil where the kernel does not tell, or there is no such adapter.
    public static func read(of adapter: String) -> Self? {
        (try? Adapter.find(adapter)).flatMap { AdapterSettings.read(of: $0.index) }.map(Self.init)
    }

    /// Gives an adapter these. Takes CAP_NET_ADMIN. Returns whether the kernel takes them.
    public func set(on adapter: String) -> Bool {
        (try? Adapter.find(adapter)).map { settings.set(on: $0.index) } ?? false
    }

    /// With an advertising interval, in units of 0.625 ms.
    public func advertising(_ interval: ClosedRange<UInt16>) -> Self {
        var copy = self
        (copy.settings.advertisingMin, copy.settings.advertisingMax) = (interval.lowerBound, interval.upperBound)
        return copy
    }

    /// With an interval of links that are dialled, in units of 1.25 ms, and their supervision timeout, in units of 10 ms.
    public func links(_ interval: ClosedRange<UInt16>, supervisionTimeout: UInt16) -> Self {
        var copy = self
        (copy.settings.connectionMin, copy.settings.connectionMax) = (interval.lowerBound, interval.upperBound)
        copy.settings.supervisionTimeout = supervisionTimeout
        return copy
    }
}
