// SPDX-License-Identifier: Apache-2.0

/// The result of `roadmesh fieldtest bench`, as the file contains it. It has no names, addresses or positions, so that
/// people can publish it.
public struct BenchResult: Codable, Hashable, Sendable {
    /// The version of the file's form. This program writes 1.
    public var roadmeshBench = 1
    /// The version of the program that measured.
    public var version: String
    /// The day of the measurement, in UTC: `2026-11-30`.
    public var day: String
    /// Distance between the two machines in metres, as the person has entered it.
    public var distance: Double?
    /// The machine that measured. It dialled.
    public var caller: BenchMachine
    /// The machine that was measured against. It advertised.
    public var listener: BenchMachine
    /// Time from the start of the program to the encrypted session, in seconds.
    public var join: Double
    /// Round trips of pings, in milliseconds.
    public var roundTrip: BenchTimes?
    /// Data rates, one for each PHY that was tried.
    public var goodput: [BenchGoodput] = []
    /// Time from the loss of a link to the answer over the next one, in milliseconds.
    public var reconnect: BenchTimes?
    /// Time from the adapter's return to the answer over the next link, in seconds. Nil if the adapter could not be
    /// switched, or if no answer came.
    public var powerCycle: Double?
    /// The loads of both sides while the session is idle.
    public var idle: BenchIdle?
    /// The largest number of callers that the listener had at once during the measurement.
    public var links: Int

    /// A result without measured rates and reconnects.
    public init(
        version: String, day: String, distance: Double?, caller: BenchMachine, listener: BenchMachine, join: Double,
        links: Int
    ) {
        (self.version, self.day, self.distance) = (version, day, distance)
        (self.caller, self.listener, self.join, self.links) = (caller, listener, join, links)
    }

    /// Whether a controller of the measurement is a program.
    public var isEmulated: Bool { caller.isEmulated || listener.isEmulated }
}

/// A machine of a measurement, without anything that identifies it.
public struct BenchMachine: Codable, Hashable, Sendable {
    /// The radio: `bluez` or `virtual`.
    public var radio: String
    /// USB vendor and product of the adapter, in hexadecimal: `0a12:0001`. Nil if it is not on USB.
    public var usb: String?
    /// The driver of the adapter: `btusb`. Nil for a controller that a program emulates.
    public var driver: String?
    /// Manufacturer of the controller, by its assigned number.
    public var manufacturer: Int?
    /// Version of the Core specification by its assigned number: 9 is 5.0.
    public var bluetooth: Int?
    /// Revision and subversion of the controller's firmware.
    public var firmware: String?
    /// The release of the kernel: `6.12.57+deb13-amd64`.
    public var kernel: String
    /// The version of bluetoothd.
    public var bluez: String?

    /// A machine.
    public init(radio: String, kernel: String) { (self.radio, self.kernel) = (radio, kernel) }

    /// Whether the controller is a program. Every real one has a driver.
    public var isEmulated: Bool { driver == nil && usb == nil }
}

/// The distribution of measured times.
public struct BenchTimes: Codable, Hashable, Sendable {
    /// Number of measurements.
    public var count: Int
    /// How many of them had no answer in time. The other figures leave them out.
    public var lost: Int
    /// The value in the middle.
    public var median: Double
    /// 95 of 100 values are at most this long.
    public var percentile95: Double
    /// 99 of 100 values are at most this long.
    public var percentile99: Double
    /// The longest value.
    public var longest: Double

    /// The distribution of these values. `nil` stands for a measurement without an answer. Returns nil if there was no
    /// answer at all.
    public init?(_ values: [Double?]) {
        let sorted = values.compactMap(\.self).sorted()
        guard let median = sorted.median, let longest = sorted.last else { return nil }
        (count, lost, self.median, self.longest) = (values.count, values.count - sorted.count, median, longest)
        percentile95 = sorted.quantile(0.95) ?? longest
        percentile99 = sorted.quantile(0.99) ?? longest
    }
}

/// The data rate in both directions.
public struct BenchGoodput: Codable, Hashable, Sendable {
    /// The PHY: `1M`, `2M` or `coded`. Nil for a radio without one.
    public var phy: String?
    /// Bytes per second from the caller to the listener, after encryption and all headers.
    public var up: Double?
    /// Bytes per second from the listener to the caller.
    public var down: Double?
    /// Why this PHY was not measured.
    public var reason: String?

    /// A measurement, or the reason why there is none.
    public init(phy: String?, up: Double? = nil, down: Double? = nil, reason: String? = nil) {
        (self.phy, self.up, self.down, self.reason) = (phy, up, down, reason)
    }
}

/// The loads of both sides of an idle session.
public struct BenchIdle: Codable, Hashable, Sendable {
    /// The load of the caller.
    public var caller: LoadRate
    /// The load of the listener, with all its callers.
    public var listener: LoadRate

    /// The loads of both sides.
    public init(caller: LoadRate, listener: LoadRate) { (self.caller, self.listener) = (caller, listener) }
}
