// SPDX-License-Identifier: Apache-2.0

import Glibc
import FoundationEssentials
import Logging
import MeshProtocol
import TestSupport
import Testing

@testable import BLETransport
@testable import Bearers

@Suite("What a checkup finds out about a box's Bluetooth")
struct CheckupTests {
    @Test(
        "bluetoothd's command line shows whether experimental interfaces are on",
        arguments: [
            (["bluetoothd"], false), (["bluetoothd", "-E"], true), (["bluetoothd", "-n", "-E"], true),
            (["bluetoothd", "--experimental"], true), (["bluetoothd", "-nE"], true),
            // The value of another option does not count as an option.
            (["bluetoothd", "-f", "/etc/E"], false), (["bluetoothd", "-P", "-E"], false),
            (["bluetoothd", "-PE"], false), (["bluetoothd", "--noplugin", "--experimental"], false),
            (["bluetoothd", "-d*E*", "-n"], false), (["-E"], false), ([], false),
        ])
    func experimental(arguments: [String], isOn: Bool) {
        #expect(DaemonFacts(arguments: arguments) { _ in nil }.isExperimental == isOn)
    }

    @Test(
        "bluetoothd's configuration shows whether experimental interfaces are on",
        arguments: [
            ("[General]\nExperimental = true\n", true), ("[General]\n#Experimental = true\n", false),
            ("[General]\nKernelExperimental = true\n", false), ("[LE]\nExperimental=true\n", false),
            ("[General]\nExperimental=false\n", false), ("", false),
        ])
    func configured(text: String, isOn: Bool) {
        #expect(DaemonFacts(arguments: ["bluetoothd"]) { _ in text }.isExperimental == isOn)
    }

    @Test(
        "the configuration shows whether bluetoothd reads the services of devices that link, which is the default",
        arguments: [
            ("[General]\nReverseServiceDiscovery = false\n", false), ("[General]\nReverseServiceDiscovery=0\n", false),
            ("[General]\n#ReverseServiceDiscovery = false\n", true), ("[LE]\nReverseServiceDiscovery=false\n", true),
            ("[General]\nReverseServiceDiscovery = true\n", true), ("", true),
        ])
    func looking(text: String, does: Bool) {
        #expect(DaemonFacts(arguments: ["bluetoothd"]) { _ in text }.looksThroughDevices == does)
    }

    @Test("the configuration file that was given on the command line counts")
    func otherConfiguration() {
        for words in [["-f", "/run/other.conf"], ["--configfile=/run/other.conf"], ["-nf/run/other.conf"]] {
            let facts = DaemonFacts(arguments: ["bluetoothd"] + words) {
                $0 == "/run/other.conf" ? "[General]\nExperimental=true" : nil
            }
            #expect(facts.isExperimental && facts.configuration == "/run/other.conf" && facts.arguments == words)
        }
    }

    @Test("plugins that bluetoothd leaves out are listed")
    func plugins() {
        for words in [["--noplugin=vcp,bap"], ["--noplugin", "vcp,bap"], ["-P", "vcp,bap"], ["-EPvcp,bap"]] {
            #expect(DaemonFacts(arguments: ["bluetoothd"] + words) { _ in nil }.leavesOut == ["vcp", "bap"])
        }
    }

    @Test(
        "a version is read as it is printed, and other texts are refused",
        arguments: [
            ("5.66\n", "5.66"), ("5.77", "5.77"), ("5.66.1", "5.66"), ("", nil), ("bluetoothd", nil), ("5", nil),
        ])
    func version(text: String, read: String?) {
        #expect(DaemonVersion(text)?.description == read)
    }

    @Test(
        "the running program is asked for its version, not one that only claims that name",
        arguments: [
            ("/opt/bluez/bluetoothd", "bluetoothd", "/opt/bluez/bluetoothd"),
            (nil, "/usr/sbin/bluetoothd", "/usr/sbin/bluetoothd"), (nil, "/tmp/bluetoothd", nil),
            // It was replaced by an update since it was started.
            ("/usr/libexec/bluetooth/bluetoothd (deleted)", "/usr/libexec/bluetooth/bluetoothd", nil),
        ] as [(String?, String?, String?)])
    func program(link: String?, argument: String?, program: String?) {
        #expect(DaemonFacts.program(link: link, argument: argument) == program)
    }

    @Test("the process that the bus names counts, and no other that is called bluetoothd")
    func process() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/roadmesh-\(UInt64.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (number, words) in [(7, ["bluetoothd", "-f", "/tmp/mine.conf"]), (12, ["/opt/bluez/bluetoothd", "-E"])] {
            let process = "\(folder)/\(number)"
            try FileManager.default.createDirectory(atPath: process, withIntermediateDirectories: true)
            try Data("bluetoothd\n".utf8).write(to: URL(filePath: process + "/comm"))
            try Data((words.joined(separator: "\0") + "\0").utf8).write(to: URL(filePath: process + "/cmdline"))
            try FileManager.default.createSymbolicLink(
                atPath: process + "/exe", withDestinationPath: folder + "/bluetoothd")
        }
        let facts = await DaemonFacts.of(12, in: folder) { _ in false }
        // The folders of this test belong to another user than root, so none of them is bluetoothd.
        guard geteuid() == 0 else { return #expect(facts == nil) }
        #expect(facts?.arguments == ["-E"])
        #expect(facts?.configuration == DaemonFacts.standardConfiguration)
        #expect(facts?.path == nil && facts?.version == nil, "a program that others can replace is not run")
        #expect(await DaemonFacts.of(99, in: folder) == nil)
    }

    @Test("a program and a configuration are used only if no one but root can replace them")
    func trusted() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/roadmesh-\(UInt64.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let process = folder + "/12"
        try FileManager.default.createDirectory(atPath: process, withIntermediateDirectories: true)
        let (configuration, program) = (folder + "/main.conf", folder + "/bluetoothd")
        try Data("[General]\nExperimental=true\n".utf8).write(to: URL(filePath: configuration))
        try Data("#!/bin/sh\ntouch \(folder)/was-run\necho 5.66\n".utf8).write(to: URL(filePath: program))
        chmod(program, 0o755)
        try Data("bluetoothd\0-f\0\(configuration)\0".utf8).write(to: URL(filePath: process + "/cmdline"))
        try FileManager.default.createSymbolicLink(atPath: process + "/exe", withDestinationPath: program)
        guard geteuid() == 0 else { return }
        // Everyone can write to the folder for temporary files.
        let refused = await DaemonFacts.of(12, in: folder)
        #expect(refused?.isExperimental == false && refused?.path == nil)
        #expect(!FileManager.default.fileExists(atPath: folder + "/was-run"))
        let trusted = await DaemonFacts.of(12, in: folder) { _ in true }
        #expect(trusted?.isExperimental == true && trusted?.version == DaemonVersion(5, 66))
    }

    @Test("versions are ordered by their numbers")
    func order() {
        #expect(DaemonVersion(5, 66) < DaemonVersion(5, 77))
        #expect(DaemonVersion(5, 9) < DaemonVersion(5, 66))
        #expect(DaemonVersion(5, 77) < DaemonVersion(6, 0))
    }

    @Test(
        "a process's rights are its effective capabilities in the kernel",
        arguments: [
            ("CapEff:\t000001ffffffffff", true, true), ("CapEff:\t0000000000000000", false, false),
            ("CapEff:\t0000000000001000", true, false), ("CapEff:\t0000000000002000", false, true),
            // Permitted capabilities do not count.
            ("CapPrm:\t000001ffffffffff\nCapEff:\t0000000000000000", false, false), ("", false, false),
            ("CapInh:\t0000000000000000\nCapEff:\t000001ffffffffff\n", true, true),
            ("CapEff:\tnonsense\n", false, false),
        ])
    func capabilities(status: String, mayAdminister: Bool, mayCommand: Bool) {
        let permissions = RadioPermissions(status: status)
        #expect(permissions == RadioPermissions(mayAdminister: mayAdminister, mayCommand: mayCommand))
    }

    @Test("a dongle's driver and numbers are found next to it and above it")
    func device() throws {
        let folder = newFolder()
        let files = FileManager.default
        try files.createDirectory(atPath: folder + "/usb/interface", withIntermediateDirectories: true)
        try files.createSymbolicLink(
            atPath: folder + "/usb/interface/driver", withDestinationPath: "../../../bus/usb/drivers/btusb")
        for (name, text) in [("idVendor", "0a12\n"), ("idProduct", "0001\n")] {
            try #require(files.createFile(atPath: "\(folder)/usb/\(name)", contents: Data(text.utf8)))
        }
        var facts = AdapterFacts(name: "hci0")
        facts.readDevice(in: folder + "/usb/interface")
        #expect(facts.driver == "btusb")
        #expect(facts.usb == "0a12:0001")
    }

    @Test("devices that are linked through bluetoothd are listed, and audio devices are marked")
    func linked() {
        let base = "-0000-1000-8000-00805f9b34fb"
        func device(_ name: String, _ services: [String], _ icon: String?, isConnected: Bool = true) -> DeviceChange {
            DeviceChange(
                name: name, services: services.map { "0000" + $0 + base }, isConnected: isConnected, icon: icon)
        }
        var look = BusSnapshot(service: .answers)
        var properties = AdapterProperties()
        (properties.activeAdvertisements, properties.freeAdvertisements) = (2, 3)
        look.take(.adapter(path: "/org/bluez/hci0", properties))
        for (path, change) in [
            ("hci0/dev_1", device("Sink", ["110b"], nil)), ("hci0/dev_2", device("Card", [], "audio-card")),
            ("hci0/dev_3", device("Phone", ["1800"], "phone")),
            ("hci0/dev_4", device("Off", ["110b"], nil, isConnected: false)),
            ("hci1/dev_5", device("Other", ["184e"], nil)), ("hci0/dev_6", device("Earbuds", ["184e"], nil)),
        ] {
            look.take(.device(path: "/org/bluez/" + path, change))
        }
        let facts = look.completed(AdapterFacts(name: "hci0"))
        #expect(facts.properties.activeAdvertisements == 2)
        #expect(facts.properties.freeAdvertisements == 3)
        #expect(facts.linked.map(\.name) == ["Sink", "Card", "Phone", "Earbuds"])
        #expect(facts.linked.filter(\.isAudio).map(\.name) == ["Sink", "Card", "Earbuds"])
    }
}

@Suite("The test whether one radio receives another")
struct ReceptionTestTests {
    private let air: VirtualAir

    init() throws { air = try VirtualAir(directory: newFolder()) }

    private func radio(_ name: String, on air: VirtualAir? = nil) throws(BearerError) -> any Bearer {
        try VirtualBearer(air: air ?? self.air, address: name)
    }

    @Test("two radios on one air receive each other", .timeLimit(.minutes(5)))
    func heard() async throws {
        let outcome = await ReceptionTest.run(
            from: { () throws(BearerError) in try radio("a") }, to: { () throws(BearerError) in try radio("b") })
        guard case .heard(let time, let every, _) = outcome else { Issue.record("\(outcome)"); return }
        #expect(time > .zero)
        let interval = try #require(every)
        #expect(interval > .zero && interval < RadioLimits.measuring)
    }

    @Test("two radios on different airs do not, which is reported when the time is over", .timeLimit(.minutes(5)))
    func silence() async throws {
        let elsewhere = try VirtualAir(directory: newFolder())
        let outcome = await ReceptionTest.run(
            from: { () throws(BearerError) in try radio("a") },
            to: { () throws(BearerError) in try radio("b", on: elsewhere) }, within: .milliseconds(200))
        #expect(outcome == .silence(.milliseconds(200)))
    }

    @Test("a single radio only advertises", .timeLimit(.minutes(5)))
    func alone() async throws {
        #expect(await ReceptionTest.run(from: { () throws(BearerError) in try radio("a") }, to: nil) == .advertised)
    }

    @Test("a missing radio is reported, with which of the two it is", .timeLimit(.minutes(5)))
    func missing() async throws {
        let none = { () throws(BearerError) -> any Bearer in throw BearerError(.noAdapter, "it is gone") }
        let failure = BearerError(.noAdapter, "it is gone")
        #expect(await ReceptionTest.run(from: none, to: nil) == .cannotAdvertise(failure))
        #expect(
            await ReceptionTest.run(from: { () throws(BearerError) in try radio("a") }, to: none)
                == .cannotListen(failure)
        )
    }
}
