// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FieldTest
import FoundationEssentials
import Glibc
import MeshNode
import NodeCore
import NodeStore
import TerminalUI

/// `roadmesh fieldtest list`
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the drives that were recorded here.")

    @Flag(help: "One JSON object per drive.")
    var json = false

    @OptionGroup var options: DriveOptions

    func run() async throws {
        let (store, drives) = try options.list()
        let isRecording = store?.isRecording ?? false
        let entries = try drives.compactMap { stored -> ListedDrive? in
            let isLast = stored.number == drives.last?.number
            var entry = ListedDrive(stored, isUnderWay: stored.sharing == .arriving || isRecording && isLast)
            entry?.packets = try options.packets(of: stored.number).files.count
            return entry
        }
        let isFleet = Set(entries.map(\.node)).count > 1
        for entry in entries {
            StandardOutput.write(json ? JSONLine.text(entry) : "\(entry.drive)  \(entry.sentence(isFleet: isFleet))")
        }
        if drives.isEmpty, !json {
            StandardOutput.write("No drive has been recorded here. Begin with: roadmesh fieldtest record guest Ana")
        }
    }
}

/// A drive in the list, in the form of `docs/fieldtest.md`.
struct ListedDrive: Encodable {
    var drive: Int64
    var name: String
    var role: String
    var began: Double
    var seconds: Double
    var ending: Drive.Ending
    var car: String
    var version: String
    /// The node's identifier.
    var node: String
    /// The drive comes from another node and is not complete yet.
    var isArriving: Bool
    /// Number of files of packets.
    var packets = 0

    private enum CodingKeys: String, CodingKey {
        case drive, name, role, began, seconds, ending, car, node, version, packets
    }

    /// Nil for an invalid header. `isUnderWay` means that it is being recorded, unless it has its end.
    init?(_ stored: StoredDrive, isUnderWay: Bool) {
        let lines = [stored.header] + (stored.lastLine.map { [$0] } ?? [])
        guard let drive = try? Drive(lines: lines) else { return nil }
        self.drive = stored.number
        name = drive.header.name
        role = drive.header.role.rawValue
        began = drive.header.began
        (car, node, version) = (drive.header.peer.name, drive.header.peer.id, drive.header.version)
        isArriving = stored.sharing == .arriving && !stored.isEnded
        seconds = drive.seconds
        ending = stored.isEnded ? .complete : isUnderWay ? .underWay : .cutOff
    }

    /// `isFleet` means that the drives come from several nodes.
    func sentence(isFleet: Bool) -> String {
        let end =
            switch ending {
            case .complete: ""
            case .cutOff: "; cut off"
            case .underWay: isArriving ? "; not all of it is here yet" : "; being recorded"
            }
        let files = packets == 0 ? "" : packets == 1 ? "; 1 file of packets" : "; \(packets) files of packets"
        return
            "\(name)  (\(isFleet ? "\(car), " : "")\(role), \(LocalClock.device.minuteAndZone(began)), \(Format.time(seconds))\(end)\(files))"
    }
}

/// `roadmesh fieldtest forget`
struct ForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Delete a recorded drive.", discussion: "It asks first.")

    @Argument(help: "A number or a name of the list, or last.", completion: .drives)
    var drive: String

    @Flag(help: "Delete it without asking.")
    var yes = false

    @OptionGroup var options: DriveOptions

    func run() async throws {
        let (store, found, isLast) = try options.stored(drive)
        guard !(isLast && !found.isEnded && store.isRecording) else {
            throw SetupProblem(.unavailable, "Drive \(found.number) is being recorded; stop that first.")
        }
        guard !(found.sharing == .arriving && !found.isEnded && store.isRecording) else {
            throw SetupProblem(.unavailable, "Drive \(found.number) is being collected; stop that first.")
        }
        guard try yes || isMeant(found) else { return StandardOutput.write("Kept.") }
        try options.remove(found, from: store)
        if !yes { StandardOutput.write("Deleted.") }
    }

    /// Asks the person at the terminal whether to delete this drive.
    private func isMeant(_ stored: StoredDrive) throws(SetupProblem) -> Bool {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else {
            throw SetupProblem(
                .usage, "Drive \(stored.number) is deleted at a terminal, after a question, or with --yes without one.")
        }
        let entry = ListedDrive(stored, isUnderWay: false)
        StandardOutput.write("Delete drive \(stored.number)?\(entry.map { "  \($0.sentence(isFleet: false))" } ?? "")")
        StandardOutput.write(unfinished: "Type yes or no: ")
        return ["y", "yes"].contains((readLine() ?? "").lowercased())
    }
}
