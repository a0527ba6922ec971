// SPDX-License-Identifier: Apache-2.0

import NodeCore
import NodeStore

extension Doctor {
    /// 2025-01-01. RoadMesh is younger, so a clock with an earlier time was never set.
    private static let earliest = 1_735_689_600
    /// Free disk space, in bytes, below which a node soon cannot accept votes, because the database and its log need
    /// it.
    private static let leastDisk = 8 << 20
    /// Free disk space, in bytes, that is enough for a long time: covers (64 MiB), the database with its log (some 20
    /// MiB), and recordings.
    private static let comfortableDisk = 128 << 20

    /// Debian's kernels that can panic when a link or an adapter disappears (`docs/bluez.md`), and the last version
    /// without the fault.
    private static let unsoundKernels = ["6.1.191", "6.1.192"]
    private static let soundKernel = "6.1.190"

    var powerFinding: Finding? {
        guard let isWeak = device.isSupplyWeak else { return nil }
        guard isWeak else { return Finding(.power, .good, "The power supply is strong enough at the moment.") }
        return Finding(
            .powerLow, .worthKnowing, "The power supply is too weak for this Raspberry Pi.",
            meaning:
                "The board then runs slower, and USB dongles and sticks may fail or disappear. Use a power supply or a "
                + "car charger with the current that the board needs, and a short, thick cable. The kernel's log has "
                + "earlier alarms:",
            command: "sudo dmesg | grep -i voltage")
    }

    var kernelFinding: Finding {
        let words = device.kernel.split { $0 == " " || $0 == "-" }.map(String.init)
        guard let version = Self.unsoundKernels.first(where: { words.contains($0) }) else {
            return Finding(.kernel, .good, "This kernel is not known to panic.")
        }
        return Finding(
            .kernelUnsound, .worthKnowing, "The kernel, Linux \(version), can panic when a link is lost.",
            meaning:
                "Any device in range can cause that; this device then hangs or restarts. Linux "
                + "\(Self.soundKernel) does not have the fault. Installed kernels:",
            command: "dpkg --list 'linux-image-*'")
    }

    var clockFinding: Finding {
        guard device.clock.seconds >= Self.earliest else {
            return Finding(
                .clockWrong, .broken, "This device's clock was never set: it is before 2025.",
                meaning: "Sessions, recordings and stored data get a wrong time, and covers are not loaded, since no "
                    + "certificate is valid yet. With a network, sudo timedatectl set-ntp true sets it; without one:",
                command: "sudo date -s 'YYYY-MM-DD HH:MM'")
        }
        guard device.clock.isKept != false else {
            return Finding(
                .clockAlone, .worthKnowing, "The clock is set, but no time server corrects it.",
                meaning:
                    "It drifts by some seconds a day, so recordings of two devices do not match exactly. Votes "
                    + "do not need it.",
                command: "sudo timedatectl set-ntp true")
        }
        return Finding(.clock, .good, "The clock is set\(device.clock.isKept == true ? " and kept" : "").")
    }

    var stateFindings: [Finding] {
        let folder = device.folder
        if folder.refusal != nil { return [unwritable(folder)] }
        let files = [identityFinding(folder), databaseFinding(folder)].compactMap(\.self)
        guard files.isEmpty else { return files }
        let state =
            !folder.exists
            ? "will be made at the first start" : folder.isInUse ? "is in use by a running node" : "is in order"
        return [Finding(.state, .good, "The state folder \(folder.path) \(state).")]
    }

    private func unwritable(_ folder: FolderCondition) -> Finding {
        let place = "The state folder \(folder.path)\(folder.exists ? "" : ", which will be made,")"
        let elsewhere = "A node does not start with it. If it must stay so, name another folder with --state."
        if folder.isNoFolder {
            return Finding(
                .stateUnwritable, .broken,
                folder.exists
                    ? "\(folder.path) should be the state folder, but is not a folder."
                    : "The state folder \(folder.path) cannot be made: something above it is not a folder.",
                meaning: "A node does not start with it. Name another with --state, or move away the file in its place."
            )
        }
        if folder.isReadOnlyDisk {
            return Finding(
                .stateReadOnly, .broken, "\(place) is on a disk that is read-only.",
                meaning: elsewhere + " A card that has made itself read-only is worn out.",
                command: "sudo mount -o remount,rw \"$(findmnt -n -o TARGET -T \(Self.quoted(folder.path)))\"")
        }
        if folder.exists, folder.owner != device.user {
            return Finding(
                .stateForeign, .broken, "\(place) belongs to another user (number \(folder.owner)).",
                meaning: elsewhere + " Usually a node was run once with sudo.",
                command: "sudo chown -R \"$USER\": \(Self.quoted(folder.path))")
        }
        return Finding(
            .stateUnwritable, .broken, "\(place) cannot be written (\(folder.refusal ?? "")).",
            meaning: elsewhere,
            command: "sudo install -d -m 700 -o \"$USER\" \(Self.quoted(folder.path))")
    }

    private func identityFinding(_ folder: FolderCondition) -> Finding? {
        let file = folder.path + "/identity"
        switch folder.identity {
        case .isDamaged(let cause), .isUnreadable(let cause):
            return Finding(
                .identityDamaged, .broken, "The identity in \(file) cannot be used (\(cause)).",
                meaning:
                    "A node does not start with it. Restore a copy; or move it away, and the node starts with a new identity, "
                    + "which bonded peers do not know.",
                command: "mv \(Self.quoted(file)) \(Self.quoted(file + ".damaged"))")
        case .isSound where folder.isReadableByOthers:
            return Finding(
                .identityReadable, .worthKnowing, "Other users of this device may read the identity in \(file).",
                meaning: "Anyone with a copy can impersonate this node. The next start protects it. If someone may "
                    + "have copied it, move it away, and the node starts with a new identity.",
                command: "chmod 600 \(Self.quoted(file))")
        case .isMissing, .isSound, .isNewer: return nil
        }
    }

    private func databaseFinding(_ folder: FolderCondition) -> Finding? {
        let file = folder.path + "/" + NodeStore.fileName
        let away =
            "The next start moves it away and starts with an empty one, without its queue, votes and peers."
        switch folder.database {
        case .isMissing, .isSound: return nil
        case .isDamaged(let cause):
            return Finding(
                .databaseDamaged, .broken, "The database \(file) is damaged (\(cause.prefix(120))).",
                meaning: away + " To save its readable part:",
                command: "sqlite3 \(Self.quoted(file)) .recover | sqlite3 \(Self.quoted(file + ".saved"))")
        case .isNewer:
            return Finding(
                .databaseNewer, .broken, "The database \(file) was made by a newer roadmesh.",
                meaning:
                    "A node does not start with it, and does not change it. Install the newer version, or name "
                    + "another folder with --state.",
                command: "sudo apt-get install roadmesh")
        case .isUnreadable(let cause):
            return Finding(
                .databaseUnreadable, .broken, "The database \(file) cannot be read (\(cause)).",
                meaning: "A node does not start with it.", command: "sudo chown \"$USER\": \(Self.quoted(file))")
        }
    }

    var diskFinding: Finding? {
        guard let free = device.freeBytes else { return nil }
        let room = "\(free >> 20) MiB are free for \(device.folder.path)"
        if free < Self.leastDisk {
            return Finding(
                .diskFull, .broken, "The disk is full: \(room).",
                meaning: "A node accepts no vote that it cannot store. Delete something. What uses the space:",
                command: "sudo du -xh / | sort -h | tail -n 20")
        }
        if device.folder.isFullDisk {
            return Finding(
                .diskFull, .broken, "The disk accepts no writes, although \(room).",
                meaning: "A node accepts no vote that it cannot store. The user's quota may be used up, or "
                    + "the disk's number of files:",
                command: "df -i \(Self.quoted(device.folder.path))")
        }
        guard free < Self.comfortableDisk else { return Finding(.disk, .good, "\(room).") }
        return Finding(
            .diskLow, .worthKnowing, "The disk is nearly full: \(room).",
            meaning: "Covers and recordings need up to some 100 MiB. What uses the space:",
            command: "sudo du -xh / | sort -h | tail -n 20")
    }

    var networkFinding: Finding {
        guard device.avahi != .runs else {
            return Finding(.network, .good, "avahi-daemon runs, so that guests find a host in its network as well.")
        }
        let isMissing = device.avahi == .isMissing
        return Finding(
            .noAvahi, .worthKnowing, "avahi-daemon \(isMissing ? "is not installed" : "is not running").",
            meaning:
                "Hosts and guests find each other by Bluetooth alone, even in the same network. If that is "
                + "what you want, do nothing.",
            command: isMissing
                ? "sudo apt-get install avahi-daemon" : "sudo systemctl enable --now avahi-daemon")
    }

    /// A path as one word for a shell.
    static func quoted(_ path: String) -> String {
        path.allSatisfy { $0.isLetter || $0.isNumber || "/._-".contains($0) }
            ? path : "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
