// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ
import Glibc

/// The state of a device's Bluetooth, as far as this process can see it. It contains no judgement.
public struct RadioFacts: Hashable, Sendable {
    /// What the kernel reports.
    public enum Kernel: Hashable, Sendable {
        /// These adapters. The list may be empty.
        case adapters([AdapterFacts])
        /// The kernel has no Bluetooth.
        case hasNone
        /// The kernel refuses the request, or another error occurred.
        case silent(BearerError)
    }

    /// What bluetoothd answers.
    public enum Service: Hashable, Sendable {
        /// bluetoothd is on the message bus, and answers this user.
        case answers
        /// bluetoothd is not on the bus.
        case isMissing
        /// bluetoothd refuses this user, or the bus blocks the call. Carries the system's message.
        case denies(String)
        /// The message bus does not exist.
        case hasNoBus(String)
        /// Another error.
        case fails(String)
    }

    /// What the kernel reports.
    public var kernel: Kernel
    /// On a machine without an adapter, the rfkill switch that may be the cause.
    public var block: BearerError?
    /// What bluetoothd answers.
    public var service: Service
    /// The running bluetoothd, if this process can see it.
    public var daemon: DaemonFacts?
    /// The permissions of this process.
    public var permissions: RadioPermissions

    /// The adapters of the machine.
    public var adapters: [AdapterFacts] { if case .adapters(let adapters) = kernel { adapters } else { [] } }
}

/// A process's special permissions for radios: capabilities(7).
public struct RadioPermissions: Hashable, Sendable {
    /// CAP_NET_ADMIN: change the kernel's parameters of links.
    public var mayAdminister: Bool
    /// CAP_NET_RAW: send commands to a controller.
    public var mayCommand: Bool

    /// These permissions.
    public init(mayAdminister: Bool, mayCommand: Bool) {
        self.mayAdminister = mayAdminister
        self.mayCommand = mayCommand
    }
}

extension RadioPermissions {
    /// This process's current permissions: its effective capabilities in the kernel. In a container with its own users
    /// the kernel may still refuse.
    static func ofThisProcess() -> RadioPermissions {
        RadioPermissions(status: SystemFile.text("/proc/self/status") ?? "")
    }

    /// Reads `/proc/PID/status`: the line `CapEff:` holds the effective capabilities as a hexadecimal mask (proc(5)).
    init(status: String) {
        let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        let digits = line.map { String($0.dropFirst(7)).filter { !$0.isWhitespace } } ?? ""
        let mask = UInt64(digits, radix: 16) ?? 0
        mayAdminister = mask & 1 << 12 != 0
        mayCommand = mask & 1 << 13 != 0
    }
}

/// Collects the facts about this device's Bluetooth, and changes nothing.
public enum RadioCheckup {
    /// Collects all facts. It takes as long as the slowest answer, and at most `RadioLimits.checkup` for each part.
    public static func collect() async throws(BearerError) -> RadioFacts {
        let poller = try Poller()
        defer { poller.close() }
        async let daemon = DaemonFacts.running()
        async let bus = BusSnapshot.look(poller)
        var kernel = await kernel(poller)
        let snapshot = await bus
        if case .adapters(let adapters) = kernel { kernel = .adapters(adapters.map(snapshot.completed)) }
        return await RadioFacts(
            kernel: kernel, block: KillSwitch.block(of: nil), service: snapshot.service, daemon: daemon,
            permissions: .ofThisProcess())
    }

    private static func kernel(_ poller: Poller) async -> RadioFacts.Kernel {
        let adapters: [Adapter]
        do {
            adapters = try Adapter.all()
        } catch {
            return error.code == .noAdapter ? .hasNone : .silent(error)
        }
        let control = cbluez_hci_open_control()
        defer { if control >= 0 { close(control) } }
        var facts: [AdapterFacts] = []
        for adapter in adapters { facts.append(await AdapterFacts.of(adapter, control: control, poller: poller)) }
        return .adapters(facts)
    }
}
