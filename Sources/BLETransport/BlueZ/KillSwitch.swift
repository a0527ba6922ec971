// SPDX-License-Identifier: Apache-2.0

import Bearers

/// The kernel's switches for radios, as rfkill lists them (Documentation/ABI/stable/sysfs-class-rfkill).
///
/// Each adapter has a switch with its name. A laptop has further switches. While one of those is off, its adapter may
/// not exist.
struct KillSwitch: Hashable, Sendable {
    /// The folder in which the kernel lists the switches.
    static let folder = "/sys/class/rfkill"

    /// Number of switches to read. A radio has one or two, and a machine has few radios.
    private static let capacity = 64

    /// `hci0`, or the laptop's own name.
    var name: String
    /// A program has blocked the radio, and a program can unblock it.
    var isSoftBlocked: Bool
    /// The hardware has blocked the radio, with a slide switch, a key or the firmware.
    var isHardBlocked: Bool

    /// The machine's Bluetooth switches. Empty if they cannot be read.
    static func all(in folder: String = folder) -> [KillSwitch] {
        SystemFile.names(in: folder).sorted().prefix(capacity).compactMap { KillSwitch(path: "\(folder)/\($0)") }
    }

    /// Why `adapter` stays off, or with nil why there may be none. Nil if no switch is the cause.
    static func block(of adapter: String?, in folder: String = folder) -> BearerError? {
        let switches = all(in: folder)
        let own = switches.filter { $0.name == adapter }
        // The laptop's switches are for the built-in adapter. An adapter with its own switch is not affected by them.
        let others = own.isEmpty ? switches.filter { !$0.isOfAdapter } : own
        let subject = adapter ?? "Bluetooth"
        if others.contains(where: \.isHardBlocked) {
            return BearerError(.blockedBySwitch, "a switch of this machine keeps \(subject) off")
        }
        return others.contains(where: \.isSoftBlocked) ? BearerError(.blocked, "rfkill keeps \(subject) off") : nil
    }

    private var isOfAdapter: Bool { name.hasPrefix("hci") }

    private init?(path: String) {
        func line(_ file: String) -> String? { SystemFile.line("\(path)/\(file)") }
        guard line("type") == "bluetooth", let name = line("name") else { return nil }
        let adapter = SystemFile.link("\(path)/device")?.split(separator: "/").last.map(String.init)
        self.name = adapter?.hasPrefix("hci") == true ? adapter ?? name : name
        isSoftBlocked = line("soft") == "1"
        isHardBlocked = line("hard") == "1"
    }
}

extension Adapter {
    /// Why this adapter, which is not up, is off.
    public var whyOff: BearerError {
        KillSwitch.block(of: name) ?? BearerError(.radioOff, "\(name) is switched off")
    }

    /// Why this machine has no adapter.
    public static var whyNone: BearerError {
        KillSwitch.block(of: nil) ?? BearerError(.noAdapter, "this machine has no Bluetooth adapter")
    }
}
