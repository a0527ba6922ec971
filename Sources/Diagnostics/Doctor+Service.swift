// SPDX-License-Identifier: Apache-2.0

import BLETransport

extension Doctor {
    /// This version's experimental volume control crashes bluetoothd if a link breaks while the device's services are
    /// read (`docs/bluez.md`).
    private static let volumePluginCrashes = DaemonVersion(5, 66)
    private static let volumePlugin = "vcp"
    /// This version calls the text of a UUID in a discovery filter as a function, and crashes (bluez/bluez#2282).
    private static let filterCrashes = DaemonVersion(5, 87)

    /// The finding about bluetoothd: whether it runs, and how.
    func serviceFinding(_ radio: RadioFacts) -> Finding {
        switch radio.service {
        case .answers, .denies: return running(radio.daemon)
        case .isMissing:
            return Finding(
                .serviceNotRunning, .broken, "bluetoothd is not running.",
                meaning: "Nothing is advertised or heard without it.",
                command: "sudo systemctl enable --now bluetooth")
        case .hasNoBus(let cause):
            return Finding(
                .noMessageBus, .broken, "The system's message bus cannot be reached (\(cause)).",
                meaning: "bluetoothd is reached over it. A container needs /run/dbus from outside.",
                command: "sudo systemctl start dbus")
        case .fails(let cause):
            return Finding(
                .serviceFails, .broken, "bluetoothd does not answer as it should (\(cause)).",
                meaning: "Nothing is advertised or heard without it.", command: "sudo systemctl restart bluetooth")
        }
    }

    private func running(_ daemon: DaemonFacts?) -> Finding {
        guard let daemon else {
            return Finding(.bluetoothd, .good, "bluetoothd answers; its process is not visible from here.")
        }
        let version = daemon.version.map(\.description) ?? "of an unknown version"
        if daemon.isExperimental, daemon.version == Self.volumePluginCrashes,
            !daemon.leavesOut.contains(Self.volumePlugin)
        {
            return Finding(
                .volumePlugin, .worthKnowing,
                "bluetoothd \(version) runs with -E and its experimental volume control.",
                meaning:
                    "That sometimes crashes when a link breaks, and then all links of the device break. "
                    + "RoadMesh does not need -E. The command makes a drop-in for its unit and restarts it.",
                command: Self.dropIn(daemon))
        }
        if daemon.version == Self.filterCrashes {
            return Finding(
                .crashesOnFilters, .worthKnowing,
                "bluetoothd \(version) crashes when a program searches for a service.",
                meaning:
                    "RoadMesh searches without a filter. Another program with a filter ends bluetoothd, and every link of the "
                    + "device is lost (bluez/bluez#2282). Use another version of BlueZ. Available versions:",
                command: "apt-cache policy bluez")
        }
        let how = daemon.isExperimental ? " runs, with -E" : " runs"
        return Finding(.bluetoothd, .good, "bluetoothd \(version)\(how).")
    }

    /// The finding about whether bluetoothd reads the services of each device that links. A phone treats this as a
    /// request to pair.
    func discoveryFinding(_ radio: RadioFacts) -> Finding? {
        guard let daemon = radio.daemon, daemon.looksThroughDevices, radio.service == .answers else { return nil }
        return Finding(
            .looksThroughPhones, .worthKnowing, "bluetoothd reads the services of every device that links.",
            meaning:
                "A phone that joins this device may then ask its owner to pair, which is not needed. The command switches that "
                + "off in bluetoothd, and restarts it.",
            command: "sudo sed -i '/^\\[General\\]/a ReverseServiceDiscovery=false' \(daemon.configuration) && "
                + "sudo systemctl restart bluetooth")
    }

    private static func dropIn(_ daemon: DaemonFacts) -> String {
        let path = daemon.path ?? "/usr/libexec/bluetooth/bluetoothd"
        let folder = "/etc/systemd/system/bluetooth.service.d"
        return "sudo mkdir -p \(folder) && printf '[Service]\\nExecStart=\\nExecStart=\(path) -E --noplugin=vcp\\n' | "
            + "sudo tee \(folder)/roadmesh.conf && sudo systemctl daemon-reload && sudo systemctl restart bluetooth"
    }

    /// The finding about the rights of this user and this process; nil if the finding `slowTiming` reports the same.
    func permissionFinding(_ radio: RadioFacts, isSlow: Bool) -> Finding? {
        if case .denies(let cause) = radio.service {
            return Finding(
                .denied, .broken, "This user may not talk to bluetoothd (\(cause)).",
                meaning: "Some distributions allow only a group. After the command, log in again.",
                command: "sudo usermod -aG bluetooth $USER")
        }
        let lacks = Self.missing(radio.permissions)
        guard !lacks.isEmpty else {
            return Finding(
                .permissions, .good,
                "\(permissionsAre.rawValue.uppercasedFirst) may tune links (CAP_NET_ADMIN, CAP_NET_RAW).")
        }
        guard !isSlow else { return nil }
        return Finding(
            .noCapabilities, .worthKnowing,
            "\(permissionsAre.rawValue.uppercasedFirst) may not tune links: it lacks \(lacks).",
            meaning:
                "Everything works. Missing: the 2M PHY, long packets and shorter intervals during votes. The package gives its "
                + "service both capabilities on a device with Bluetooth; for this program:",
            command: Self.grant)
    }

    /// The capabilities that a process lacks, for a sentence.
    static func missing(_ permissions: RadioPermissions) -> String {
        [permissions.mayAdminister ? nil : "CAP_NET_ADMIN", permissions.mayCommand ? nil : "CAP_NET_RAW"]
            .compactMap(\.self).joined(separator: " and ")
    }

    /// Gives this program both capabilities.
    static let grant = "sudo setcap cap_net_admin,cap_net_raw+ep \"$(readlink -f \"$(command -v roadmesh)\")\""
}
