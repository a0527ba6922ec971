// SPDX-License-Identifier: Apache-2.0

import BLETransport
import FoundationEssentials

/// Decides which changes repair which findings. A person must repair all other findings.
public struct FixPlanner: Sendable {
    /// On some distributions, only members of this group may use bluetoothd.
    static let group = "bluetooth"

    /// Findings that changes can repair on most devices.
    public static let repaired: Set<Finding.Code> = [
        .blocked, .adapterOff, .spareAdapterOff, .noMessageBus, .serviceNotRunning, .serviceFails, .advertisingFull,
        .volumePlugin, .looksThroughPhones, .denied, .slowTiming, .noCapabilities,
    ]

    private let radio: RadioFacts?
    private let facts: FixFacts
    private var plan = FixPlan()
    private var groups: [SettingGroup] = []
    private var groupReasons: [Finding.Code] = []
    /// Findings that need a restart of bluetoothd.
    private var restartReasons: [Finding.Code] = []
    private var needsReload = false
    private var startsService = false

    /// Makes a planner for these facts.
    public init(radio: RadioFacts?, facts: FixFacts) {
        self.radio = radio
        self.facts = facts
    }

    /// Returns the changes for these findings.
    public func plan(for findings: [Finding]) -> FixPlan {
        var planner = self
        let codes = findings.filter { $0.level != .good }.map(\.code)
        for code in codes { planner.consider(code) }
        planner.addConfiguration()
        planner.addRestart()
        // These come last, because they need a running bluetoothd.
        for code in codes where code == .adapterOff || code == .spareAdapterOff { planner.addPower(code) }
        return planner.plan
    }

    private mutating func consider(_ code: Finding.Code) {
        switch code {
        case .blocked: addUnblocking(code)
        case .adapterOff: want([.enabling], for: code)
        case .spareAdapterOff: addUnblocking(code)
        case .noMessageBus: addStart("dbus", ["systemctl", "start", "dbus"], undo: nil, for: code)
        case .serviceNotRunning: addService(code)
        case .serviceFails, .advertisingFull: restartReasons.append(code)
        case .volumePlugin: addUnitAddition(code)
        case .looksThroughPhones: want([.phones], for: code)
        case .denied: addGroup(code)
        case .slowTiming where !addCapability(code): want([.advertising, .links], for: code)
        case .noCapabilities: _ = addCapability(code)
        default: break
        }
    }

    private mutating func add(_ action: Change.Action, for code: Finding.Code, _ title: String, details: [String] = [])
    {
        let change = Change(action, for: [code], title, details: details)
        if !plan.changes.contains(where: { $0.action == action }) { plan.changes.append(change) }
    }

    // MARK: Radio

    private mutating func addUnblocking(_ code: Finding.Code) {
        for path in facts.blocks {
            let change = ContentChange(store: .kernel, path: path, before: Data("1\n".utf8), after: Data("0\n".utf8))
            add(.content(change), for: code, "Lift rfkill's block of Bluetooth", details: ["echo 0 > \(path)"])
        }
    }

    private mutating func addPower(_ code: Finding.Code) {
        for adapter in radio?.adapters ?? [] where !adapter.isUp && adapter.hasLowEnergy && adapter.block == nil {
            func words(_ value: String) -> [String] {
                [
                    "busctl", "set-property", "org.bluez", "/org/bluez/\(adapter.name)", "org.bluez.Adapter1",
                    "Powered",
                    "b", value,
                ]
            }
            add(.command(words("true"), undo: words("false")), for: code, "Switch \(adapter.name) on")
        }
    }

    // MARK: Services

    private mutating func addStart(_ unit: String, _ words: [String], undo: [String]?, for code: Finding.Code) {
        guard facts.hasSystemctl else {
            return plan.remark("There is no systemctl here, so start \(unit) in this system's own way.")
        }
        add(
            .command(words, undo: undo), for: code,
            "Start \(unit)\(words.contains("enable") ? ", now and with the device" : "")")
    }

    private mutating func addService(_ code: Finding.Code) {
        guard facts.enablement?.hasPrefix("masked") != true else {
            return plan.remark("bluetooth.service is masked. That was set on purpose, so it stays.")
        }
        startsService = true
        let wasEnabled = facts.enablement == "enabled"
        addStart(
            "bluetoothd", ["systemctl", "enable", "--now", "bluetooth"],
            undo: wasEnabled ? ["systemctl", "stop", "bluetooth"] : ["systemctl", "disable", "--now", "bluetooth"],
            for: code)
    }

    private mutating func addRestart() {
        guard !restartReasons.isEmpty else { return }
        guard facts.hasSystemctl else {
            return plan.remark("There is no systemctl here: settings take effect after a restart of bluetoothd.")
        }
        // A service that the plan starts reads the new settings, so it needs no restart.
        guard !startsService else { return moveStartLast() }
        plan.changes.append(.restart(needsReload: needsReload, for: restartReasons))
    }

    private mutating func moveStartLast() {
        guard let index = plan.changes.firstIndex(where: { $0.reasons == [.serviceNotRunning] }) else { return }
        plan.changes.append(plan.changes.remove(at: index))
    }

    private mutating func addUnitAddition(_ code: Finding.Code) {
        guard facts.unitAddition.found == .nothing else {
            return plan.remark("\(facts.unitAddition.path) is there already, and stays as it is.")
        }
        guard facts.hasSystemctl, let daemon = radio?.daemon, let command = UnitCommand(daemon) else {
            return plan.remark(
                "bluetoothd is started in an unusual way, which is not changed: its volume control stays.")
        }
        let lines = ["[Service]", "ExecStart=", "ExecStart=" + command.text]
        let change = ContentChange(
            store: .file, path: facts.unitAddition.path, before: nil,
            after: Data(lines.map { $0 + "\n" }.joined().utf8), effect: .reload)
        add(.content(change), for: code, "Make \(change.path)", details: lines)
        needsReload = true
        restartReasons.append(code)
    }

    // MARK: Permissions

    private mutating func addGroup(_ code: Finding.Code) {
        guard facts.hasGroup else {
            return plan.remark(
                "There is no group \(Self.group) here: /etc/dbus-1/system.d says who may use bluetoothd.")
        }
        guard let user = facts.user else {
            return plan.remark(
                "The user to add to the group \(Self.group) is unknown: run this with sudo as that user.")
        }
        add(
            .command(
                ["usermod", "-aG", Self.group, user.name], undo: ["gpasswd", "--delete", user.name, Self.group]),
            for: code, "Add \(user.name) to the group \(Self.group); it takes effect at the next login")
    }

    /// Gives the program the capabilities for tuning links, if it can have them.
    private mutating func addCapability(_ code: Finding.Code) -> Bool {
        let program = facts.program
        let present = program.capability.flatMap { FileCapability($0) }
        if program.capability != nil, present?.isForTuningAlone != true {
            plan.remark("\(program.path) has other capabilities. They were set on purpose, so they stay.")
            return false
        }
        if let refusal = program.refusal {
            plan.remark("\(program.path) cannot be given the capabilities: \(refusal).")
            return false
        }
        // The program has the capabilities already, and another cause makes them ineffective.
        guard present != .tuning else { return false }
        let change = ContentChange(
            store: .capability, path: program.path, before: program.capability, after: FileCapability.tuning.bytes)
        add(
            .content(change), for: code, "Let this program configure adapters and links for every user",
            details: ["setcap cap_net_admin,cap_net_raw+ep \(program.path)"])
        return true
    }

    // MARK: main.conf

    private mutating func want(_ groups: [SettingGroup], for code: Finding.Code) {
        self.groups += groups.filter { !self.groups.contains($0) }
        groupReasons.append(code)
    }

    private mutating func addConfiguration() {
        guard !groups.isEmpty else { return }
        let file = facts.configuration
        let edit = ConfigurationEdit(file, groups: groups)
        for remark in edit.remarks { plan.remark(remark) }
        guard let result = edit.result else {
            // The file has all settings, but bluetoothd has not read them yet.
            if edit.remarks.isEmpty, groupReasons.contains(.slowTiming) { restartReasons.append(.slowTiming) }
            return
        }
        var before: Data?
        if case .bytes(let bytes) = file.found { before = bytes }
        let traces = facts.defaults.sorted { $0.key < $1.key }.map { name, defaults in
            AdapterTrace(adapter: name, before: defaults, after: edit.defaults(from: defaults))
        }.filter { $0.before != $0.after }
        let change = ContentChange(
            store: .file, path: file.path, before: before, after: result, effect: .restart,
            adapters: traces.isEmpty ? nil : traces)
        let count = edit.added.count
        plan.changes.append(
            Change(
                .content(change), for: groupReasons, "Add \(count) \(count == 1 ? "line" : "lines") to \(file.path)",
                details: edit.lines))
        restartReasons += groupReasons
    }
}

/// The command line of bluetoothd's unit, without the volume control.
private struct UnitCommand {
    let text: String

    /// Nil if systemd would read a part of the command line differently.
    init?(_ daemon: DaemonFacts) {
        guard let path = daemon.path else { return nil }
        var words: [String] = []
        var isValue = false
        for argument in daemon.arguments {
            if isValue {
                isValue = false
            } else if argument == "-P" || argument == "--noplugin" {
                isValue = true
            } else if !argument.hasPrefix("-P"), !argument.hasPrefix("--noplugin=") {
                words.append(argument)
            }
        }
        words.append("--noplugin=" + (daemon.leavesOut + ["vcp"]).joined(separator: ","))
        text = ([path] + words).joined(separator: " ")
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._=,- ")
        guard path.hasPrefix("/"), words.allSatisfy({ !$0.isEmpty && !$0.contains(" ") }),
            text.allSatisfy(plain.contains)
        else { return nil }
    }
}
