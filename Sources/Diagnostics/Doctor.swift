// SPDX-License-Identifier: Apache-2.0

import BLETransport

/// Tells from facts what is good about a box, what is worth knowing, and what is broken, each with what mends it.
///
/// What is broken for another broken thing's sake is not told: a person mends causes.
public struct Doctor: Sendable {
    /// The box's Bluetooth; nil where a node is to use none.
    public var radio: RadioFacts?
    /// The rest of the box.
    public var box: BoxFacts
    /// The adapter that a node is to use; nil for the first that is on.
    public var wanted: String?

    /// A doctor with the facts.
    public init(radio: RadioFacts?, box: BoxFacts, wanted: String? = nil) {
        self.radio = radio
        self.box = box
        self.wanted = wanted
    }

    /// What can be told without trying anything.
    public var findings: [Finding] {
        (radio.map(findings(on:)) ?? []) + kernelFindings + clockFindings + stateFindings + diskFindings
    }

    /// The adapters that a live test is worth making with: the one to be used first. None where something that is
    /// broken would be all that it shows.
    public var adaptersToTry: [String] {
        guard let radio, let chosen = chosen(of: radio), !findings(on: radio).contains(where: { $0.level == .broken })
        else { return [] }
        let others = radio.adapters.filter { $0.isUp && $0.hasLowEnergy && $0.name != chosen.name }
        return [chosen.name] + others.prefix(1).map(\.name)
    }

    /// The adapter that a node would take.
    func chosen(of radio: RadioFacts) -> AdapterFacts? {
        guard let wanted else { return radio.adapters.first(where: \.isUp) ?? radio.adapters.first }
        return radio.adapters.first { $0.name == wanted }
    }

    private func findings(on radio: RadioFacts) -> [Finding] {
        var findings = adapterFindings(radio)
        guard radio.kernel != .hasNone else { return findings }
        findings += serviceFindings(radio)
        findings += permissionFindings(radio)
        guard let chosen = chosen(of: radio) else { return findings }
        findings += advertisingFindings(chosen)
        findings += rolesFindings(chosen, radio)
        findings += audioFindings(chosen, radio)
        return findings
    }
}
