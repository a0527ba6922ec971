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

/// An adapter. What could not be found out is nil.
public struct AdapterFacts: Hashable, Sendable {
    /// `hci0` and so on.
    public var name: String
    /// Whether it is switched on.
    public var isUp: Bool
    /// Whether it speaks Low Energy at all.
    public var hasLowEnergy: Bool
    /// rfkill keeps it off.
    public var block: RadioFailure?
    /// The kernel's driver for it: `btusb`.
    public var driver: String?
    /// Vendor and product of its plug, in hexadecimal: `0a12:0001`.
    public var usb: String?
    /// Version of the Core specification by its assigned number: 8 is 4.2, 9 is 5.0.
    public var version: Int?
    /// Who made the controller, by its assigned number.
    public var manufacturer: Int?
    /// Revision and subversion of its firmware, as it says them.
    public var firmware: String?
    /// Whether it sends on the 2M PHY. Asking takes CAP_NET_RAW.
    public var hasTwoMegabit: Bool?
    /// Whether it is central and peripheral at once.
    public var hasBothRoles: Bool?
    /// Advertisements that are registered on it.
    public var activeAdvertisements: Int?
    /// How many more it takes.
    public var freeAdvertisements: Int?
    /// Devices that are linked to it through bluetoothd.
    public var linked: [LinkedDevice] = []

    /// An adapter of which only this is known.
    public init(name: String, isUp: Bool = true, hasLowEnergy: Bool = true) {
        self.name = name
        self.isUp = isUp
        self.hasLowEnergy = hasLowEnergy
    }
}

/// A device that is linked to an adapter.
public struct LinkedDevice: Hashable, Sendable {
    /// Its name, or its address where it has none. Untrusted text.
    public var name: String
    /// Whether sound goes over it.
    public var isAudio: Bool

    /// A device.
    public init(name: String, isAudio: Bool) {
        self.name = name
        self.isAudio = isAudio
    }
}

/// A running bluetoothd.
public struct DaemonFacts: Hashable, Sendable {
    /// Its program's path, where the system's usual ones hold it.
    public var path: String?
    /// `5.66`
    public var version: DaemonVersion?
    /// Whether its experimental interfaces are on, by its command line or its configuration.
    public var isExperimental: Bool
    /// Plugins that it was told to leave out.
    public var leavesOut: [String]

    /// A daemon.
    public init(path: String?, version: DaemonVersion?, isExperimental: Bool, leavesOut: [String] = []) {
        self.path = path
        self.version = version
        self.isExperimental = isExperimental
        self.leavesOut = leavesOut
    }
}

/// BlueZ's version.
public struct DaemonVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// 5 in `5.66`.
    public var major: Int
    /// 66 in `5.66`.
    public var minor: Int

    /// A version.
    public init(_ major: Int, _ minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// Reads what `bluetoothd --version` prints. Nil where it is none.
    public init?(_ text: some StringProtocol) {
        let numbers = String(text).split { $0 == "." || $0.isWhitespace }.map { Int($0) }
        guard numbers.count >= 2, let major = numbers[0], let minor = numbers[1] else { return nil }
        self.init(major, minor)
    }

    /// `5.66`
    public var description: String { "\(major).\(minor)" }

    /// By age.
    public static func < (one: Self, other: Self) -> Bool { (one.major, one.minor) < (other.major, other.minor) }
}
