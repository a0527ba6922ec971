// SPDX-License-Identifier: Apache-2.0

import BLETransport

extension Finding {
    /// Of advertisements.
    public enum Advertising: String, Hashable, Sendable, CaseIterable {
        case advertising, advertisingFull
    }

    /// Of central and peripheral at once.
    public enum Roles: String, Hashable, Sendable, CaseIterable {
        case roles, oneRole
    }

    /// Of sound on the same adapter.
    public enum Audio: String, Hashable, Sendable, CaseIterable {
        case audio, audioShared
    }

    /// Of the live test.
    public enum Air: String, Hashable, Sendable, CaseIterable {
        case heard, notHeard, advertised, cannotAdvertise, cannotListen
    }
}

extension Doctor {
    /// Room for one more advertisement.
    func advertisingFindings(_ adapter: AdapterFacts) -> [Finding] {
        guard adapter.isUp, let active = adapter.properties.activeAdvertisements,
            let free = adapter.properties.freeAdvertisements
        else {
            return []
        }
        guard free > 0 else {
            return [
                Finding(
                    .advertising(.advertisingFull), .broken,
                    "All advertisements that \(adapter.name) takes are in use (\(active) of \(active)).",
                    meaning:
                        "A host on it would not be found. Other programs hold them: end these, or restart bluetoothd, "
                        + "which takes them from everybody.",
                    command: "sudo systemctl restart bluetooth")
            ]
        }
        return [
            Finding(
                .advertising(.advertising), .good,
                "\(adapter.name) takes \(free) more advertisements; \(active) in use.")
        ]
    }

    /// Central and peripheral at once.
    func rolesFindings(_ adapter: AdapterFacts, _ radio: RadioFacts) -> [Finding] {
        guard adapter.isUp, let both = adapter.hasBothRoles else { return [] }
        if both {
            return [Finding(.roles(.roles), .good, "\(adapter.name) can be dialled and dial out at once.")]
        }
        // Where it is off, that is told by itself.
        guard let other = radio.adapters.first(where: { $0.hasLowEnergy && $0.name != adapter.name }) else {
            return [
                Finding(
                    .roles(.oneRole), .worthKnowing, "\(adapter.name) has one role at a time: host or guest.",
                    meaning:
                        "While others are linked to it, the kernel does not dial out on it: its driver does not vouch for "
                        + "the combination. A node is one or the other, so this matters only to two nodes on one adapter; a "
                        + "second adapter is what such a box needs.")
            ]
        }
        return [
            Finding(
                .roles(.roles), .good,
                "\(adapter.name) has one role at a time, and \(other.name) is there for the other.")
        ]
    }

    /// Sound over the same adapter.
    func audioFindings(_ adapter: AdapterFacts, _ radio: RadioFacts) -> [Finding] {
        guard adapter.isUp, radio.service == .answers else { return [] }
        guard let device = adapter.linked.first(where: \.isAudio) else {
            return [Finding(.audio(.audio), .good, "No sound goes over \(adapter.name).")]
        }
        let other = radio.adapters.first { $0.isUp && $0.hasLowEnergy && $0.name != adapter.name }
        return [
            Finding(
                .audio(.audioShared), .worthKnowing,
                "\"\(device.name)\", which carries sound, is connected to \(adapter.name) too.",
                meaning: "Sound takes much of the airtime that votes need, and the adapter hears guests less often: "
                    + (other == nil
                        ? "give one of the two another adapter, or connect the loudspeaker with a cable."
                        : "let the node use the other one."),
                command: other.map { "roadmesh host \"Dad's Car\" --adapter \($0.name)" })
        ]
    }

    /// What the live test has shown.
    public func findings(_ test: HearingTest) -> [Finding] {
        let to = test.to ?? ""
        switch test.outcome {
        case .heard(let time, let rssi):
            let loud = rssi.map { ", at \($0) dBm" } ?? ""
            return [
                Finding(
                    .air(.heard), .good, "\(to) hears \(test.from) after \(time.wholeMilliseconds) ms\(loud).")
            ]
        case .silence(let time):
            return [
                Finding(
                    .air(.notHeard), .broken,
                    "\(to) does not hear \(test.from) in \(time.wholeSeconds) s, although both are on.",
                    meaning:
                        "One of the two is deaf or mute: an antenna that is missing or shut in by metal, a dongle that is "
                        + "stuck, or noise from a USB 3 port beside it. Put a dongle on a short extension cable; then:",
                    command: "sudo systemctl restart bluetooth")
            ]
        case .advertised:
            return [
                Finding(
                    .air(.advertised), .good,
                    "\(test.from) advertises; whether it is heard, a second adapter or another box would tell.")
            ]
        case .cannotAdvertise(let failure):
            return [
                Finding(
                    .air(.cannotAdvertise), .broken, "\(test.from) does not advertise (\(failure.cause)).",
                    meaning: "A host on it would not be found.", command: "sudo systemctl restart bluetooth")
            ]
        case .cannotListen(let failure):
            return [
                Finding(
                    .air(.cannotListen), .broken, "\(to) does not listen (\(failure.cause)).",
                    meaning: "A guest on it would find nobody.", command: "sudo systemctl restart bluetooth")
            ]
        }
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int { Int(self / .milliseconds(1)) }
    fileprivate var wholeSeconds: Int { Int(self / .seconds(1)) }
}
