// SPDX-License-Identifier: Apache-2.0

import BLETransport
import Bearers
import BrokerBearer
import LANBearer
import Logging
import MeshNode
import MeshProtocol

/// Whether a node uses its device's network in addition to its radio.
enum LANChoice: String, Sendable, CaseIterable {
    /// Use the network as soon as avahi-daemon runs.
    case on
    /// Neither announce the node in the network nor look for others there.
    case off
}

/// The radio that a node uses.
enum RadioChoice: String, Sendable, CaseIterable {
    /// BlueZ. If no adapter is up, the virtual radio until one is.
    case auto
    /// A Bluetooth adapter, through BlueZ.
    case bluez
    /// A folder that represents the air.
    case virtual

    /// The radio, and a remark if `auto` has chosen a fallback.
    struct Chosen: Sendable {
        /// The chosen radio.
        var radio: any Bearer
        /// A sentence for the person if `auto` has fallen back; nil otherwise.
        var remark: String?
    }

    /// Creates the radio.
    ///
    /// - `adapter` is for example `hci0` for BlueZ, or the virtual radio's own address. With two of them, `hci0,hci1`,
    ///   the first one dials and the second one is dialled.
    /// - `demands` is what this node requires of nodes that dial it, and what it advertises. A node that demands a bond
    ///   accepts bonded devices only. The virtual radio, a network and a broker have no bonds.
    /// - `lan` is nil if the option is not given. Then the network is used, unless the person has chosen the virtual
    ///   radio or demands a bond.
    ///
    /// With a network or a broker a node also starts without an adapter, and uses one when it appears.
    func make(
        adapter: String?, air: String, peer: Peer, service: ServiceType = .democracyDJ,
        demands: AdvertisedFlags.Critical = [], settings: AdapterSettingsPolicy = .leave,
        packets: PacketCapture? = nil, lan: LANChoice? = .off,
        broker: BrokerChoice? = nil, logger: Logger
    ) throws(SetupProblem) -> Chosen {
        let hasNetwork = lan == .on || lan == nil && self != .virtual && !demands.contains(.bond)
        let others = (hasNetwork ? ["lan"] : []) + (broker == nil ? [] : ["broker"])
        var chosen = try make(
            adapter: adapter, air: air, peer: peer, demands, settings, packets, others: others, logger)
        if demands.contains(.bond), lan == .on || broker != nil {
            let (place, option) = lan == .on ? ("A network", "--lan on") : ("A broker", "--broker")
            throw SetupProblem(
                .usage,
                "\(place) has no bonds, so --require-bond and \(option) exclude each other; leave one out.")
        }
        let network = hasNetwork ? LANBearer(demands: demands, logger: logger) : nil
        let far = broker.map {
            BrokerBearer(
                $0.address, files: $0.files, peer: peer, service: service.uuid, demands: demands, logger: logger)
        }
        if network != nil || far != nil {
            chosen.radio = CombinedBearer(air: chosen.radio, network: network, broker: far, logger: logger)
        }
        guard demands.contains(.bond), self == .virtual || chosen.remark != nil else { return chosen }
        throw SetupProblem(
            .unavailable,
            (chosen.remark.map { $0 + " " } ?? "")
                + "The virtual radio has no bonds, so no guest could "
                + "join; leave out --require-bond, or plug in a Bluetooth adapter.")
    }

    private func make(
        adapter: String?, air: String, peer: Peer, _ demands: AdvertisedFlags.Critical,
        _ settings: AdapterSettingsPolicy, _ packets: PacketCapture?, others: [String], _ logger: Logger
    ) throws(SetupProblem) -> Chosen {
        let adapters = try Self.adapters(adapter)
        let bluez = { @Sendable () throws(BearerError) -> any Bearer in
            try Self.radio(adapter, adapters) { (name: String?) throws(BearerError) in
                try BlueZBearer(adapter: name, demands: demands, settings: settings, packets: packets, logger: logger)
            }
        }
        let virtual = { () throws(BearerError) -> any Bearer in
            try Self.radio(adapter, adapters) { (address: String?) throws(BearerError) in
                try VirtualBearer(
                    air: VirtualAir(directory: air), address: address ?? String(peer.id.prefix(16)), demands: demands,
                    logger: logger)
            }
        }
        let late = { (name: String, standIn: (any Bearer)?, first: (any Bearer)?) in
            LateBearer(
                name: name, flags: AdvertisedFlags(critical: demands), standIn: standIn, first: first, logger: logger,
                make: bluez)
        }
        do throws(BearerError) {
            switch self {
            case .virtual: return Chosen(radio: try virtual(), remark: nil)
            case .auto:
                // A named adapter means BlueZ. Only without a name is there a fallback.
                guard adapter == nil, let why = Self.whyNoAdapter() else { fallthrough }
                let standIn = try virtual()
                return Chosen(
                    radio: demands.contains(.bond) ? standIn : late(standIn.name, standIn, nil),
                    remark: "No Bluetooth here (\(why)); using the virtual radio in \(air), which reaches other "
                        + "roadmesh programs on this machine, until Bluetooth works.")
            case .bluez:
                // Without a network or a broker, a node without an adapter ends at once.
                guard !others.isEmpty else { return Chosen(radio: try bluez(), remark: nil) }
                do throws(BearerError) {
                    let made = try bluez()
                    return Chosen(radio: late(made.name, nil, made), remark: nil)
                } catch {
                    guard error.mayPass else { throw error }
                    return Chosen(radio: late(others.joined(separator: " and "), nil, nil), remark: nil)
                }
            }
        } catch {
            throw SetupProblem(error)
        }
    }

    /// Creates one radio on the named adapter, or one on two adapters.
    private static func radio(
        _ adapter: String?, _ adapters: [String], _ make: (String?) throws(BearerError) -> any Bearer
    ) throws(BearerError) -> any Bearer {
        guard adapters.count == 2 else { return try make(adapter) }
        return PairedBearer(dialling: try make(adapters[0]), dialled: try make(adapters[1]))
    }

    /// The adapters in the option's value: none, one, or two that form one radio. The first of two dials, and the
    /// second is dialled.
    static func adapters(_ adapter: String?) throws(SetupProblem) -> [String] {
        let names = adapter?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
        guard names.count < 2 || names.count == 2 && Set(names).count == 2 && !names.contains("") else {
            throw SetupProblem(
                .usage,
                "--adapter takes one adapter, or two different ones: the one that dials and the one that is dialled.")
        }
        return names
    }

    /// Throws if this choice results in a radio without bonds.
    func checkBonds(adapter: String?) throws(SetupProblem) {
        let nothing = "The virtual radio has no bonds"
        switch self {
        case .bluez: return
        case .virtual:
            throw SetupProblem(
                .unavailable, "\(nothing); leave --radio virtual out, on a device with a Bluetooth adapter.")
        case .auto:
            guard adapter == nil, let why = Self.whyNoAdapter() else { return }
            throw SetupProblem(
                .unavailable, "No Bluetooth here (\(why)). \(nothing); plug an adapter in, or switch it on.")
        }
    }

    private static func whyNoAdapter() -> String? {
        do throws(BearerError) {
            let adapters = try Adapter.all()
            if adapters.contains(where: { $0.isUp && $0.hasLowEnergy }) { return nil }
            guard let adapter = adapters.first(where: \.hasLowEnergy) else {
                return adapters.isEmpty ? Adapter.whyNone.cause : "no adapter speaks Bluetooth Low Energy"
            }
            return adapter.whyOff.cause
        } catch {
            return error.cause
        }
    }

    /// The folder in which the former settings of adapters are recorded. All nodes of a user share it, and it does not
    /// outlive a reboot. A service uses its `RUNTIME_DIRECTORY`.
    static func defaultSettingsFolder(environment: [String: String], userID: UInt32) -> String {
        if userID == 0 { return "/run/roadmesh" }
        if let runtime = environment["RUNTIME_DIRECTORY"], runtime.hasPrefix("/") { return runtime }
        return runtimeFolder(environment: environment, userID: userID)
    }

    /// The virtual radio's default folder, one for each user.
    static func defaultAir(environment: [String: String], userID: UInt32) -> String {
        runtimeFolder(environment: environment, userID: userID) + "/air"
    }

    /// The folder that a user's nodes share until the system shuts down.
    private static func runtimeFolder(environment: [String: String], userID: UInt32) -> String {
        if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") { return runtime + "/roadmesh" }
        return "/tmp/roadmesh-\(userID)"
    }
}
