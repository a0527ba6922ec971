// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Diagnostics

@Suite("The power supply of a Raspberry Pi")
struct PowerSupplyTests {
    /// Lists sensors as the kernel does, each with its files of one line, and reads the alarm from them.
    private func alarm(_ sensors: [[String: String]]) throws -> Bool? {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hwmon-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for (number, files) in sensors.enumerated() {
            let sensor = folder.appending(path: "hwmon\(number)")
            try FileManager.default.createDirectory(at: sensor, withIntermediateDirectories: true)
            for (file, word) in files { try Data("\(word)\n".utf8).write(to: sensor.appending(path: file)) }
        }
        return DeviceFacts.isSupplyWeak(in: folder.path)
    }

    @Test("the alarm of the voltage sensor is read, among other sensors", arguments: [("1", true), ("0", false)])
    func alarm(word: String, isWeak: Bool) throws {
        let temperature = ["name": "cpu_thermal", "temp1_input": "51540"]
        let voltage = ["name": "rpi_volt", "in0_lcrit_alarm": word]
        #expect(try alarm([temperature, voltage]) == isWeak)
        #expect(try alarm([voltage, temperature]) == isWeak)
    }

    @Test(
        "a device that does not measure its supply has no finding about it",
        arguments: [
            [], [["name": "cpu_thermal", "in0_lcrit_alarm": "1"]], [["name": "rpi_volt"]],
            [["name": "rpi_volt", "in0_lcrit_alarm": ""]],
        ])
    func unmeasured(sensors: [[String: String]]) throws {
        var doctor = DoctorTests.healthy()
        doctor.device.isSupplyWeak = try alarm(sensors)
        #expect(!doctor.findings.contains { $0.area == .power })
    }

    @Test("a weak supply is named with what to use instead, and where earlier alarms are")
    func remedy() throws {
        var doctor = DoctorTests.healthy()
        doctor.device.isSupplyWeak = true
        let finding = try #require(doctor.findings.first { $0.code == .powerLow })
        #expect(finding.message.contains("too weak") && finding.meaning.contains("short, thick cable"))
        #expect(finding.command == "sudo dmesg | grep -i voltage")
    }
}
