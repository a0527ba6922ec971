// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ
import Glibc
import MeshProtocol

/// Facts about an adapter. A fact that could not be found out is nil.
public struct AdapterFacts: Hashable, Sendable {
    /// `hci0` and so on.
    public var name: String
    /// Whether the adapter is switched on.
    public var isUp = true
    /// Whether the adapter supports Low Energy.
    public var hasLowEnergy = true
    /// The switch that keeps the adapter off, from rfkill.
    public var block: BearerError?
    /// The adapter's driver in the kernel, such as `btusb`.
    public var driver: String?
    /// USB vendor and product in hexadecimal: `0a12:0001`.
    public var usb: String?
    /// Version of the Core specification by its assigned number: 8 is 4.2, 9 is 5.0.
    public var version: Int?
    /// Manufacturer of the controller, by its assigned number.
    public var manufacturer: Int?
    /// Revision and subversion of its firmware, as it reports them.
    public var firmware: String?
    /// Whether the adapter supports the 2M PHY. Reading this needs CAP_NET_RAW.
    public var hasTwoMegabit: Bool?
    /// Whether the adapter can be central and peripheral at once.
    public var hasBothRoles: Bool?
    /// Whether the kernel's own advertising is on. The kernel then dials by directed advertising.
    public var advertisesItself = false
    /// The kernel's default parameters for the adapter. Kernels before 5.9 do not report them.
    public var timing: AdapterTiming?
    /// The properties of the adapter that bluetoothd reports.
    public var properties = AdapterProperties()
    /// Devices that are linked to the adapter through bluetoothd.
    public var linked: [LinkedDevice] = []
}

/// A device that is linked to an adapter.
public struct LinkedDevice: Hashable, Sendable {
    /// The name of the device, or its address if it has no name. Untrusted text.
    public var name: String
    /// Whether the link carries audio.
    public var isAudio: Bool
}

extension AdapterFacts {
    /// The facts from the kernel and the controller.
    static func of(_ adapter: Adapter, control: Int32, poller: Poller) async -> Self {
        var facts = Self(name: adapter.name, isUp: adapter.isUp, hasLowEnergy: adapter.hasLowEnergy)
        if !adapter.isUp { facts.block = KillSwitch.block(of: adapter.name) }
        facts.readDevice(in: "/sys/class/bluetooth/\(adapter.name)/device")
        facts.readKernel(adapter.index, control)
        if adapter.isUp { await facts.readController(adapter.index, poller) }
        return facts
    }

    /// Reads its driver and USB numbers.
    mutating func readDevice(in folder: String) {
        driver = SystemFile.link(folder + "/driver")?.split(separator: "/").last.map(String.init)
        // A USB interface has no numbers; its device has.
        for part in [folder, folder + "/.."] {
            guard let vendor = SystemFile.line(part + "/idVendor"), let product = SystemFile.line(part + "/idProduct")
            else { continue }
            usb = "\(vendor):\(product)"
            return
        }
    }

    private mutating func readKernel(_ index: UInt16, _ control: Int32) {
        var kernel = cbluez_hci_facts()
        guard control >= 0, cbluez_hci_read_facts(control, index, &kernel) == 0 else { return }
        // The kernel has not asked a controller that was never on.
        guard isUp || kernel.version > 0 else { return }
        version = Int(kernel.version)
        manufacturer = Int(kernel.manufacturer)
        advertisesItself = isUp && kernel.advertises_itself
        if kernel.tells_roles { hasBothRoles = kernel.has_both_roles }
        timing = AdapterSettings.read(of: index).map { $0.timing(isOfNode: $0.isOfNode) }
    }

    private mutating func readController(_ index: UInt16, _ poller: Poller) async {
        func answer(to opcode: Int) async -> [UInt8]? {
            let question = ControllerQuestion(
                adapterIndex: index, opcode: opcode, patience: RadioLimits.controllerAnswer)
            let reply = await question.ask(
                poller, { cbluez_hci_request($0, UInt16(opcode)) }, isAnswered: { _ in true })
            guard case .answer(let answer) = reply, answer.status == 0 else { return nil }
            return withUnsafeBytes(of: answer.bytes) { Array($0.prefix(Int(answer.count))) }
        }
        // Version, revision, LMP version, manufacturer, LMP subversion (Vol 4, Part E, 7.4.1).
        if let bytes = await answer(to: CBLUEZ_READ_LOCAL_VERSION), bytes.count >= 8 {
            let words = [(bytes[1], bytes[2]), (bytes[6], bytes[7])].map { low, high in UInt16(high) << 8 | UInt16(low)
            }
            firmware = words.map { String($0, radix: 16) }.joined(separator: "/")
        }
        // Bit 8: LE 2M PHY (Vol 6, Part B, 4.6).
        if let bytes = await answer(to: CBLUEZ_LE_READ_FEATURES), bytes.count >= 2 {
            hasTwoMegabit = bytes[1] & 1 != 0
        }
    }
}
