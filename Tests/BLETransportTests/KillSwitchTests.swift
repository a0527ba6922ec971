// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import BLETransport
@testable import Bearers

@Suite("Adapters that rfkill blocks")
struct KillSwitchTests {
    private let folder = newFolder()

    /// Lists a switch as the kernel does: files of one line, and a link to the device.
    private func list(
        _ number: Int, type: String = "bluetooth", name: String, soft: Bool = false, hard: Bool = false,
        device: String? = nil
    ) throws {
        let path = "\(folder)/rfkill\(number)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let files = ["type": type, "name": name, "soft": soft ? "1" : "0", "hard": hard ? "1" : "0"]
        for (file, word) in files {
            try #require(FileManager.default.createFile(atPath: "\(path)/\(file)", contents: Data("\(word)\n".utf8)))
        }
        guard let device else { return }
        try FileManager.default.createSymbolicLink(atPath: "\(path)/device", withDestinationPath: device)
    }

    private func block(of adapter: String?) -> BearerError.Code? { KillSwitch.block(of: adapter, in: folder)?.code }

    @Test("an adapter that a program has blocked is reported as blocked")
    func soft() throws {
        try list(0, name: "hci0", soft: true)
        #expect(block(of: "hci0") == .blocked)
        #expect(KillSwitch.block(of: "hci0", in: folder)?.cause.contains("hci0") == true)
    }

    @Test("a hardware switch that is off is reported, since no command can help")
    func hard() throws {
        try list(0, name: "hci0", soft: true, hard: true)
        #expect(block(of: "hci0") == .blockedBySwitch)
    }

    @Test("an adapter that is merely off is not reported as blocked, whatever else is blocked")
    func merelyOff() throws {
        try list(0, type: "wlan", name: "phy0", soft: true, hard: true)
        try list(1, name: "hci0")
        try list(2, name: "hci1", soft: true)
        try list(3, name: "tpacpi_bluetooth_sw", hard: true)
        #expect(block(of: "hci0") == nil)
        #expect(block(of: "hci1") == .blocked)
    }

    @Test("a switch belongs to the adapter of its device, whatever its name")
    func device() throws {
        try list(0, name: "bluetooth", soft: true, device: "../../hci1")
        #expect(block(of: "hci1") == .blocked)
        #expect(KillSwitch.all(in: folder).map(\.name) == ["hci1"])
    }

    @Test("a laptop's switch can be the reason why it has no adapter")
    func noAdapter() throws {
        try list(0, name: "hci1", soft: true)
        #expect(block(of: nil) == nil)
        try list(1, name: "dell-bluetooth", soft: true, device: "../../../dell-laptop")
        #expect(block(of: nil) == .blocked)
        // An adapter without its own switch does not work either while the laptop's switch is off.
        #expect(block(of: "hci0") == .blocked)
    }

    @Test("without rfkill's list, nothing is blocked")
    func nothing() throws {
        #expect(block(of: "hci0") == nil)
        try FileManager.default.createDirectory(atPath: folder + "/rfkill0", withIntermediateDirectories: true)
        #expect(block(of: nil) == nil)
    }
}
