// SPDX-License-Identifier: Apache-2.0

import NodeCore
import FoundationEssentials
import Testing

@testable import BLETransport
@testable import Diagnostics

@Suite("Planned changes for findings")
struct FixPlannerTests {
    /// A device on which everything can be changed, and nothing needs to be.
    static func facts(program: ProgramFile = ProgramFile(path: "/usr/bin/roadmesh")) -> FixFacts {
        FixFacts(
            user: FixFacts.User(number: 1_000, group: 1_000, name: "ana"),
            program: program,
            configuration: ConfigurationFile(
                path: "/etc/bluetooth/main.conf", found: .bytes(Data(KeyFileTests.shipped.utf8))),
            unitAddition: ConfigurationFile(path: FixFacts.unitAdditionPath, found: .nothing), hasSystemctl: true,
            enablement: "enabled", hasGroup: true, blocks: ["/sys/class/rfkill/rfkill0/soft"])
    }

    /// The plan for faults of an otherwise healthy device.
    static func plan(
        _ codes: Finding.Code..., facts: FixFacts = facts(), change: (inout RadioFacts) -> Void = { _ in }
    ) -> FixPlan {
        var radio = DoctorTests.healthy().radio
        if var known = radio {
            change(&known)
            radio = known
        }
        let findings = codes.map { Finding($0, .worthKnowing, "It is so.", meaning: "It matters.") }
        return FixPlanner(radio: radio, facts: facts).plan(for: findings)
    }

    private static func content(_ change: Change?) -> ContentChange? {
        guard case .content(let content) = change?.action else { return nil }
        return content
    }

    @Test("a healthy device gets no changes")
    func health() {
        let findings = DoctorTests.healthy().findings
        #expect(FixPlanner(radio: DoctorTests.healthy().radio, facts: Self.facts()).plan(for: findings) == FixPlan())
    }

    @Test("a user who may not tune gets a program that may", arguments: [Finding.Code.slowTiming, .noCapabilities])
    func capability(code: Finding.Code) throws {
        let plan = Self.plan(code)
        #expect(plan.changes.map(\.details) == [["setcap cap_net_admin,cap_net_raw+ep /usr/bin/roadmesh"]])
        #expect(plan.changes.map(\.reasons) == [[code]] && plan.remarks == [])
        let content = try #require(Self.content(plan.changes.first))
        #expect(content.store == .capability && content.before == nil && content.effect == .atOnce)
        #expect(plan.question == "Make this change?")
    }

    @Test("if the program cannot get the capabilities, bluetoothd sets the adapter, and is restarted")
    func configuration() throws {
        var facts = Self.facts()
        facts.program.refusal = "its disk is mounted nosuid"
        let plan = Self.plan(.slowTiming, facts: facts)
        #expect(plan.changes.map(\.title).first == "Add 5 lines to /etc/bluetooth/main.conf")
        #expect(plan.changes.map(\.action).last == .restart(needsReload: false))
        #expect(plan.changes.count == 2 && plan.question == "Make these 2 changes?")
        #expect(plan.remarks == ["/usr/bin/roadmesh cannot be given the capabilities: its disk is mounted nosuid."])
        let content = try #require(Self.content(plan.changes.first))
        #expect(content.before == Data(KeyFileTests.shipped.utf8) && content.after != content.before)
        // A complete main.conf only needs to be read again. Findings that main.conf cannot fix do not change it.
        facts.configuration.found = .bytes(content.after)
        #expect(Self.plan(.slowTiming, facts: facts).changes.map(\.action) == [.restart(needsReload: false)])
        #expect(Self.plan(.noCapabilities, facts: facts).changes == [])
    }

    @Test("the values that bluetoothd will leave in the kernel are stored with the former ones")
    func traces() throws {
        var facts = Self.facts()
        facts.program.refusal = "no"
        let before = AdapterDefaults(
            AdapterSettings(
                advertisingMin: 2_048, advertisingMax: 2_048, connectionMin: 24, connectionMax: 40,
                supervisionTimeout: 42)
        )
        facts.defaults = ["hci0": before]
        let content = try #require(Self.content(Self.plan(.slowTiming, facts: facts).changes.first))
        let trace = try #require(content.adapters?.first)
        #expect(trace.adapter == "hci0" && trace.before == before)
        #expect(trace.after == before.advertising(32...48).links(6...6, supervisionTimeout: 72))
        // bluetoothd already sets the values that the user has chosen.
        facts.configuration.found = .bytes(Data("[LE]\nMinConnectionInterval=24\n".utf8))
        let half = try #require(Self.content(Self.plan(.slowTiming, facts: facts).changes.first))
        #expect(half.adapters?.first?.after == before.advertising(32...48))
    }

    @Test("a missing file is created, and a file that must not be written is left alone")
    func files() throws {
        var facts = Self.facts()
        facts.program.refusal = "it is read-only"
        facts.configuration.found = .nothing
        #expect(try #require(Self.content(Self.plan(.slowTiming, facts: facts).changes.first)).before == nil)
        facts.configuration.found = .refused("is a symbolic link")
        let plan = Self.plan(.slowTiming, facts: facts)
        #expect(plan.changes == [])
        #expect(plan.remarks.last == "/etc/bluetooth/main.conf is a symbolic link: it is left alone.")
    }

    @Test("capabilities that another program has set stay as they are")
    func otherCapabilities() {
        var facts = Self.facts()
        // cap_net_bind_service+ep
        facts.program.capability = Data([1, 0, 0, 2, 0, 4] + [UInt8](repeating: 0, count: 14))
        let plan = Self.plan(.noCapabilities, facts: facts)
        #expect(plan.changes == [] && plan.remarks.first?.contains("other capabilities") == true)
        // Our own capabilities are completed.
        facts.program.capability = Data([1, 0, 0, 2, 0, 16] + [UInt8](repeating: 0, count: 14))
        #expect(
            Self.content(Self.plan(.noCapabilities, facts: facts).changes.first)?.before == facts.program.capability)
    }

    @Test("a stopped service is started last, so that it reads the new settings")
    func service() {
        let plan = Self.plan(.serviceNotRunning)
        #expect(
            plan.changes.map(\.action) == [
                .command(["systemctl", "enable", "--now", "bluetooth"], undo: ["systemctl", "stop", "bluetooth"])
            ])
        var facts = Self.facts()
        facts.enablement = "disabled"
        facts.program.refusal = "no"
        let both = Self.plan(.serviceNotRunning, .slowTiming, facts: facts)
        #expect(both.changes.count == 2)
        #expect(
            both.changes.last?.action
                == .command(
                    ["systemctl", "enable", "--now", "bluetooth"], undo: ["systemctl", "disable", "--now", "bluetooth"])
        )
        facts.enablement = "masked"
        let masked = Self.plan(.serviceNotRunning, facts: facts)
        #expect(masked.changes == [] && masked.remarks.first?.contains("masked") == true)
        facts.hasSystemctl = false
        facts.enablement = nil
        #expect(Self.plan(.serviceNotRunning, facts: facts).changes == [])
    }

    @Test("an adapter that is off is switched on, now and in future")
    func power() {
        var facts = Self.facts()
        facts.configuration.found = .bytes(Data("[Policy]\n".utf8))
        let plan = Self.plan(.adapterOff, facts: facts) { radio in
            var adapters = radio.adapters
            adapters[0].isUp = false
            radio.kernel = .adapters(adapters)
        }
        #expect(plan.changes.map(\.title).first == "Add 1 line to /etc/bluetooth/main.conf")
        #expect(plan.changes.last?.title == "Switch hci0 on")
        #expect(plan.changes.last?.details.first?.hasPrefix("busctl set-property org.bluez /org/bluez/hci0") == true)
        #expect(plan.changes.count == 3)
    }

    @Test("a block by rfkill is lifted, and a hardware switch is left to a person")
    func block() {
        let plan = Self.plan(.blocked)
        #expect(plan.changes.map(\.details) == [["echo 0 > /sys/class/rfkill/rfkill0/soft"]])
        #expect(Self.plan(.blockedBySwitch) == FixPlan())
    }

    @Test("a user without access to bluetoothd joins its group, if there is one")
    func group() {
        #expect(Self.plan(.denied).changes.map(\.details) == [["usermod -aG bluetooth ana"]])
        var facts = Self.facts()
        facts.user = nil
        #expect(Self.plan(.denied, facts: facts).changes == [])
        facts.hasGroup = false
        #expect(Self.plan(.denied, facts: facts).remarks.first?.contains("no group") == true)
    }

    @Test("bluetoothd is started as before, without its volume control")
    func unit() throws {
        let plan = Self.plan(.volumePlugin) {
            $0.daemon?.leavesOut = ["bap"]
            $0.daemon?.arguments = ["-E", "-P", "bap", "-f", "/etc/bt/main.conf"]
        }
        let content = try #require(Self.content(plan.changes.first))
        #expect(
            String(decoding: content.after, as: UTF8.self)
                == "[Service]\nExecStart=\nExecStart=/usr/libexec/bluetooth/bluetoothd -E -f /etc/bt/main.conf --noplugin=bap,vcp\n"
        )
        #expect(
            plan.changes.last?.commands == [["systemctl", "daemon-reload"], ["systemctl", "restart", "bluetooth"]])
        // Arguments that systemd would read differently are left alone, and so is an existing file.
        #expect(Self.plan(.volumePlugin) { $0.daemon?.arguments = ["-E", "-f", "/etc/$HOME.conf"] }.changes == [])
        var facts = Self.facts()
        facts.unitAddition.found = .bytes(Data())
        #expect(Self.plan(.volumePlugin, facts: facts).changes == [])
    }

    @Test("a line in main.conf stops bluetoothd from reading phones, next to other needed lines")
    func phones() throws {
        let plan = Self.plan(.looksThroughPhones)
        #expect(plan.changes.map(\.details).first == ["[General]", "ReverseServiceDiscovery=false"])
        #expect(plan.changes.map(\.action).last == .restart(needsReload: false) && plan.changes.count == 2)
        var facts = Self.facts()
        facts.program.refusal = "no"
        #expect(
            Self.plan(.looksThroughPhones, .slowTiming, facts: facts).changes.map(\.title).first
                == "Add 6 lines to /etc/bluetooth/main.conf")
        facts.configuration.found = .bytes(Data("[General]\nReverseServiceDiscovery=true\n".utf8))
        let decided = Self.plan(.looksThroughPhones, facts: facts)
        #expect(decided.changes == [] && decided.remarks.first?.contains("ReverseServiceDiscovery=true") == true)
    }

    @Test("several findings that need a restart cause one")
    func restart() {
        let plan = Self.plan(.volumePlugin, .advertisingFull)
        #expect(plan.changes.count { if case .restart = $0.action { true } else { false } } == 1)
        #expect(plan.changes.last?.reasons == [.volumePlugin, .advertisingFull])
    }

    @Test("each finding has a change, or needs a person", arguments: Finding.Code.allCases)
    func complete(code: Finding.Code) {
        let plan = Self.plan(code) { radio in
            var adapters = radio.adapters
            adapters[0].isUp = false
            radio.kernel = .adapters(adapters)
        }
        #expect(plan.changes.isEmpty != FixPlanner.repaired.contains(code))
        #expect(plan.changes.allSatisfy { !$0.details.isEmpty && !$0.title.hasSuffix(".") })
    }

    @Test("a file's capabilities are read in the kernel's format")
    func capabilityBytes() throws {
        // The result of setcap cap_net_admin,cap_net_raw+ep (getfattr -n security.capability).
        let bytes = Data([1, 0, 0, 2, 0, 0x30] + [UInt8](repeating: 0, count: 14))
        #expect(FileCapability.tuning.bytes == bytes)
        #expect(FileCapability(bytes) == .tuning)
        // With the user ID of the namespace's root (revision 3).
        let namespaced = Data([1, 0, 0, 3, 0, 0x30] + [UInt8](repeating: 0, count: 18))
        #expect(FileCapability(namespaced) == .tuning)
        for damaged in [Data(), Data([1, 0, 0, 2]), Data([1, 0, 0, 9] + [UInt8](repeating: 0, count: 16))] {
            #expect(FileCapability(damaged) == nil)
        }
        var file = ProgramFile(path: "/usr/bin/roadmesh", capability: bytes)
        #expect(file.permissions == RadioPermissions(mayAdminister: true, mayCommand: true))
        file.isIgnored = true
        #expect(file.permissions == RadioPermissions(mayAdminister: false, mayCommand: false))
    }

    @Test("programs get an object for each change")
    func json() throws {
        let change = try #require(Self.plan(.blocked).changes.first)
        #expect(
            JSONLine.text(TimedChange(change, .failed, cause: "not permitted", at: 1))
                == #"{"at":1,"cause":"not permitted","details":["echo 0 > /sys/class/rfkill/rfkill0/soft"],"event":"change","findings":["blocked"],"state":"failed","title":"Lift rfkill's block of Bluetooth"}"#
        )
        #expect(
            JSONLine.text(TimedRemark("It stays.", at: 1)) == #"{"at":1,"event":"leftAlone","message":"It stays."}"#)
        #expect(change.lines(number: 1) == ["  1. Lift rfkill's block of Bluetooth.", "       " + change.details[0]])
    }
}
