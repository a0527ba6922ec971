// SPDX-License-Identifier: Apache-2.0

import BLETransport
import MeshProtocol

extension Doctor {
    /// The finding about the adapter's room for one more advertisement.
    func advertisingFinding(_ adapter: AdapterFacts) -> Finding? {
        guard adapter.isUp, let active = adapter.properties.activeAdvertisements,
            let free = adapter.properties.freeAdvertisements
        else {
            return nil
        }
        guard free > 0 else {
            return Finding(
                .advertisingFull, .broken,
                "All advertisements of \(adapter.name) are in use (\(active) of \(active)).",
                meaning:
                    "Guests would not find a host on it. Other programs use them: end these, or restart bluetoothd, "
                    + "which removes them all.",
                command: "sudo systemctl restart bluetooth")
        }
        return Finding(.advertising, .good, "\(adapter.name) has \(free) free advertisements; \(active) in use.")
    }

    /// The finding about the kernel's own advertising; nil if this is off. While it is on, the kernel does not dial; it
    /// waits for incoming links.
    func advertisesItselfFinding(_ adapter: AdapterFacts) -> Finding? {
        guard adapter.advertisesItself else { return nil }
        let index = adapter.name.drop { !$0.isNumber }
        return Finding(
            .advertisesItself, .worthKnowing, "The kernel's own advertising is switched on for \(adapter.name).",
            meaning:
                "The kernel then waits for a host to dial instead of dialling it, so a guest on this adapter joins no host. "
                + "RoadMesh does not need it:",
            command: "sudo btmgmt --index \(index) advertising off")
    }

    /// The finding about the adapter's advertising interval and its links' intervals.
    func timingFinding(_ adapter: AdapterFacts, _ radio: RadioFacts) -> Finding? {
        guard adapter.isUp, let timing = adapter.timing else { return nil }
        let links = "links every \(Self.text(timing.connection)) ms"
        // Whether bluetoothd applies the interval that a node requests.
        let isAsked = radio.daemon?.passesIntervalsOn
        let advertises = isAsked == true || timing.advertising.upperBound <= Self.promptAdvertising
        let does = isAsked == true ? links : "advertises every \(Self.text(timing.advertising)) ms and \(links)"
        if timing.isSetByNode { return Finding(.timing, .good, "\(adapter.name) \(does), as set by a node.") }
        if radio.permissions.mayAdminister {
            return Finding(
                .timing, .good, "\(adapter.name) \(does); a node of this program makes it faster while it runs.")
        }
        if advertises, timing.connection.upperBound <= Self.promptConnection {
            return Finding(.timing, .good, "\(adapter.name) \(does).")
        }
        return Finding(
            .slowTiming, .worthKnowing,
            "\(adapter.name) \(does), and \(permissionsAre.rawValue) may not change that: it lacks \(Self.missing(radio.permissions)).",
            meaning:
                "Everything works, but guests find a host late, and return from a tunnel seconds later than they "
                + "could. With the capability a node tunes the adapter while it runs, and restores the former values. As a "
                + "service it has it; for this program:",
            command: Self.grant)
    }

    /// Intervals up to these, in milliseconds, need no finding.
    private static let (promptAdvertising, promptConnection) = (100.0, 15.0)

    private static func text(_ range: ClosedRange<Double>) -> String {
        let bounds = range.lowerBound == range.upperBound ? [range.lowerBound] : [range.lowerBound, range.upperBound]
        return bounds.map { $0 == $0.rounded() ? String(Int($0)) : String($0) }.joined(separator: " to ")
    }

    /// The findings about each adapter's role in a relay.
    func rolesFindings(_ radio: RadioFacts) -> [Finding] {
        guard let chosen = chosen(of: radio) else { return [] }
        guard wanted.count > 1 else { return [rolesFinding(chosen, radio)].compactMap(\.self) }
        guard let second = dialled(of: radio) else { return [] }
        let parts = [(chosen, "dials"), (second, "is on the air and is dialled")]
        return parts.filter(\.0.isUp).map { adapter, part in
            let alone = adapter.hasBothRoles == true ? "; it could do both alone" : ""
            return Finding(.roles, .good, "\(adapter.name) \(part) where the two are a relay's (--relay)\(alone).")
        }
    }

    /// The finding about whether the kernel can dial while other devices are linked to the adapter, which a relay
    /// needs.
    private func rolesFinding(_ adapter: AdapterFacts, _ radio: RadioFacts) -> Finding? {
        guard adapter.isUp else { return nil }
        guard let both = adapter.hasBothRoles else {
            return Finding(
                .unknownRoles, .worthKnowing,
                "The kernel does not say whether \(adapter.name) dials out while others are linked to it.",
                meaning:
                    "Kernels before 5.9 do not. Only a relay (--relay) needs it; hosts and guests do not. A trial "
                    + "shows whether a relay works on this adapter.")
        }
        if both {
            return Finding(
                .roles, .good, "\(adapter.name) dials out while others are linked to it: a relay needs no other.")
        }
        let message = "\(adapter.name) does not dial out while others are linked to it"
        // Another finding reports an adapter that is off.
        guard let other = radio.adapters.first(where: { $0.hasLowEnergy && $0.name != adapter.name }) else {
            return Finding(
                .oneRole, .worthKnowing, "\(message).",
                meaning:
                    "Its driver does not promise both roles at once, so the kernel waits until they have gone. Hosts and "
                    + "guests do not need it. A relay (--relay) on this adapter must dial its own host before others may "
                    + "link to it, and must release them to dial again; with a second adapter it keeps them.")
        }
        return Finding(
            .roles, .good,
            other.hasBothRoles == true
                ? "\(message), and \(other.name) does: that one is better for a relay."
                : "\(message): a relay needs \(other.name) as well (--adapter \(adapter.name),\(other.name))."
        )
    }

    /// The finding about audio on the same adapter.
    func audioFinding(_ adapter: AdapterFacts, _ radio: RadioFacts) -> Finding? {
        guard adapter.isUp, radio.service == .answers else { return nil }
        guard let device = adapter.linked.first(where: \.isAudio) else {
            return Finding(.audio, .good, "No sound goes over \(adapter.name).")
        }
        let other = radio.adapters.first { $0.isUp && $0.hasLowEnergy && $0.name != adapter.name }
        return Finding(
            .audioShared, .worthKnowing,
            "\"\(device.name)\", which carries sound, is connected to \(adapter.name) too.",
            meaning: "Sound takes much of the airtime that votes need, and the adapter hears guests less often: "
                + (other == nil
                    ? "give one of the two another adapter, or connect the loudspeaker with a cable."
                    : "let the node use the other one."),
            command: other.map { "roadmesh host \"Dad's Car\" --adapter \($0.name)" })
    }

    /// The finding from the live test.
    public func finding(_ test: ReceptionTest) -> Finding {
        let to = test.to ?? ""
        switch test.outcome {
        case .heard(let time, let every, let rssi):
            let loud = rssi.map { ", at \($0) dBm" } ?? ""
            let heard = "\(to) hears \(test.from) after \(time.wholeMilliseconds) ms\(loud)"
            guard let every else { return Finding(.heard, .good, "\(heard).") }
            return finding(heard, every: every, from: test.from)
        case .silence(let time):
            return Finding(
                .notHeard, .broken,
                "\(to) does not hear \(test.from) in \(time.wholeSeconds) s, although both are on.",
                meaning:
                    "One of the two cannot receive or send: its antenna is missing or enclosed in metal, the dongle is "
                    + "stuck, or a USB 3 port next to it causes noise. Put the dongle on a short extension cable; then:",
                command: "sudo systemctl restart bluetooth")
        case .found(let time):
            let found = "\(test.from) advertises, and guests linked to it within \(time.milliseconds) ms at best"
            guard time.duration > Self.promptFinding else { return Finding(.heard, .good, "\(found).") }
            // A guest's dial takes one to two advertising intervals.
            return seldom(
                "\(found): every \(time.milliseconds / 2) to \(time.milliseconds) ms it is on the air.", of: test.from)
        case .advertised:
            return Finding(
                .advertised, .good,
                "\(test.from) advertises. A second adapter or another device could test whether it can be heard.")
        case .serviceEnded:
            let name = radio?.daemon?.version.map { "bluetoothd \($0)" } ?? "bluetoothd"
            return Finding(
                .serviceDied, .broken, "\(name) ended while \(test.from) was tried.",
                meaning:
                    "All Bluetooth links are lost when that happens, and this check says nothing about the "
                    + "adapters. bluetoothd's last words:",
                command: "sudo journalctl --unit bluetooth --lines 20")
        case .cannotAdvertise(let failure) where failure.code == .advertisingRefused:
            return Finding(
                .advertisingRefused, .broken,
                "\(failure.cause) refuses what bluetoothd advertises on \(test.from).",
                meaning:
                    "Guests would not find a host on it. Update Linux or BlueZ. Until then a program with CAP_NET_ADMIN can "
                    + "ask the kernel itself. As a service it has that; for this program:",
                command: Self.grant)
        case .cannotAdvertise(let failure):
            return Finding(
                .cannotAdvertise, .broken, "\(test.from) does not advertise (\(failure.cause)).",
                meaning: "Guests would not find a host on it.", command: "sudo systemctl restart bluetooth")
        case .cannotListen(let failure):
            return Finding(
                .cannotListen, .broken, "\(to) does not listen (\(failure.cause)).",
                meaning: "A guest on it would not find a host.", command: "sudo systemctl restart bluetooth")
        }
    }
}

extension Doctor {
    /// The finding about a refusal by the kernel in the live test; nil without a refusal.
    public func kernelFinding(_ test: ReceptionTest) -> Finding? {
        guard let kernel = test.bypassed else { return nil }
        return Finding(
            .advertisingBypassed, .worthKnowing, "\(kernel) refuses what bluetoothd advertises on \(test.from).",
            meaning:
                "A node with CAP_NET_ADMIN asks the kernel itself, as this check did. Without it, and for other programs, "
                + "nothing is advertised. Update Linux or BlueZ. What is installed:",
            command: "dpkg --list 'linux-image-*' bluez")
    }

    /// The finding about the real advertising interval, whatever interval was requested. If another finding reports the
    /// cause of a long interval, this finding is good.
    private func finding(_ heard: String, every interval: Duration, from adapter: String) -> Finding {
        let milliseconds = interval.wholeMilliseconds
        guard interval > Self.promptHearing else {
            return Finding(.heard, .good, "\(heard), and then at least every \(milliseconds) ms.")
        }
        return seldom("\(heard), and then every \(milliseconds) ms.", of: adapter)
    }

    private func seldom(_ message: String, of adapter: String) -> Finding {
        guard !findings.contains(where: { $0.code == .slowTiming }) else { return Finding(.heard, .good, message) }
        let meaning = "Guests find a host on it late, and return late from a tunnel, whatever the settings say. "
        guard radio?.permissions.mayAdminister == true else {
            return Finding(
                .heardSeldom, .worthKnowing, message,
                meaning: meaning
                    + "bluetoothd does not forward a node's settings; with the capability a node sets them in the kernel "
                    + "itself:", command: Self.grant)
        }
        return Finding(
            .heardSeldom, .worthKnowing, message,
            meaning: meaning
                + "\(adapter) was set to be faster: something else keeps its radio busy, or it ignores the setting. "
                + "Another dongle may be faster; first:", command: "sudo systemctl restart bluetooth")
    }

    /// Receiving an advertisement within this time needs no finding. The time allows for a missed advertisement and the
    /// start of a scan.
    private static let promptHearing = Duration.milliseconds(200)
    /// A dial within this time needs no finding. A dial receives two advertisements.
    private static let promptFinding = promptHearing * 2
}

extension DialTime {
    fileprivate var duration: Duration { .milliseconds(milliseconds) }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int { Int(self / .milliseconds(1)) }
    fileprivate var wholeSeconds: Int { Int(self / .seconds(1)) }
}
