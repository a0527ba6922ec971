// SPDX-License-Identifier: Apache-2.0

import BLETransport

/// Derives findings from facts: what works on a device, what is worth knowing, and what is broken. A finding contains
/// its remedy.
///
/// If a fault causes others, only the cause is reported, because people should repair the cause.
public struct Doctor: Sendable {
    /// The device's Bluetooth; nil if the node uses none.
    public var radio: RadioFacts?
    /// The rest of the device.
    public var device: DeviceFacts
    /// The player and the music; nil if they are not checked.
    public var music: MusicFacts?
    /// Whether phones can reach a page; nil if that is not checked.
    public var phones: PhoneFacts?
    /// The adapters for the node, in the form of `RadioChoice.adapters`. If the list is empty, the node uses the first
    /// adapter that is on. If it has two, they work as one radio: the first dials, and the second is dialled.
    public var wanted: [String]
    /// Whose rights the facts describe: this process's, or, if root checks for other users, those of any user who
    /// starts this program.
    public var permissionsAre = Bearer.thisProcess

    /// The holder of the described rights.
    public enum Bearer: String, Hashable, Sendable {
        case thisProcess = "this process"
        case anyUser = "this program, started by a user,"
    }

    /// Creates a doctor for these facts.
    public init(radio: RadioFacts?, device: DeviceFacts, wanted: [String] = []) {
        self.radio = radio
        self.device = device
        self.wanted = wanted
    }

    /// The findings that need no test.
    public var findings: [Finding] {
        var findings: [Finding] = radio.map(findings(on:)) ?? []
        if let powerFinding { findings.append(powerFinding) }
        findings += [kernelFinding, clockFinding] + stateFindings
        if let diskFinding { findings.append(diskFinding) }
        findings.append(networkFinding)
        findings += musicFindings
        if let phonesFinding { findings.append(phonesFinding) }
        return findings
    }

    /// The adapters for a live test, best first. Empty if the test could only confirm a known fault.
    public var adaptersToTry: [String] {
        guard let radio, let chosen = chosen(of: radio), !findings(on: radio).contains(where: { $0.level == .broken })
        else { return [] }
        if let second = dialled(of: radio) { return [chosen.name, second.name] }
        let others = radio.adapters.filter { $0.isUp && $0.hasLowEnergy && $0.name != chosen.name }
        return [chosen.name] + others.prefix(1).map(\.name)
    }

    /// The adapter that a node would use. If the node uses two, the adapter that dials.
    func chosen(of radio: RadioFacts) -> AdapterFacts? {
        guard let name = wanted.first else { return radio.adapters.first(where: \.isUp) ?? radio.adapters.first }
        return radio.adapters.first { $0.name == name }
    }

    /// The second of two adapters that work as one radio: the one that is dialled.
    func dialled(of radio: RadioFacts) -> AdapterFacts? {
        wanted.count > 1 ? radio.adapters.first { $0.name == wanted[1] } : nil
    }

    private func findings(on radio: RadioFacts) -> [Finding] {
        var findings = adapterFindings(radio)
        guard radio.kernel != .hasNone else { return findings }
        let used = [chosen(of: radio), dialled(of: radio)].compactMap(\.self)
        let timing = used.compactMap { timingFinding($0, radio) }
        let isSlow = timing.contains { $0.code == .slowTiming }
        findings += [serviceFinding(radio), discoveryFinding(radio), permissionFinding(radio, isSlow: isSlow)]
            .compactMap(\.self)
        // The dialled adapter is the one that advertises.
        return findings + [used.last.flatMap(advertisingFinding)].compactMap(\.self) + timing + rolesFindings(radio)
            + used.compactMap(advertisesItselfFinding) + used.compactMap { audioFinding($0, radio) }
    }
}
