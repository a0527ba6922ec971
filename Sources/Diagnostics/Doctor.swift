// SPDX-License-Identifier: Apache-2.0

import BLETransport

/// Tells from facts what is good about a device, what is worth knowing, and what is broken, each with what repairs it.
///
/// What is broken only because something else is, is not told: a person repairs causes.
public struct Doctor: Sendable {
    /// The device's Bluetooth; nil where a node is to use none.
    public var radio: RadioFacts?
    /// The rest of the device.
    public var device: DeviceFacts
    /// The adapters that a node is to use, as `RadioChoice.adapters` reads them: none for the first that is on, or two that are
    /// one radio, of which the first dials and the second is dialled.
    public var wanted: [String]
    /// What `permissions` of the facts are of: this process, or, where root asks for others, any user who starts this
    /// program.
    public var permissionsAre = Bearer.thisProcess

    /// Who has permissions.
    public enum Bearer: String, Hashable, Sendable {
        case thisProcess = "this process"
        case anyUser = "this program, started by a user,"
    }

    /// A doctor with the facts.
    public init(radio: RadioFacts?, device: DeviceFacts, wanted: [String] = []) {
        self.radio = radio
        self.device = device
        self.wanted = wanted
    }

    /// What can be told without trying anything.
    public var findings: [Finding] {
        (radio.map(findings(on:)) ?? []) + [kernelFinding, clockFinding] + stateFindings
            + [diskFinding].compactMap(\.self) + [networkFinding]
    }

    /// The adapters that a live test is worth making with: the one to be used first. None where something that is
    /// broken would be all that it shows.
    public var adaptersToTry: [String] {
        guard let radio, let chosen = chosen(of: radio), !findings(on: radio).contains(where: { $0.level == .broken })
        else { return [] }
        if let second = dialled(of: radio) { return [chosen.name, second.name] }
        let others = radio.adapters.filter { $0.isUp && $0.hasLowEnergy && $0.name != chosen.name }
        return [chosen.name] + others.prefix(1).map(\.name)
    }

    /// The adapter that a node would take; of two the one that dials.
    func chosen(of radio: RadioFacts) -> AdapterFacts? {
        guard let name = wanted.first else { return radio.adapters.first(where: \.isUp) ?? radio.adapters.first }
        return radio.adapters.first { $0.name == name }
    }

    /// The second of two adapters that are one radio: the one that is dialled.
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
        // What advertises is the one that is dialled.
        return findings + [used.last.flatMap(advertisingFinding)].compactMap(\.self) + timing + rolesFindings(radio)
            + used.compactMap(advertisesItselfFinding) + used.compactMap { audioFinding($0, radio) }
    }
}
