// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FieldTest
import FoundationEssentials
import Glibc
import MeshNode
import NodeStore
import TerminalUI

/// The source of drives: a state folder, by number, or files.
struct DriveOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The state folder that drives are recorded in; without it, roadmesh in $XDG_STATE_HOME, or "
                + "~/.local/state/roadmesh.", valueName: "dir"),
        completion: .directory)
    var state: String?

    func validate() throws { try refuseEmpty([("--state <dir>", state)]) }

    /// The recorded drives of the folder. Nil if it contains no drives.
    func store() throws(SetupProblem) -> DriveStore? {
        let folder = try NodeOptions.statePath(state)
        do {
            return try DriveStore.read(in: folder)
        } catch {
            throw Self.unreadable("The recorded drives in \(folder)", error.cause)
        }
    }

    /// All drives of the folder.
    func list() throws(SetupProblem) -> (store: DriveStore?, drives: [StoredDrive]) {
        let store = try store()
        do {
            return (store, try store?.drives() ?? [])
        } catch {
            throw Self.unreadable("The recorded drives", error.cause)
        }
    }

    /// The named drives: numbers or names of the folder's list, `last`, or files.
    func drives(_ names: [String]) throws(SetupProblem) -> [Drive] {
        var drives: [Drive] = []
        for name in names { drives.append(try drive(name)) }
        return drives
    }

    /// A named drive.
    func drive(_ name: String) throws(SetupProblem) -> Drive {
        // A number or "last" always refers to the list, even if a file has that name. `forget` treats it the same way.
        let isOfList = name == "last" || Int64(name) != nil
        if !isOfList, NodeOptions.isThere(name), !NodeOptions.isFolder(name) { return try file(name) }
        guard let stored = try listed(name) else {
            // A mistyped path is more likely than a name, so report why the file cannot be read.
            if name.contains(where: { $0 == "/" || $0 == "." }) { return try file(name) }
            throw Self.nothing(name)
        }
        let packets = try packets(of: stored.drive.number)
        do {
            var drive = try Drive(
                lines: [stored.drive.header] + stored.store.lines(of: stored.drive.number),
                isUnderWay: !stored.drive.isEnded
                    && (stored.drive.sharing == .arriving || stored.isLast && stored.store.isRecording))
            drive.packets = packets.files
            return drive
        } catch {
            throw Self.unreadable("Drive \(name)", "\(error)")
        }
    }

    /// A drive of the folder's list.
    func stored(
        _ name: String
    ) throws(SetupProblem) -> (store: DriveStore, drive: StoredDrive, isLast: Bool) {
        guard let stored = try listed(name) else { throw Self.nothing(name) }
        return stored
    }

    /// A drive of the folder's list. Nil if none has this name.
    private func listed(
        _ name: String
    ) throws(SetupProblem) -> (store: DriveStore, drive: StoredDrive, isLast: Bool)? {
        let (store, all) = try list()
        let found = Self.meant(name, among: all)
        guard let store, let drive = found.first else { return nil }
        guard found.count == 1 else {
            let numbers = found.map { String($0.number) }.joined(separator: ", ")
            throw SetupProblem(
                .data, "\"\(name.prefix(40))\" may be drive \(numbers); use the number of the one you mean.")
        }
        return (store, drive, drive.number == all.last?.number)
    }

    private static func nothing(_ name: String) -> SetupProblem {
        SetupProblem(.data, "There is no drive \"\(name.prefix(40))\"; roadmesh fieldtest list shows all drives.")
    }

    /// The drives that a name may mean: by number, by name, or by the beginning of a name.
    private static func meant(_ name: String, among all: [StoredDrive]) -> [StoredDrive] {
        if name == "last" { return all.suffix(1) }
        if let numbered = all.first(where: { String($0.number) == name }) { return [numbered] }
        let wanted = name.lowercased()
        let named = all.compactMap { drive in
            (try? Drive(lines: [drive.header]).header.name.lowercased()).map { (drive: drive, name: $0) }
        }
        let whole = named.filter { $0.name == wanted }
        return (whole.isEmpty ? named.filter { !wanted.isEmpty && $0.name.hasPrefix(wanted) } : whole).map(\.drive)
    }

    private func file(_ name: String) throws(SetupProblem) -> Drive {
        do {
            guard let text = try readFile(name, atMost: FieldTestLimits.driveBytes) else { throw DriveProblem.tooLarge }
            return try Drive(file: text)
        } catch let problem as DriveProblem {
            throw SetupProblem(.data, "\(name) cannot be read: \(problem.sentence)")
        } catch {
            throw SetupProblem(.data, "\(name) cannot be read; make sure that the file is there and readable.")
        }
    }

    /// The files of packets of a drive of the folder's list.
    func packets(of drive: Int64) throws(SetupProblem) -> PacketFolder {
        PacketFolder(stateFolder: try NodeOptions.statePath(state), drive: drive)
    }

    /// Deletes a drive of the folder's list, and its files of packets.
    func remove(_ drive: StoredDrive, from store: DriveStore) throws(SetupProblem) {
        let packets = try packets(of: drive.number)
        do {
            _ = try store.remove(drive.number)
            packets.remove()
        } catch {
            throw SetupProblem(
                .cannotCreate,
                "Drive \(drive.number) cannot be deleted (\(Self.words(error.cause))); make its folder writable, and wait "
                    + "for whatever else has it open.")
        }
    }

    private static func unreadable(_ what: String, _ cause: String) -> SetupProblem {
        SetupProblem(
            .data,
            "\(what) cannot be read (\(words(cause))); check the folder and its disk, or name another with --state.")
    }

    /// The part of the cause that helps a person, without the SQL statement.
    private static func words(_ cause: String) -> String {
        cause.split(separator: " - while executing", maxSplits: 1).first.map(String.init) ?? cause
    }
}

/// The option of commands that write files for other people.
struct SharingOption: ParsableArguments {
    @Flag(
        help: """
            Leave out the first and last 200 m of the track, because people live and work there, and the links to files of \
            packets.
            """)
    var share = false

    /// The drive as it may be shown.
    func shown(_ drive: Drive) -> Drive {
        guard share else { return drive }
        var shared = drive.withoutTrackEnds
        shared.packets = []
        return shared
    }
}

extension DriveProblem {
    var sentence: String {
        switch self {
        case .noHeader: "it is not a drive; its first line must be the header that fieldtest export writes."
        case .newerForm(let form): "it has format \(form), and this roadmesh knows formats up to 1; use a newer one."
        case .tooLarge: "it is larger than a drive can be."
        }
    }
}

/// Reads a text file. Nil if it has more bytes than `limit`.
func readFile(_ name: String, atMost limit: Int) throws -> String? {
    let path = NodeOptions.absolute(name)
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? UInt64 ?? 0
    guard size <= UInt64(limit) else { return nil }
    return String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
}

/// Writes to a file, or to standard output for "-".
func writeFile(_ text: String, _ name: String) throws(SetupProblem) {
    if name == "-" {
        guard StandardOutput.deliver(text) else {
            throw SetupProblem(
                .cannotCreate, "Standard output did not accept all of it; free space at its destination.")
        }
        return
    }
    let path = NodeOptions.absolute(name)
    var status = stat()
    let isPlain = lstat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    // Write to a device, a pipe or a link directly. An atomic write would replace it with a file.
    let isWritten = isPlain ? isReplaced(path, by: text) : isOverwritten(path, by: text)
    guard isWritten else {
        throw SetupProblem(.cannotCreate, "Cannot write \(name); name a file in a folder that can be written.")
    }
}

private func isReplaced(_ path: String, by text: String) -> Bool {
    (try? Data(text.utf8).write(to: URL(filePath: path), options: .atomic)) != nil
}

private func isOverwritten(_ path: String, by text: String) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { return false }
    let isWhole = writeAll(text, to: descriptor)
    return close(descriptor) == 0 && isWhole
}
