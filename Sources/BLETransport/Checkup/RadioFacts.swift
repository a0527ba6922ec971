// SPDX-License-Identifier: Apache-2.0

import CBlueZ
import Glibc

/// The state of a device's Bluetooth, as far as this process may see it. Nothing in it is judged.
public struct RadioFacts: Hashable, Sendable {
    /// What the kernel has.
    public enum Kernel: Hashable, Sendable {
        /// These adapters; none where the list is empty.
        case adapters([AdapterFacts])
        /// No Bluetooth at all.
        case hasNone
        /// It does not let this process look, or something else is the matter.
        case silent(RadioError)
    }

    /// What bluetoothd says.
    public enum Service: Hashable, Sendable {
        /// It is on the message bus, and answers this user.
        case answers
        /// It is not on the bus.
        case isMissing
        /// It does not answer this user, or the bus does not let the two talk; the system's words.
        case denies(String)
        /// There is no message bus.
        case hasNoBus(String)
        /// Anything else.
        case fails(String)
    }

    /// What the kernel has.
    public var kernel: Kernel
    /// rfkill's word on a machine without an adapter, where it has one.
    public var block: RadioError?
    /// What bluetoothd says.
    public var service: Service
    /// The bluetoothd that runs, where one is seen.
    public var daemon: DaemonFacts?
    /// What this process may do.
    public var permissions: RadioPermissions

    /// The adapters there are.
    public var adapters: [AdapterFacts] { if case .adapters(let adapters) = kernel { adapters } else { [] } }
}

/// What a process may do with radios beyond what everybody may: capabilities(7).
public struct RadioPermissions: Hashable, Sendable {
    /// CAP_NET_ADMIN: change what the kernel asks of every link.
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
    /// What this process may do now. It is what the kernel says of its effective capabilities; in a container that has
    /// its own users the kernel may refuse all the same.
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

/// Collects what can be known of this device's Bluetooth, and changes nothing.
public enum RadioCheckup {
    /// Looks at everything. It takes as long as the slowest answer, and never longer than `RadioLimits.checkup` a part.
    public static func collect() async throws(RadioError) -> RadioFacts {
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
