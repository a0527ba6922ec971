// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol
import Testing

@testable import BLETransport
@testable import Bearers
@testable import Diagnostics
@testable import NodeCore
@testable import NodeStore

@Suite("The doctor's findings")
struct DoctorTests {
    /// A healthy device.
    static func healthy() -> Doctor {
        var first = AdapterFacts(name: "hci0")
        (first.version, first.manufacturer, first.firmware) = (9, 2, "1/2")
        (first.hasTwoMegabit, first.hasBothRoles) = (true, true)
        first.timing = AdapterTiming(
            isSetByNode: false, advertising: 1280...1280, connection: 30...50, supervisionTimeout: 420)
        (first.properties.activeAdvertisements, first.properties.freeAdvertisements) = (0, 5)
        var second = first
        second.name = "hci1"
        let daemon = DaemonFacts(
            path: "/usr/libexec/bluetooth/bluetoothd", version: DaemonVersion(5, 66), isExperimental: true,
            leavesOut: ["vcp"])
        return Doctor(
            radio: RadioFacts(
                kernel: .adapters([first, second]), service: .answers, daemon: daemon,
                permissions: RadioPermissions(mayAdminister: true, mayCommand: true)),
            device: DeviceFacts(
                clock: ClockFacts(seconds: 1_800_000_000, isKept: true),
                folder: FolderCondition(
                    path: "/home/me/.local/state/roadmesh", owner: 1_000, identity: .isSound, database: .isSound),
                freeBytes: 1 << 30, user: 1_000, isSupplyWeak: false))
    }

    /// A host that plays a folder of music, and whose page phones can reach.
    static func playing() -> Doctor {
        var doctor = healthy()
        var music = MusicFacts(player: .runs(version: [0, 35, 1]), isHost: true)
        music.devices = ["auto", "alsa", "alsa/sysdefault:CARD=PCH"]
        music.library = ("/srv/music", .isThere(songs: 812, unreadable: 0))
        doctor.music = music
        doctor.phones = PhoneFacts(address: "192.168.4.1", port: 8_080, isHost: true)
        return doctor
    }

    /// A fault to plant in a device.
    struct Fault: Sendable, CustomTestStringConvertible {
        let code: Finding.Code
        let level: Finding.Level
        let exitCode: Int32
        let plant: @Sendable (inout Doctor) -> Void

        init(
            _ code: Finding.Code, _ level: Finding.Level, _ exitCode: Int32,
            _ plant: @escaping @Sendable (inout Doctor) -> Void
        ) {
            (self.code, self.level, self.exitCode, self.plant) = (code, level, exitCode, plant)
        }

        var testDescription: String { "\(code)" }
    }

    private static func adapter(_ change: @escaping @Sendable (inout AdapterFacts) -> Void)
        -> @Sendable (inout Doctor) -> Void
    {
        { doctor in
            guard var adapters = doctor.radio?.adapters else { return }
            change(&adapters[0])
            doctor.radio?.kernel = .adapters(adapters)
        }
    }

    static let radioFaults = [
        Fault(.noBluetooth, .broken, 69) {
            $0.radio?.kernel = .hasNone; $0.radio?.service = .hasNoBus("no such file")
        },
        Fault(.notListed, .broken, 77) {
            $0.radio?.kernel = .silent(BearerError(.notPermitted, "not permitted"))
        },
        Fault(.noAdapter, .broken, 69) { $0.radio?.kernel = .adapters([]) },
        Fault(.noAdapter, .broken, 69) {
            $0.radio?.kernel = .adapters([]); $0.wanted = ["hci0"]
        },
        Fault(.blocked, .broken, 69) {
            $0.radio?.kernel = .adapters([])
            $0.radio?.block = BearerError(.blocked, "rfkill keeps Bluetooth off")
        },
        Fault(.noSuchAdapter, .broken, 69) { $0.wanted = ["hci7"] },
        Fault(
            .noLowEnergy, .broken, 69,
            adapter {
                $0.hasLowEnergy = false; $0.isUp = true
            }),
        Fault(.blockedBySwitch, .broken, 69) {
            adapter {
                $0.isUp = false; $0.block = BearerError(.blockedBySwitch, "a switch")
            }(&$0)
            $0.wanted = ["hci0"]
        },
        Fault(.adapterOff, .broken, 69) {
            adapter { $0.isUp = false }(&$0); $0.wanted = ["hci0"]
        },
        Fault(.spareAdapterOff, .worthKnowing, 0) {
            adapter { $0.isUp = false }(&$0); $0.wanted = ["hci1"]
        },
        Fault(
            .oldController, .worthKnowing, 0,
            adapter {
                $0.version = 8; $0.hasTwoMegabit = nil
            }),
        Fault(.noTwoMegabit, .worthKnowing, 0, adapter { $0.hasTwoMegabit = false }),
        Fault(
            .advertisingFull, .broken, 69,
            adapter {
                $0.properties.freeAdvertisements = 0; $0.properties.activeAdvertisements = 5
            }),
        Fault(
            .audioShared, .worthKnowing, 0,
            adapter { $0.linked = [LinkedDevice(name: "Earbuds", isAudio: true)] }),
        Fault(.advertisesItself, .worthKnowing, 0, adapter { $0.advertisesItself = true }),
        Fault(.oneRole, .worthKnowing, 0) {
            guard var only = $0.radio?.adapters.first else { return }
            only.hasBothRoles = false
            $0.radio?.kernel = .adapters([only])
        },
        Fault(.unknownRoles, .worthKnowing, 0, adapter { $0.hasBothRoles = nil }),
        Fault(.serviceNotRunning, .broken, 69) {
            $0.radio?.service = .isMissing; $0.radio?.daemon = nil
        },
        // bluetoothd switches adapters on, so without it they are off.
        Fault(.serviceNotRunning, .broken, 69) {
            adapter { $0.isUp = false }(&$0); $0.radio?.service = .isMissing
        },
        Fault(.noMessageBus, .broken, 69) { $0.radio?.service = .hasNoBus("no such file") },
        Fault(.serviceFails, .broken, 69) { $0.radio?.service = .fails("no reply in time") },
        Fault(.slowTiming, .worthKnowing, 0) { $0.radio?.permissions.mayAdminister = false },
        Fault(.slowTiming, .worthKnowing, 0) {
            $0.radio?.daemon?.isExperimental = false
            $0.radio?.permissions = RadioPermissions(mayAdminister: false, mayCommand: false)
        },
        Fault(.volumePlugin, .worthKnowing, 0) { $0.radio?.daemon?.leavesOut = [] },
        Fault(.crashesOnFilters, .worthKnowing, 0) { $0.radio?.daemon?.version = DaemonVersion(5, 87) },
        Fault(.looksThroughPhones, .worthKnowing, 0) { $0.radio?.daemon?.looksThroughDevices = true },
        Fault(.denied, .broken, 77) { $0.radio?.service = .denies("rejected") },
        Fault(.noCapabilities, .worthKnowing, 0) { $0.radio?.permissions.mayCommand = false },
    ]

    static let deviceFaults = [
        Fault(.powerLow, .worthKnowing, 0) { $0.device.isSupplyWeak = true },
        Fault(.kernelUnsound, .worthKnowing, 0) { $0.device.kernel = "#1 SMP Debian 6.1.191-1 (2025-12-20)" },
        Fault(.kernelUnsound, .worthKnowing, 0) { $0.device.kernel = "#1 SMP Debian 6.1.192-1 (2026-01-02)" },
        Fault(.clockWrong, .broken, 69) { $0.device.clock = ClockFacts(seconds: 3_600, isKept: false) },
        Fault(.noAvahi, .worthKnowing, 0) { $0.device.avahi = .stands },
        Fault(.noAvahi, .worthKnowing, 0) { $0.device.avahi = .isMissing },
        Fault(.clockAlone, .worthKnowing, 0) { $0.device.clock.isKept = false },
        Fault(.stateReadOnly, .broken, 73) {
            ($0.device.folder.refusal, $0.device.folder.isReadOnlyDisk) = ("read-only", true)
        },
        Fault(.stateForeign, .broken, 73) { ($0.device.folder.refusal, $0.device.folder.owner) = ("denied", 0) },
        Fault(.stateUnwritable, .broken, 73) { $0.device.folder.refusal = "denied" },
        // If a folder is missing, its parent may belong to another user.
        Fault(.stateUnwritable, .broken, 73) {
            ($0.device.folder.refusal, $0.device.folder.owner, $0.device.folder.exists) = ("denied", 0, false)
        },
        Fault(.identityDamaged, .broken, 73) { $0.device.folder.identity = .isDamaged("it is not an identity") },
        Fault(.identityReadable, .worthKnowing, 0) {
            ($0.device.folder.identity, $0.device.folder.isReadableByOthers) = (.isSound, true)
        },
        Fault(.databaseDamaged, .broken, 73) { $0.device.folder.database = .isDamaged("malformed") },
        Fault(.databaseNewer, .broken, 73) { $0.device.folder.database = .isNewer },
        Fault(.databaseUnreadable, .broken, 73) { $0.device.folder.database = .isUnreadable("denied") },
        Fault(.diskFull, .broken, 73) { $0.device.freeBytes = 1 << 20 },
        Fault(.diskFull, .broken, 73) { $0.device.folder.isFullDisk = true },
        Fault(.diskLow, .worthKnowing, 0) { $0.device.freeBytes = 100 << 20 },
    ]

    @Test("a healthy device has no faults, and every area is checked")
    func health() {
        let findings = Self.playing().findings
        #expect(findings.filter { $0.level != .good } == [])
        #expect(Set(findings.map(\.area)) == Set(Finding.Area.allCases).subtracting([.air]))
        #expect(Self.healthy().adaptersToTry == ["hci0", "hci1"])
    }

    @Test("each fault is named alone, with its meaning", arguments: radioFaults + deviceFaults)
    func fault(_ fault: Fault) {
        var doctor = Self.healthy()
        fault.plant(&doctor)
        let bad = doctor.findings.filter { $0.level != .good }
        #expect(bad.map(\.code) == [fault.code])
        #expect(bad.map(\.level) == [fault.level])
        #expect(bad.allSatisfy { !$0.meaning.isEmpty && $0.message.hasSuffix(".") })
        var diagnosis = Diagnosis()
        diagnosis.findings = doctor.findings
        #expect((diagnosis.exitCode?.rawValue ?? 0) == fault.exitCode)
        let isBroken = fault.level == .broken
        #expect(doctor.adaptersToTry.isEmpty == (isBroken && Self.radioFaults.contains { $0.code == fault.code }))
    }

    @Test(
        "if a device in range can make the kernel panic, a sound version is named", arguments: ["6.1.191", "6.1.192"])
    func soundKernel(version: String) throws {
        var doctor = Self.healthy()
        doctor.device.kernel = "#1 SMP Debian \(version)-1 (2026-01-02)"
        let finding = try #require(doctor.findings.first { $0.code == .kernelUnsound })
        #expect(finding.message.contains(version) && finding.meaning.contains("Linux 6.1.190 does not have the fault"))
    }

    @Test("a test covers every finding")
    func complete() {
        let doctor = Self.healthy()
        let made =
            (Self.radioFaults + Self.deviceFaults + MusicFindingTests.faults).map(\.code)
            + (doctor.findings + Self.playing().findings).map(\.code)
            + Self.outcomes.map { doctor.finding(ReceptionTest(from: "hci0", to: "hci1", outcome: $0.0)).code }
            + [doctor.kernelFinding(Self.bypassed)].compactMap { $0?.code }
        #expect(Set(Finding.Code.allCases) == Set(made))
    }

    @Test("a device that runs without a radio by choice is not checked for one")
    func virtual() {
        var doctor = Self.healthy()
        doctor.radio = nil
        #expect(doctor.adaptersToTry == [])
        #expect(Set(doctor.findings.map(\.area)) == [.power, .kernel, .clock, .state, .disk, .network])
    }

    @Test(
        "a relay's user learns whether it needs a second adapter, and which adapter is better for it",
        arguments: [
            ([true, false], "a relay needs no other"),
            ([false, false], "a relay needs hci1 as well (--adapter hci0,hci1)"),
            ([false, true], "hci1 does: that one is better for a relay"),
        ])
    func roles(vouched: [Bool], words: String) throws {
        var doctor = Self.healthy()
        var adapters = try #require(doctor.radio?.adapters)
        for (index, both) in vouched.enumerated() { adapters[index].hasBothRoles = both }
        doctor.radio?.kernel = .adapters(adapters)
        let finding = try #require(doctor.findings.first { $0.area == .roles })
        #expect(finding.level == .good && finding.message.contains(words))
    }

    @Test("the last kernel before the faulty versions is not reported")
    func soundKernel() {
        var doctor = Self.healthy()
        doctor.device.kernel = "#1 SMP Debian 6.1.190-1 (2025-12-01)"
        #expect(doctor.findings.filter { $0.level != .good } == [])
    }

    @Test("the named adapter is tried first")
    func wanted() {
        var doctor = Self.healthy()
        doctor.wanted = ["hci1"]
        #expect(doctor.adaptersToTry == ["hci1", "hci0"])
    }

    @Test("of two adapters that work as one radio, each is checked and has its part of a relay")
    func pair() throws {
        var doctor = Self.healthy()
        var adapters = try #require(doctor.radio?.adapters)
        adapters.append(adapters[0])
        adapters[2].name = "hci2"
        for index in [0, 1] { adapters[index].hasBothRoles = false }
        doctor.radio?.kernel = .adapters(adapters)
        doctor.wanted = ["hci1", "hci2"]
        #expect(
            doctor.findings.filter { $0.area == .roles }.map(\.message) == [
                "hci1 dials where the two are a relay's (--relay).",
                "hci2 is on the air and is dialled where the two are a relay's (--relay); it could do both alone.",
            ])
        #expect(doctor.findings.filter { $0.area == .adapter }.map(\.message) == ["hci1 is on.", "hci2 is on."])
        #expect(doctor.findings.filter { $0.area == .advertising }.map { $0.message.prefix(4) } == ["hci2"])
        #expect(doctor.adaptersToTry == ["hci1", "hci2"])
        // Faults of either one are reported.
        doctor.wanted = ["hci0", "hci7"]
        #expect(doctor.findings.filter { $0.level == .broken }.map(\.code) == [.noSuchAdapter])
        #expect(doctor.findings.contains { $0.message.contains("There is no adapter hci7") })
        adapters[1].isUp = false
        doctor.radio?.kernel = .adapters(adapters)
        doctor.wanted = ["hci0", "hci1"]
        #expect(doctor.findings.filter { $0.level == .broken }.map(\.message) == ["hci1 is switched off."])
    }

    static let outcomes: [(ReceptionTest.Outcome, Finding.Code, Finding.Level)] = [
        (.heard(after: .milliseconds(45), every: nil, rssi: -50), .heard, .good),
        (.heard(after: .milliseconds(45), every: .milliseconds(60), rssi: -50), .heard, .good),
        (.heard(after: .milliseconds(45), every: .milliseconds(1_284), rssi: -50), .heardSeldom, .worthKnowing),
        (.silence(.seconds(8)), .notHeard, .broken),
        (.advertised, .advertised, .good),
        (.found(within: DialTime(milliseconds: 61)), .heard, .good),
        (.found(within: DialTime(milliseconds: 400)), .heard, .good),
        (.found(within: DialTime(milliseconds: 1_900)), .heardSeldom, .worthKnowing),
        (.cannotAdvertise(BearerError(.failed, "x")), .cannotAdvertise, .broken),
        (.cannotListen(BearerError(.failed, "x")), .cannotListen, .broken),
        (.cannotAdvertise(BearerError(.advertisingRefused, "Linux 6.1.175")), .advertisingRefused, .broken),
        (.serviceEnded, .serviceDied, .broken),
    ]

    static let bypassed = ReceptionTest(from: "hci0", to: nil, outcome: .advertised, bypassed: "Linux 6.1.175")

    @Test("a kernel that refuses bluetoothd's advertisements is named, with what to update")
    func refusal() throws {
        let doctor = Self.healthy()
        let refused = ReceptionTest(
            from: "hci0", to: nil, outcome: .cannotAdvertise(BearerError(.advertisingRefused, "Linux 6.1.175")))
        for finding in [doctor.finding(refused), try #require(doctor.kernelFinding(Self.bypassed))] {
            #expect(finding.message == "Linux 6.1.175 refuses what bluetoothd advertises on hci0.")
            #expect(finding.meaning.contains("Update Linux or BlueZ"))
        }
        #expect(doctor.finding(Self.bypassed).code == .advertised)
        #expect(doctor.kernelFinding(refused) == nil)
    }

    @Test("each outcome of a live test has its finding", arguments: outcomes)
    func live(outcome: ReceptionTest.Outcome, code: Finding.Code, level: Finding.Level) {
        let finding = Self.healthy().finding(ReceptionTest(from: "hci0", to: "hci1", outcome: outcome))
        #expect(finding.code == code)
        #expect(finding.level == level)
    }

    @Test("an adapter that advertises less often than its settings say is reported, with a remedy")
    func heardSeldom() {
        let test = ReceptionTest(
            from: "hci0", to: "hci1",
            outcome: .heard(after: .milliseconds(600), every: .milliseconds(1_284), rssi: nil))
        var doctor = Self.healthy()
        #expect(doctor.finding(test).command == "sudo systemctl restart bluetooth")
        // The settings themselves are fine: bluetoothd passes intervals on, and links are as fast as possible.
        Self.adapter { $0.timing?.connection = 7.5...7.5 }(&doctor)
        doctor.radio?.permissions = RadioPermissions(mayAdminister: false, mayCommand: true)
        #expect(!doctor.findings.contains { $0.code == .slowTiming })
        #expect(doctor.finding(test).command?.hasPrefix("sudo setcap") == true)
        #expect(doctor.finding(test).message.contains("every 1284 ms"))
    }

    @Test("the same is reported with one adapter if guests have found it late")
    func foundLate() {
        let test = ReceptionTest(
            from: "hci0", to: nil, outcome: .found(within: DialTime(milliseconds: 1_900)))
        let finding = Self.healthy().finding(test)
        #expect(finding.message.contains("every 950 to 1900 ms"))
        #expect(finding.command == "sudo systemctl restart bluetooth")
    }

    @Test(
        "a fault of the settings is not reported again by the live test",
        arguments: [
            .heard(after: .milliseconds(600), every: .milliseconds(1_284), rssi: nil),
            .found(within: DialTime(milliseconds: 1_900)),
        ] as [ReceptionTest.Outcome])
    func heardAsSet(outcome: ReceptionTest.Outcome) {
        var doctor = Self.healthy()
        Self.radioFaults.first { $0.code == .slowTiming }?.plant(&doctor)
        let test = ReceptionTest(from: "hci0", to: nil, outcome: outcome)
        #expect(doctor.finding(test).level == .good)
    }

    @Test("a bluetoothd that ignores the requested interval is not trusted", arguments: [72, 73, 74])
    func deafVersions(minor: Int) {
        var doctor = Self.healthy()
        Self.radioFaults.first { $0.code == .slowTiming }?.plant(&doctor)
        doctor.radio?.daemon?.isExperimental = true
        doctor.radio?.daemon?.version = DaemonVersion(5, minor)
        let slow = doctor.findings.first { $0.code == .slowTiming }
        #expect(slow?.message.contains("advertises every 1280 ms") == true)
    }

    @Test("a folder with spaces is one word in the command to type")
    func quoting() {
        var doctor = Self.healthy()
        doctor.device.folder.path = "/media/Dad's Stick"
        doctor.device.folder.refusal = "denied"
        #expect(doctor.findings.contains { $0.command?.hasSuffix("'/media/Dad'\\''s Stick'") == true })
    }

    @Test("people read each finding, its meaning and its command, and a summary")
    func text() throws {
        var doctor = Self.healthy()
        doctor.device.clock.isKept = false
        var diagnosis = Diagnosis()
        diagnosis.findings = doctor.findings
        let alone = try #require(doctor.findings.first { $0.code == .clockAlone })
        let lines = alone.lines { $0.split(separator: ". ").map(String.init) }
        #expect(lines.first == "worth knowing " + alone.message)
        #expect(
            lines.count == 4
                && lines[1...2].allSatisfy { $0.hasPrefix("              ") && !$0.hasPrefix("               ") })
        #expect(lines.last == "                sudo timedatectl set-ntp true")
        #expect(diagnosis.sentence == "Nothing is broken; 1 worth knowing.")
        #expect(try #require(doctor.findings.first).lines { _ in ["no meaning"] } == ["good          hci0 is on."])
        doctor.device.freeBytes = 0
        diagnosis.findings = doctor.findings
        #expect(diagnosis.sentence == "1 thing is broken: repair the first one, and check again.")
        diagnosis.findings = Self.healthy().findings
        #expect(diagnosis.sentence == "This device is fine.")
    }

    @Test("programs get an object for each finding, and a summary")
    func json() throws {
        var doctor = Self.healthy()
        doctor.device.freeBytes = 1 << 20
        var diagnosis = Diagnosis()
        diagnosis.findings = doctor.findings
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        func text(_ object: some Encodable) throws -> String {
            String(decoding: try encoder.encode(object), as: UTF8.self)
        }
        let full = try #require(doctor.findings.first { $0.code == .diskFull })
        let line = try text(TimedFinding(full, at: 1))
        #expect(line.hasPrefix(#"{"area":"disk","at":1,"code":"diskFull","command":""#))
        #expect(line.contains(#""event":"finding","level":"broken","meaning":""#))
        let good = try #require(doctor.findings.first)
        #expect(try text(TimedFinding(good, at: 1)).contains(#""command":null,"event":"finding","level":"good""#))
        let sum = try text(TimedSummary(diagnosis, at: 2))
        let count = doctor.findings.count - 1
        #expect(
            sum
                == #"{"at":2,"broken":1,"event":"summary","exitCode":73,"good":\#(count),"version":"\#(RoadMeshVersion.text)","worthKnowing":0}"#
        )
    }
}
