// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FieldTest
import FoundationEssentials
import MeshNode
import NodeStore
import TerminalUI

/// `roadmesh fieldtest list`
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the drives that were recorded here.")

    @Flag(help: "One JSON object a drive.")
    var json = false

    @OptionGroup var options: DriveOptions

    /// A drive in the list.
    private struct Entry: Encodable {
        var drive: Int64
        var name: String
        var role: String
        var began: Double
        var seconds: Double
        var ending: Drive.Ending
    }

    func run() async throws {
        let (store, drives) = try options.list()
        let isRecording = store?.isRecording ?? false
        for stored in drives {
            let lines = [stored.header] + (stored.lastLine.map { [$0] } ?? [])
            guard let drive = try? Drive(lines: lines) else { continue }
            let isUnderWay = isRecording && !stored.isEnded && stored.number == drives.last?.number
            let ending: Drive.Ending = stored.isEnded ? .complete : isUnderWay ? .underWay : .cutOff
            show(
                Entry(
                    drive: stored.number, name: drive.header.name, role: drive.header.role.rawValue,
                    began: drive.header.began, seconds: drive.seconds, ending: ending))
        }
        if drives.isEmpty, !json {
            StandardOutput.write("No drive has been recorded here. Begin with: roadmesh fieldtest record guest Ana")
        }
    }

    private func show(_ entry: Entry) {
        if json { return StandardOutput.write(JSONLine.text(entry)) }
        let began = Words.minute(entry.began)
        let ending =
            switch entry.ending {
            case .complete: ""
            case .cutOff: "; cut off"
            case .underWay: "; being recorded"
            }
        StandardOutput.write(
            "\(entry.drive)  \(entry.name)  (\(entry.role), \(began) UTC, \(Words.time(entry.seconds))\(ending))")
    }
}

/// `roadmesh fieldtest export`
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write a recorded drive to a file, to ship or keep it.")

    @Argument(help: "The number of a drive in the list, or last.")
    var drive: String

    @Option(name: .shortAndLong, help: ArgumentHelp("The file; - is standard output.", valueName: "file"))
    var output: String

    @OptionGroup var options: DriveOptions

    func run() async throws { try writeFile(try options.drive(drive).file, output) }
}

/// `roadmesh fieldtest forget`
struct ForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Delete a recorded drive.")

    @Argument(help: "The number of a drive in the list, or last.")
    var drive: String

    @OptionGroup var options: DriveOptions

    func run() async throws {
        let (store, found, isLast) = try options.stored(drive)
        guard !(isLast && !found.isEnded && store.isRecording) else {
            throw SetupProblem(.usage, "Drive \(found.number) is being recorded; stop that first.")
        }
        try options.remove(found, from: store)
    }
}
