// SPDX-License-Identifier: Apache-2.0

import BLETransport
import Bearers
import FieldTest

extension BenchMachine {
    /// This machine, with the adapter of a radio's name (`bluez hci0`).
    static func local(radio name: String) async -> BenchMachine {
        let words = name.split(separator: " ").map(String.init)
        var machine = BenchMachine(radio: words.first ?? name, kernel: KernelName.release ?? "Linux")
        guard machine.radio == "bluez", let facts = try? await RadioCheckup.collect() else { return machine }
        machine.bluez = facts.daemon?.version?.description
        guard let adapter = facts.adapters.first(where: { words.dropFirst().contains($0.name) }) else { return machine }
        (machine.usb, machine.driver, machine.firmware) = (adapter.usb, adapter.driver, adapter.firmware)
        (machine.manufacturer, machine.bluetooth) = (adapter.manufacturer, adapter.version)
        return machine
    }
}
