// SPDX-License-Identifier: Apache-2.0

import BLETransport
import Bearers

extension Doctor {
    /// Findings about the adapter and its controller.
    func adapterFindings(_ radio: RadioFacts) -> [Finding] {
        switch radio.kernel {
        case .hasNone:
            return [
                Finding(
                    .noBluetooth, .broken, "This system's kernel has no Bluetooth.",
                    meaning: "No adapter works with it. Only the virtual radio works, within this machine. "
                        + "Kernels for cloud machines are built like that: install the ordinary one and restart the device.",
                    command: "sudo apt-get install linux-image-amd64")
            ]
        case .silent(let failure):
            return [
                Finding(
                    .notListed, .broken, "The kernel does not list its adapters (\(failure.cause)).",
                    meaning: "This process may not use Bluetooth, as in a container or because of a unit's "
                        + "RestrictAddressFamilies. Outside of it this works:", command: "sudo roadmesh doctor")
            ]
        case .adapters(let adapters):
            let isServed = radio.service != .isMissing
            guard let chosen = chosen(of: radio) else { return [noAdapter(radio, wanted.first)] }
            let used = [chosen, dialled(of: radio)].compactMap(\.self)
            let missing = wanted.count > used.count ? [noAdapter(radio, wanted[1])] : []
            return used.flatMap { adapterFindings($0, isServed: isServed) } + missing
                + adapters.filter { adapter in !used.contains { $0.name == adapter.name } }
                .compactMap { spareFinding($0, isServed: isServed) }
        }
    }

    private func noAdapter(_ radio: RadioFacts, _ wanted: String?) -> Finding {
        if let block = radio.block, radio.adapters.isEmpty { return blocked(block) }
        guard let wanted, !radio.adapters.isEmpty else {
            return Finding(
                .noAdapter, .broken, "This machine has no Bluetooth adapter.",
                meaning:
                    "Plug one in. If one is plugged in, the kernel lacks a driver or firmware for it, and logs that:",
                command: "sudo dmesg | grep -i -E 'bluetooth|firmware'")
        }
        let names = radio.adapters.map(\.name).joined(separator: ", ")
        return Finding(
            .noSuchAdapter, .broken, "There is no adapter \(wanted); this machine has \(names).",
            meaning: "A node does not start with it.", command: "bluetoothctl list")
    }

    private func adapterFindings(_ adapter: AdapterFacts, isServed: Bool) -> [Finding] {
        guard adapter.hasLowEnergy else {
            return [
                Finding(
                    .noLowEnergy, .broken, "\(adapter.name) does not speak Bluetooth Low Energy.",
                    meaning: "It is older than Bluetooth 4.0. Plug in a newer one, and name it with --adapter.")
            ]
        }
        guard adapter.isUp else {
            if let block = adapter.block { return [blocked(block)] }
            // bluetoothd switches adapters on when it starts. So if bluetoothd does not run, another finding reports
            // the cause.
            return isServed ? [off(adapter)] : []
        }
        let plug = [adapter.driver, adapter.usb].compactMap(\.self).joined(separator: ", ")
        let on = Finding(.adapter, .good, "\(adapter.name) is on\(plug.isEmpty ? "" : " (\(plug))").")
        return [on, controller(adapter)]
    }

    private func blocked(_ block: BearerError) -> Finding {
        let meaning = "The kernel keeps the radio off, and nothing else can switch it on."
        guard block.code == .blockedBySwitch else {
            return Finding(
                .blocked, .broken, "Bluetooth is blocked: \(block.cause).", meaning: meaning,
                command: "sudo rfkill unblock bluetooth")
        }
        return Finding(
            .blockedBySwitch, .broken, "Bluetooth is blocked: \(block.cause).",
            meaning: meaning + " Flip the switch, or press its key. Which one it is:", command: "rfkill list bluetooth")
    }

    private func off(_ adapter: AdapterFacts) -> Finding {
        Finding(
            .adapterOff, .broken, "\(adapter.name) is switched off.",
            meaning:
                "A node does not start on it. To switch it on at each start of the device, set AutoEnable=true in "
                + "/etc/bluetooth/main.conf.",
            command: "bluetoothctl power on")
    }

    /// A finding about an adapter that the node does not use.
    private func spareFinding(_ adapter: AdapterFacts, isServed: Bool) -> Finding? {
        guard adapter.hasLowEnergy, !adapter.isUp, isServed else { return nil }
        return Finding(
            .spareAdapterOff, .worthKnowing, "The other adapter, \(adapter.name), is off.",
            meaning: "It can neither replace the one in use nor be used in a test.",
            command: adapter.block == nil ? "bluetoothctl power on" : "sudo rfkill unblock bluetooth")
    }

    private func controller(_ adapter: AdapterFacts) -> Finding {
        var words = adapter.version.map { ["Bluetooth \(Self.coreVersion($0))"] } ?? []
        // The number 65535 is not assigned to a maker.
        words += adapter.manufacturer.flatMap { $0 == 0xFFFF ? nil : ["maker \($0)"] } ?? []
        words += adapter.firmware.map { ["firmware \($0)"] } ?? []
        let what =
            "\(adapter.name)'s controller: \(words.isEmpty ? "it reports no version" : words.joined(separator: ", "))."
        // Version 5.0 (assigned number 9) introduced the 2M PHY.
        if let version = adapter.version, version < 9 {
            return Finding(
                .oldController, .worthKnowing, what,
                meaning:
                    "Before 5.0 there is no 2M PHY, and usually only one advertisement at a time: each message takes twice "
                    + "the airtime, so a full bus is slower. Votes in a car are not affected. A newer dongle is faster."
            )
        }
        if adapter.hasTwoMegabit == false {
            return Finding(
                .noTwoMegabit, .worthKnowing, what,
                meaning: "It has no 2M PHY: each message takes twice the airtime. Votes in a car are not affected."
            )
        }
        return Finding(.controller, .good, what)
    }

    /// The version of the Core specification for an assigned number (Assigned Numbers, 2.1).
    private static func coreVersion(_ number: Int) -> String {
        let names = [
            "1.0b", "1.1", "1.2", "2.0", "2.1", "3.0", "4.0", "4.1", "4.2", "5.0", "5.1", "5.2", "5.3", "5.4", "6.0",
        ]
        return names.indices.contains(number) ? names[number] : "newer than 6.0"
    }
}
