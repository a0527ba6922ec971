// SPDX-License-Identifier: Apache-2.0

import BLETransport

extension Finding {
    /// Of bluetoothd.
    public enum Bluetoothd: String, Hashable, Sendable, CaseIterable {
        case bluetoothd, noMessageBus, serviceNotRunning, serviceFails, notExperimental, volumePlugin
    }

    /// Of what this process may do.
    public enum Permissions: String, Hashable, Sendable, CaseIterable {
        case permissions, notListed, denied, noCapabilities
    }
}

extension Doctor {
    /// Before this version intervals of advertisements count only where experimental interfaces are on.
    private static let intervalsAreStable = DaemonVersion(5, 77)
    /// Its experimental volume control crashes when a link breaks while it is looked through (`docs/bluez.md`).
    private static let volumePluginCrashes = DaemonVersion(5, 66)
    private static let volumePlugin = "vcp"

    /// bluetoothd: whether it runs, and how.
    func serviceFindings(_ radio: RadioFacts) -> [Finding] {
        switch radio.service {
        case .answers, .denies: return [running(radio.daemon)]
        case .isMissing:
            return [
                Finding(
                    .bluetoothd(.serviceNotRunning), .broken, "bluetoothd is not running.",
                    meaning: "Nothing is advertised or heard without it.",
                    command: "sudo systemctl enable --now bluetooth")
            ]
        case .hasNoBus(let cause):
            return [
                Finding(
                    .bluetoothd(.noMessageBus), .broken, "The system's message bus cannot be reached (\(cause)).",
                    meaning: "bluetoothd is spoken to over it. In a container, /run/dbus has to be passed on.",
                    command: "sudo systemctl start dbus")
            ]
        case .fails(let cause):
            return [
                Finding(
                    .bluetoothd(.serviceFails), .broken, "bluetoothd does not answer as it should (\(cause)).",
                    meaning: "Nothing is advertised or heard without it.", command: "sudo systemctl restart bluetooth")
            ]
        }
    }

    private func running(_ daemon: DaemonFacts?) -> Finding {
        guard let daemon else {
            return Finding(
                .bluetoothd(.bluetoothd), .good, "bluetoothd answers; its process is not to be seen from here.")
        }
        let version = daemon.version.map(\.description) ?? "of an unknown version"
        if !daemon.isExperimental, daemon.version.map({ $0 < Self.intervalsAreStable }) ?? true {
            return Finding(
                .bluetoothd(.notExperimental), .worthKnowing, "bluetoothd \(version) runs without -E.",
                meaning:
                    "Before 5.77 it then advertises every 1.28 s, whatever it is asked for: a host is found late, and "
                    + "guests come back late from a tunnel. Guests' boxes do not need it. The command makes a drop-in for "
                    + "its unit and restarts it, which ends the links there are.",
                command: Self.dropIn(daemon))
        }
        if daemon.isExperimental, daemon.version == Self.volumePluginCrashes,
            !daemon.leavesOut.contains(Self.volumePlugin)
        {
            return Finding(
                .bluetoothd(.volumePlugin), .worthKnowing,
                "bluetoothd \(version) runs with -E and its experimental volume control.",
                meaning:
                    "That crashes now and then when a link breaks, and every link of the box is lost for a moment. "
                    + "Without that plugin it does not. The command makes a drop-in for its unit and restarts it.",
                command: Self.dropIn(daemon))
        }
        let how = daemon.isExperimental ? " runs, with -E" : " runs"
        return Finding(.bluetoothd(.bluetoothd), .good, "bluetoothd \(version)\(how).")
    }

    private static func dropIn(_ daemon: DaemonFacts) -> String {
        let path = daemon.path ?? "/usr/libexec/bluetooth/bluetoothd"
        let folder = "/etc/systemd/system/bluetooth.service.d"
        return "sudo mkdir -p \(folder) && printf '[Service]\\nExecStart=\\nExecStart=\(path) -E --noplugin=vcp\\n' | "
            + "sudo tee \(folder)/roadmesh.conf && sudo systemctl daemon-reload && sudo systemctl restart bluetooth"
    }

    /// What this user and this process may do.
    func permissionFindings(_ radio: RadioFacts) -> [Finding] {
        if case .denies(let cause) = radio.service {
            return [
                Finding(
                    .permissions(.denied), .broken, "This user may not talk to bluetoothd (\(cause)).",
                    meaning: "Some distributions let a group alone. After the command, log in again.",
                    command: "sudo usermod -aG bluetooth $USER")
            ]
        }
        let lacks = [
            radio.permissions.mayAdminister ? nil : "CAP_NET_ADMIN", radio.permissions.mayCommand ? nil : "CAP_NET_RAW",
        ].compactMap(\.self)
        guard !lacks.isEmpty else {
            return [
                Finding(.permissions(.permissions), .good, "This process may tune links (CAP_NET_ADMIN, CAP_NET_RAW).")
            ]
        }
        return [
            Finding(
                .permissions(.noCapabilities), .worthKnowing,
                "This process may not tune links: it lacks \(lacks.joined(separator: " and ")).",
                meaning:
                    "Everything works. What is missed: the 2M PHY and long packets are not asked for, and links keep the "
                    + "kernel's connection interval (30 to 50 ms) and supervision timeout (420 ms), so guests come back "
                    + "somewhat later and short fades end links. As a service it has them; for this program:",
                command: "sudo setcap cap_net_admin,cap_net_raw+ep \"$(readlink -f \"$(command -v roadmesh)\")\"")
        ]
    }
}
