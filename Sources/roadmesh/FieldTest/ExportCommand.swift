// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FieldTest
import MeshNode

/// `roadmesh fieldtest export`
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write a recorded drive to a file, or the tracks of drives for other programs."
    )

    /// What the file contains.
    enum Form: String, ExpressibleByArgument, CaseIterable {
        case recording, geojson, gpx
    }

    @Argument(help: "Numbers or names of the list, last, or files of exported drives.", completion: .drives)
    var drives: [String]

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file; - is standard output.", valueName: "file"),
        completion: .file())
    var output: String

    @Option(
        help: ArgumentHelp(
            "The form: the recording with all of its rows, or its track, gaps, dead zones and marks for maps.",
            valueName: "recording|geojson|gpx"))
    var form: Form = .recording

    @OptionGroup var sharing: SharingOption
    @OptionGroup var options: DriveOptions

    func run() async throws {
        guard !drives.isEmpty, drives.count <= (form == .recording ? 1 : FieldTestLimits.comparedDrives) else {
            throw SetupProblem(
                .usage,
                "Name one drive, or 1 to \(FieldTestLimits.comparedDrives) with --form geojson or --form gpx.")
        }
        let drives = try options.drives(drives).map(sharing.shown)
        if form == .recording { return try writeFile(drives.map(\.file).joined(), output) }
        let report = Report(drives)
        guard report.hasTrack else {
            throw SetupProblem(
                .data,
                "There is no position to export: gpsd did not run, or all of it is near the ends of the drive. Add a track with "
                    + "roadmesh fieldtest import.")
        }
        try writeFile(form == .gpx ? report.gpx : report.geoJSON, output)
    }
}
