// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FieldTest
import FoundationEssentials
import MeshNode
import NodeCore
import NodeStore
import TerminalUI

/// `roadmesh fieldtest import`
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Add the track of a GPX file to a recorded drive.",
        discussion: """
            For a drive without gpsd: a phone or a navigation device in the same car records the track. Points are matched to the \
            drive by their times.
            """)

    @Argument(help: "A number or a name of the list, or last.", completion: .drives)
    var drive: String

    @Argument(help: "The GPX file.", completion: .file(extensions: ["gpx"]))
    var file: String

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Seconds to add to the times of the track, if a clock was wrong; may be negative.", valueName: "seconds"))
    var shift = 0.0

    @Flag(help: "Replace the track that the drive has.")
    var replace = false

    @OptionGroup var options: DriveOptions

    func validate() throws {
        guard abs(shift) <= 1e9 else { throw ValidationError("--shift is too large.") }
    }

    func run() async throws {
        let (store, stored, isLast) = try options.stored(drive)
        guard !(isLast && !stored.isEnded && store.isRecording) else {
            throw SetupProblem(.unavailable, "Drive \(stored.number) is being recorded; stop that first.")
        }
        // The collector knows a row by its number, so the rows of a drive that is being sent may not move.
        guard stored.sharing != .shared, stored.sharing != .arriving else {
            throw SetupProblem(
                .unavailable, "Drive \(stored.number) is being shared; import the track when all of it is collected.")
        }
        let points = try points()
        let added = try add(points, to: stored, in: store)
        StandardOutput.write(
            "Drive \(stored.number) has \(added == 1 ? "one position" : "\(added) positions") of the track now.")
    }

    private func add(
        _ points: [GPXReader.Point], to stored: StoredDrive, in store: DriveStore
    ) throws(SetupProblem) -> Int {
        do {
            let header = try Drive(lines: [stored.header]).header
            let track = try TrackImport(
                points, to: header, store.lines(of: stored.number), shift: shift, replaces: replace)
            try store.replaceLines(of: stored.number, by: track.lines)
            return track.count
        } catch let problem as TrackImport.Problem {
            throw SetupProblem(.data, problem.sentence(stored.number))
        } catch let error as NodeStoreError {
            throw SetupProblem(
                .cannotCreate,
                "The track cannot be saved (\(error.cause)); make room, and make the folder writable.")
        } catch {
            throw SetupProblem(.data, "Drive \(stored.number) cannot be read.")
        }
    }

    private func points() throws(SetupProblem) -> [GPXReader.Point] {
        do {
            guard let text = try readFile(file, atMost: FieldTestLimits.gpxBytes) else { throw GPXProblem.tooMany }
            return try GPXReader.points(in: text)
        } catch let problem as GPXProblem {
            throw SetupProblem(.data, "\(file) cannot be imported: \(problem.sentence)")
        } catch {
            throw SetupProblem(.data, "\(file) cannot be read; make sure that the file is there and readable.")
        }
    }
}

extension GPXProblem {
    fileprivate var sentence: String {
        switch self {
        case .noGPX: "it is not a GPX file."
        case .noPoints: "it has no track. Routes and waypoints have no times."
        case .noTimes: "the points of its track have no times. Export it again with times."
        case .tooMany: "it is larger than a day's track; split it."
        }
    }
}

extension TrackImport.Problem {
    fileprivate func sentence(_ drive: Int64) -> String {
        switch self {
        case .hasTrack: return "Drive \(drive) has a track already; --replace replaces it."
        case .tooLong: return "Drive \(drive) would be longer than a drive can be; shorten the track."
        case .otherTime(let drives, let track):
            let clock = LocalClock.device
            return "The track was recorded at another time: from \(clock.minuteAndZone(track.lowerBound)) to "
                + "\(clock.minuteAndZone(track.upperBound)). Drive \(drive) is from "
                + "\(clock.minuteAndZone(drives.lowerBound)) to \(clock.minuteAndZone(drives.upperBound)). If a clock was wrong, "
                + "give the difference with --shift."
        }
    }
}
