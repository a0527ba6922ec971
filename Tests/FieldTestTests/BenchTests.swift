// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing

@testable import FieldTest

@Suite("The results of a bench")
struct BenchTests {
    private static func result() -> BenchResult {
        var machine = BenchMachine(radio: "bluez", kernel: "6.12.57")
        (machine.usb, machine.driver, machine.firmware, machine.bluez) = ("0a12:0001", "btusb", "2279/1", "5.82")
        var other = BenchMachine(radio: "bluez", kernel: "6.1.0")
        other.driver = "hci_uart_bcm"
        var result = BenchResult(
            version: "0.2.0", day: "2026-11-30", distance: 2, caller: machine, listener: other, join: 0.734, links: 1)
        result.roundTrip = BenchTimes([30, 20, 10, nil])
        result.goodput = [
            BenchGoodput(phy: "1M", up: 61_234, down: 59_900), BenchGoodput(phy: "coded", reason: "not supported"),
        ]
        result.reconnect = BenchTimes((1...100).map(Double.init))
        result.powerCycle = 1.26
        result.idle = BenchIdle(
            caller: LoadRate(wakeUps: 14.62, processor: 0.0006), listener: LoadRate(wakeUps: 17, processor: 0.001))
        return result
    }

    @Test("times without an answer are counted, and left out of the distribution")
    func times() throws {
        let times = try #require(BenchTimes([30, nil, 10, 20]))
        #expect((times.count, times.lost, times.median, times.longest) == (4, 1, 20, 30))
        let many = try #require(BenchTimes((1...100).map(Double.init)))
        #expect((many.percentile95, many.percentile99, many.longest) == (95, 99, 100))
        #expect(BenchTimes([nil, nil]) == nil && BenchTimes([]) == nil)
    }

    @Test("a person reads one line for each measurement")
    func summary() {
        #expect(
            Self.result().summary == [
                "caller     USB 0a12:0001, firmware 2279/1, Linux 6.12.57, BlueZ 5.82",
                "listener   hci_uart_bcm, Linux 6.1.0",
                "join       734 ms from the start to the encrypted session",
                "round trip median 20.0 ms, 95 % 30.0 ms, 99 % 30.0 ms, longest 30.0 ms, of 4, 1 without an answer",
                "goodput    1M: 61.2 kB/s to the listener, 59.9 kB/s back", "goodput    coded: not supported",
                "reconnect  median 51.0 ms, 95 % 95.0 ms, 99 % 99.0 ms, longest 100 ms, of 100",
                "power      back 1.3 s after the adapter",
                "idle       caller: 14.6 wake-ups a second, 0.06 % of a core",
                "           listener: 17.0 wake-ups a second, 0.10 % of a core",
            ])
    }

    @Test("a controller without a driver is marked as emulated")
    func emulated() {
        var result = Self.result()
        #expect(!result.isEmulated)
        result.listener.driver = nil
        #expect(result.isEmulated)
        #expect(result.summary.last?.hasPrefix("The controllers are emulated") == true)
        #expect(result.listener.text == "emulated controller, Linux 6.1.0")
    }

    @Test("the file can be read again, and has no fields but the documented ones")
    func file() throws {
        let data = try JSONEncoder().encode(Self.result())
        #expect(try JSONDecoder().decode(BenchResult.self, from: data) == Self.result())
        let keys = try JSONDecoder().decode([String: Anything].self, from: data).keys.sorted()
        #expect(
            keys == [
                "caller", "day", "distance", "goodput", "idle", "join", "links", "listener", "powerCycle", "reconnect",
                "roadmeshBench", "roundTrip", "version",
            ])
    }

    private struct Anything: Decodable { init(from decoder: any Decoder) {} }
}
