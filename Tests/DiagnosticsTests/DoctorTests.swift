// SPDX-License-Identifier: Apache-2.0

import BLETransport
import FoundationEssentials
import MeshNode
import NodeStore
import Testing

@testable import Diagnostics

@Suite("What a doctor makes of facts")
struct DoctorTests {
    /// A box with nothing to complain about.
    static func healthy() -> Doctor {
        var first = AdapterFacts(name: "hci0")
        (first.version, first.manufacturer, first.firmware) = (9, 2, "1/2")
        (first.hasTwoMegabit, first.hasBothRoles) = (true, true)
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
            box: BoxFacts(
                clock: ClockFacts(seconds: 1_800_000_000, isKept: true),
                folder: FolderCondition(
                    path: "/home/me/.local/state/roadmesh", owner: 1_000, identity: .isSound, database: .isSound),
                disk: DiskFacts(free: 1 << 30), user: 1_000))
    }

    /// One thing is the matter with a box.
    struct Fault: Sendable, CustomTestStringConvertible {
        let kind: Finding.Kind
        let level: Finding.Level
        let exitCode: Int32
        let plant: @Sendable (inout Doctor) -> Void

        init(
            _ kind: Finding.Kind, _ level: Finding.Level, _ exitCode: Int32,
            _ plant: @escaping @Sendable (inout Doctor) -> Void
        ) {
            (self.kind, self.level, self.exitCode, self.plant) = (kind, level, exitCode, plant)
        }

        var testDescription: String { "\(kind)" }
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
        Fault(.adapter(.noBluetooth), .broken, 69) {
            $0.radio?.kernel = .hasNone; $0.radio?.service = .hasNoBus("no such file")
        },
        Fault(.permissions(.notListed), .broken, 77) {
            $0.radio?.kernel = .silent(RadioFailure(.notPermitted, "not permitted"))
        },
        Fault(.adapter(.noAdapter), .broken, 69) { $0.radio?.kernel = .adapters([]) },
        Fault(.adapter(.noAdapter), .broken, 69) {
            $0.radio?.kernel = .adapters([]); $0.wanted = "hci0"
        },
        Fault(.adapter(.blocked), .broken, 69) {
            $0.radio?.kernel = .adapters([])
            $0.radio?.block = RadioFailure(.blocked, "rfkill keeps Bluetooth off")
        },
        Fault(.adapter(.noSuchAdapter), .broken, 69) { $0.wanted = "hci7" },
        Fault(
            .adapter(.noLowEnergy), .broken, 69,
            adapter {
                $0.hasLowEnergy = false; $0.isUp = true
            }),
        Fault(.adapter(.blockedBySwitch), .broken, 69) {
            adapter {
                $0.isUp = false; $0.block = RadioFailure(.blockedBySwitch, "a switch")
            }(&$0)
            $0.wanted = "hci0"
        },
        Fault(.adapter(.adapterOff), .broken, 69) {
            adapter { $0.isUp = false }(&$0); $0.wanted = "hci0"
        },
        Fault(.adapter(.spareAdapterOff), .worthKnowing, 0) {
            adapter { $0.isUp = false }(&$0); $0.wanted = "hci1"
        },
        Fault(
            .controller(.oldController), .worthKnowing, 0,
            adapter {
                $0.version = 8; $0.hasTwoMegabit = nil
            }),
        Fault(.controller(.noTwoMegabit), .worthKnowing, 0, adapter { $0.hasTwoMegabit = false }),
        Fault(
            .advertising(.advertisingFull), .broken, 69,
            adapter {
                $0.properties.freeAdvertisements = 0; $0.properties.activeAdvertisements = 5
            }),
        Fault(
            .audio(.audioShared), .worthKnowing, 0,
            adapter { $0.linked = [LinkedDevice(name: "Earbuds", isAudio: true)] }),
        Fault(.roles(.oneRole), .worthKnowing, 0) {
            guard var only = $0.radio?.adapters.first else { return }
            only.hasBothRoles = false
            $0.radio?.kernel = .adapters([only])
        },
        Fault(.bluetoothd(.serviceNotRunning), .broken, 69) {
            $0.radio?.service = .isMissing; $0.radio?.daemon = nil
        },
        // bluetoothd switches adapters on: where it does not run, they are off for that.
        Fault(.bluetoothd(.serviceNotRunning), .broken, 69) {
            adapter { $0.isUp = false }(&$0); $0.radio?.service = .isMissing
        },
        Fault(.bluetoothd(.noMessageBus), .broken, 69) { $0.radio?.service = .hasNoBus("no such file") },
        Fault(.bluetoothd(.serviceFails), .broken, 69) { $0.radio?.service = .fails("no reply in time") },
        Fault(.bluetoothd(.notExperimental), .worthKnowing, 0) { $0.radio?.daemon?.isExperimental = false },
        Fault(.bluetoothd(.notExperimental), .worthKnowing, 0) {
            $0.radio?.daemon?.isExperimental = false
            $0.radio?.daemon?.version = nil
        },
        Fault(.bluetoothd(.volumePlugin), .worthKnowing, 0) { $0.radio?.daemon?.leavesOut = [] },
        Fault(.permissions(.denied), .broken, 77) { $0.radio?.service = .denies("rejected") },
        Fault(.permissions(.noCapabilities), .worthKnowing, 0) { $0.radio?.permissions.mayCommand = false },
    ]

    static let boxFaults = [
        Fault(.kernel(.kernelUnsound), .worthKnowing, 0) { $0.box.kernel = "#1 SMP Debian 6.1.192-1 (2026-01-02)" },
        Fault(.clock(.clockWrong), .broken, 69) { $0.box.clock = ClockFacts(seconds: 3_600, isKept: false) },
        Fault(.clock(.clockAlone), .worthKnowing, 0) { $0.box.clock.isKept = false },
        Fault(.state(.stateReadOnly), .broken, 73) {
            ($0.box.folder.refusal, $0.box.folder.isReadOnlyDisk) = ("read-only", true)
        },
        Fault(.state(.stateForeign), .broken, 73) { ($0.box.folder.refusal, $0.box.folder.owner) = ("denied", 0) },
        Fault(.state(.stateUnwritable), .broken, 73) { $0.box.folder.refusal = "denied" },
        // Of a folder that is not there, another's above it is no surprise.
        Fault(.state(.stateUnwritable), .broken, 73) {
            ($0.box.folder.refusal, $0.box.folder.owner, $0.box.folder.exists) = ("denied", 0, false)
        },
        Fault(.state(.identityDamaged), .broken, 73) { $0.box.folder.identity = .isDamaged("it is no identity") },
        Fault(.state(.databaseDamaged), .broken, 73) { $0.box.folder.database = .isDamaged("malformed") },
        Fault(.state(.databaseNewer), .broken, 73) { $0.box.folder.database = .isNewer },
        Fault(.state(.databaseUnreadable), .broken, 73) { $0.box.folder.database = .isUnreadable("denied") },
        Fault(.disk(.diskFull), .broken, 73) { $0.box.disk.free = 1 << 20 },
        Fault(.disk(.diskLow), .worthKnowing, 0) { $0.box.disk.free = 100 << 20 },
    ]

    @Test("a healthy box has nothing, and every area is looked at")
    func health() {
        let findings = Self.healthy().findings
        #expect(findings.filter { $0.level != .good } == [])
        #expect(Set(findings.map(\.area)) == Set(Finding.Area.allCases).subtracting([.air]))
        #expect(Self.healthy().adaptersToTry == ["hci0", "hci1"])
    }

    @Test("each fault is named by its cause alone, with what it means", arguments: radioFaults + boxFaults)
    func fault(_ fault: Fault) {
        var doctor = Self.healthy()
        fault.plant(&doctor)
        let bad = doctor.findings.filter { $0.level != .good }
        #expect(bad.map(\.kind) == [fault.kind])
        #expect(bad.map(\.level) == [fault.level])
        #expect(bad.allSatisfy { !$0.meaning.isEmpty && $0.message.hasSuffix(".") })
        var diagnosis = Diagnosis()
        diagnosis.findings = doctor.findings
        #expect((diagnosis.exitCode?.rawValue ?? 0) == fault.exitCode)
        let isBroken = fault.level == .broken
        #expect(doctor.adaptersToTry.isEmpty == (isBroken && Self.radioFaults.contains { $0.kind == fault.kind }))
    }

    @Test("every finding there is has been made by a test")
    func complete() {
        let doctor = Self.healthy()
        let made =
            (Self.radioFaults + Self.boxFaults).map(\.kind) + doctor.findings.map(\.kind)
            + Self.outcomes.flatMap {
                doctor.findings(HearingTest(from: "hci0", to: "hci1", outcome: $0.0)).map(\.kind)
            }
        #expect(Set(Finding.Kind.allCases) == Set(made))
    }

    @Test("a box without a radio by its user's word has none to be looked at")
    func virtual() {
        var doctor = Self.healthy()
        doctor.radio = nil
        #expect(doctor.adaptersToTry == [])
        #expect(Set(doctor.findings.map(\.area)) == [.kernel, .clock, .state, .disk])
    }

    @Test("the adapter that is wanted is tried first")
    func wanted() {
        var doctor = Self.healthy()
        doctor.wanted = "hci1"
        #expect(doctor.adaptersToTry == ["hci1", "hci0"])
    }

    static let outcomes: [(HearingTest.Outcome, Finding.Kind, Finding.Level)] = [
        (.heard(after: .milliseconds(45), rssi: -50), .air(.heard), .good),
        (.silence(.seconds(8)), .air(.notHeard), .broken),
        (.advertised, .air(.advertised), .good),
        (.cannotAdvertise(RadioFailure(.failed, "x")), .air(.cannotAdvertise), .broken),
        (.cannotListen(RadioFailure(.failed, "x")), .air(.cannotListen), .broken),
    ]

    @Test("a live test is told as it went", arguments: outcomes)
    func live(outcome: HearingTest.Outcome, kind: Finding.Kind, level: Finding.Level) {
        let findings = Self.healthy().findings(HearingTest(from: "hci0", to: "hci1", outcome: outcome))
        #expect(findings.map(\.kind) == [kind])
        #expect(findings.map(\.level) == [level])
    }

    @Test("what has to be typed for a folder with spaces is one word to the shell")
    func quoting() {
        var doctor = Self.healthy()
        doctor.box.folder.path = "/media/Dad's Stick"
        doctor.box.folder.refusal = "denied"
        #expect(doctor.findings.contains { $0.command?.hasSuffix("'/media/Dad'\\''s Stick'") == true })
    }

    @Test("people read what was found, what it means and what to type, and a sum")
    func text() throws {
        var doctor = Self.healthy()
        doctor.box.clock.isKept = false
        var diagnosis = Diagnosis()
        diagnosis.findings = doctor.findings
        let alone = try #require(doctor.findings.first { $0.kind == .clock(.clockAlone) })
        let lines = alone.lines { $0.split(separator: ". ").map(String.init) }
        #expect(lines.first == "worth knowing " + alone.message)
        #expect(
            lines.count == 4
                && lines[1...2].allSatisfy { $0.hasPrefix("              ") && !$0.hasPrefix("               ") })
        #expect(lines.last == "                sudo timedatectl set-ntp true")
        #expect(diagnosis.sentence == "Nothing is broken; 1 worth knowing.")
        #expect(try #require(doctor.findings.first).lines { _ in ["no meaning"] } == ["good          hci0 is on."])
        doctor.box.disk.free = 0
        diagnosis.findings = doctor.findings
        #expect(diagnosis.sentence == "1 thing is broken: mend the first one, and look again.")
        diagnosis.findings = Self.healthy().findings
        #expect(diagnosis.sentence == "This box is well.")
    }

    @Test("programs get an object a finding, and a sum")
    func json() throws {
        var doctor = Self.healthy()
        doctor.box.disk.free = 1 << 20
        var diagnosis = Diagnosis()
        diagnosis.findings = doctor.findings
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        func text(_ object: some Encodable) throws -> String {
            String(decoding: try encoder.encode(object), as: UTF8.self)
        }
        let full = try #require(doctor.findings.first { $0.kind == .disk(.diskFull) })
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
