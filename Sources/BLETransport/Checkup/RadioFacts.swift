// SPDX-License-Identifier: Apache-2.0

/// What a box's Bluetooth is like, as far as this process may see it. Nothing in it is judged.
public struct RadioFacts: Hashable, Sendable {
    /// What the kernel has.
    public enum Kernel: Hashable, Sendable {
        /// These adapters; none where the list is empty.
        case adapters([AdapterFacts])
        /// No Bluetooth at all.
        case hasNone
        /// It does not let this process look, or something else is the matter.
        case silent(RadioFailure)
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
    public var block: RadioFailure?
    /// What bluetoothd says.
    public var service: Service
    /// The bluetoothd that runs, where one is seen.
    public var daemon: DaemonFacts?
    /// What this process may do.
    public var permissions: RadioPermissions

    /// Facts.
    public init(
        kernel: Kernel, block: RadioFailure? = nil, service: Service, daemon: DaemonFacts?,
        permissions: RadioPermissions
    ) {
        self.kernel = kernel
        self.block = block
        self.service = service
        self.daemon = daemon
        self.permissions = permissions
    }

    /// The adapters there are.
    public var adapters: [AdapterFacts] { if case .adapters(let adapters) = kernel { adapters } else { [] } }
}
