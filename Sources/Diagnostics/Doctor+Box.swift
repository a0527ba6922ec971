// SPDX-License-Identifier: Apache-2.0

import NodeStore

extension Finding {
    /// Of the kernel.
    public enum Kernel: String, Hashable, Sendable, CaseIterable {
        case kernel, kernelUnsound
    }

    /// Of the clock.
    public enum Clock: String, Hashable, Sendable, CaseIterable {
        case clock, clockWrong, clockAlone
    }

    /// Of the state folder.
    public enum State: String, Hashable, Sendable, CaseIterable {
        case state, stateReadOnly, stateForeign, stateUnwritable, identityDamaged, databaseDamaged, databaseNewer,
            databaseUnreadable
    }

    /// Of its disk.
    public enum Disk: String, Hashable, Sendable, CaseIterable {
        case disk, diskLow, diskFull
    }
}

extension Doctor {
    /// 2025-01-01: RoadMesh is younger, so a clock that says less was never set.
    private static let earliest = 1_735_689_600
    /// Room on a disk, in bytes, below which a node soon takes no more votes: the database with its log.
    private static let leastDisk = 8 << 20
    /// Room on a disk, in bytes, with which a node has all it wants for long: covers (64 MiB), the database with its log
    /// (some 20 MiB), and recordings.
    private static let comfortableDisk = 128 << 20

    /// Debian's kernels that can panic when a link or an adapter goes (`docs/bluez.md`), and the last one before them.
    private static let unsoundKernels = ["6.1.191", "6.1.192"]
    private static let soundKernel = "6.1.190"

    var kernelFindings: [Finding] {
        let words = box.kernel.split { $0 == " " || $0 == "-" }.map(String.init)
        guard let version = Self.unsoundKernels.first(where: { words.contains($0) }) else {
            return [Finding(.kernel(.kernel), .good, "The kernel is none of those that are known to panic.")]
        }
        return [
            Finding(
                .kernel(.kernelUnsound), .worthKnowing, "The kernel, Linux \(version), can panic when a link is lost.",
                meaning:
                    "Anybody in range can set that off, and the box restarts. Linux \(Self.soundKernel) has not got the "
                    + "fault. What is installed:",
                command: "dpkg --list 'linux-image-*'")
        ]
    }

    var clockFindings: [Finding] {
        guard box.clock.seconds >= Self.earliest else {
            return [
                Finding(
                    .clock(.clockWrong), .broken, "This box's clock was never set: it is before 2025.",
                    meaning:
                        "Sessions, recordings and what is kept bear a wrong time, and covers are refused, since no "
                        + "certificate is valid yet. With a network, sudo timedatectl set-ntp true sets it; without one:",
                    command: "sudo date -s 'YYYY-MM-DD HH:MM'")
            ]
        }
        guard box.clock.isKept != false else {
            return [
                Finding(
                    .clock(.clockAlone), .worthKnowing, "The clock is set, but no time server keeps it.",
                    meaning:
                        "It drifts by some seconds a day, so recordings of two boxes do not fit together exactly. Votes "
                        + "do not need it.",
                    command: "sudo timedatectl set-ntp true")
            ]
        }
        return [Finding(.clock(.clock), .good, "The clock is set\(box.clock.isKept == true ? " and kept" : "").")]
    }

    var stateFindings: [Finding] {
        let folder = box.folder
        if folder.refusal != nil { return [unwritable(folder)] }
        let files = [identityFinding(folder), databaseFinding(folder)].compactMap(\.self)
        guard files.isEmpty else { return files }
        let state =
            !folder.exists
            ? "will be made at the first start" : folder.isInUse ? "is in use by a running node" : "is sound"
        return [Finding(.state(.state), .good, "The state folder \(folder.path) \(state).")]
    }

    private func unwritable(_ folder: FolderCondition) -> Finding {
        let place = "The state folder \(folder.path)\(folder.exists ? "" : ", which is to be made,")"
        let elsewhere = "A node does not start with it. Where it has to stay so, name another folder with --state."
        if folder.isNoFolder {
            return Finding(
                .state(.stateUnwritable), .broken,
                folder.exists
                    ? "\(folder.path) is to be the state folder, and is no folder."
                    : "The state folder \(folder.path) cannot be made: something above it is no folder.",
                meaning: "A node does not start with it. Name another with --state, or move away what is in its place.")
        }
        if folder.isReadOnlyDisk {
            return Finding(
                .state(.stateReadOnly), .broken, "\(place) is on a disk that is mounted read-only.",
                meaning: elsewhere + " A card that has made itself read-only is worn out.",
                command: "sudo mount -o remount,rw \"$(findmnt -n -o TARGET -T \(Self.quoted(folder.path)))\"")
        }
        if folder.exists, folder.owner != box.user {
            return Finding(
                .state(.stateForeign), .broken, "\(place) belongs to another user (number \(folder.owner)).",
                meaning: elsewhere + " Most often a node was run once with sudo.",
                command: "sudo chown -R \"$USER\": \(Self.quoted(folder.path))")
        }
        return Finding(
            .state(.stateUnwritable), .broken, "\(place) cannot be written (\(folder.refusal ?? "")).",
            meaning: elsewhere,
            command: "sudo install -d -m 700 -o \"$USER\" \(Self.quoted(folder.path))")
    }

    private func identityFinding(_ folder: FolderCondition) -> Finding? {
        let file = folder.path + "/identity"
        switch folder.identity {
        case .isDamaged(let cause), .isUnreadable(let cause):
            return Finding(
                .state(.identityDamaged), .broken, "The identity in \(file) cannot be used (\(cause)).",
                meaning:
                    "A node does not start with it. Put a copy back; or move it away, and the node begins as somebody "
                    + "new, whom bonded and banned peers do not know.",
                command: "mv \(Self.quoted(file)) \(Self.quoted(file + ".damaged"))")
        case .isMissing, .isSound, .isNewer: return nil
        }
    }

    private func databaseFinding(_ folder: FolderCondition) -> Finding? {
        let file = folder.path + "/" + NodeStore.fileName
        let away = "The next start moves it away and begins anew: its queue, votes and peers are lost to it."
        switch folder.database {
        case .isMissing, .isSound: return nil
        case .isDamaged(let cause):
            return Finding(
                .state(.databaseDamaged), .broken, "The database \(file) is damaged (\(cause.prefix(120))).",
                meaning: away + " What can be saved of it, this saves:",
                command: "sqlite3 \(Self.quoted(file)) .recover | sqlite3 \(Self.quoted(file + ".saved"))")
        case .isNewer:
            return Finding(
                .state(.databaseNewer), .broken, "The database \(file) was made by a newer roadmesh.",
                meaning: away + " Use the newer program again, or another folder with --state.",
                command: "sudo apt-get install roadmesh")
        case .isUnreadable(let cause):
            return Finding(
                .state(.databaseUnreadable), .broken, "The database \(file) cannot be read (\(cause)).",
                meaning: "A node does not start with it.", command: "sudo chown \"$USER\": \(Self.quoted(file))")
        }
    }

    var diskFindings: [Finding] {
        guard let free = box.disk.free else { return [] }
        let room = "\(free >> 20) MiB are free for \(box.folder.path)"
        if free < Self.leastDisk {
            return [
                Finding(
                    .disk(.diskFull), .broken, "The disk is full: \(room).",
                    meaning: "A node takes no vote that it cannot keep. Delete something; what takes the room:",
                    command: "sudo du -xh / | sort -h | tail -n 20")
            ]
        }
        guard free < Self.comfortableDisk else { return [Finding(.disk(.disk), .good, "\(room).")] }
        return [
            Finding(
                .disk(.diskLow), .worthKnowing, "The disk is nearly full: \(room).",
                meaning: "Covers and recordings take up to some 100 MiB. What takes the room:",
                command: "sudo du -xh / | sort -h | tail -n 20")
        ]
    }

    /// A path as a shell takes it for one word.
    private static func quoted(_ path: String) -> String {
        path.allSatisfy { $0.isLetter || $0.isNumber || "/._-".contains($0) }
            ? path : "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
