// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DemocracyDJ
import FoundationEssentials
import MeshNode

/// `roadmesh host NAME`
struct HostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "host", abstract: "Run the head-unit host: guests find it and vote.")

    @Argument(help: "What guests see, for example \"Dad's Car\".")
    var name: String

    @Option(help: ArgumentHelp("A JSON list of songs.", valueName: "path"))
    var library: String?

    @OptionGroup var fairness: FairnessOptions
    @OptionGroup var options: NodeOptions

    func run() async throws {
        let name = try checkedName(name)
        let songs = try library.map { try SongListFile.load($0) } ?? DemoSongs.songs
        let session = CommandSession(options: options, parts: try options.node(.host, name: name))
        let part = DJNode.Part.host(
            Hosting(
                SongLibrary(songs), try fairness.policies,
                wallClockSeconds: UInt32(clamping: Int(Date().timeIntervalSince1970))))
        try await session.run(part, library: songs, endOfInput: nil)
    }
}

/// How a host weighs its guests' wishes.
struct FairnessOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Suggestions of one guest that may wait at a time; 0 for any number.", valueName: "n"))
    var openSuggestions = DJLimits.openSuggestions

    @Option(
        help: ArgumentHelp(
            "Songs of one guest in a row while another guest's song waits; 0 for any number.", valueName: "n"))
    var songsInARow = DJLimits.songsInARow

    @Flag(help: "More than half of the guests that are present can skip a song.")
    var majoritySkip = false

    /// The policies that are on.
    var policies: Fairness {
        get throws(SetupProblem) {
            guard openSuggestions >= 0, songsInARow >= 0 else {
                throw SetupProblem(.usage, "A number of songs is 0 or more; 0 means that any number is fine.")
            }
            return Fairness(
                openSuggestions: openSuggestions == 0 ? nil : openSuggestions,
                songsInARow: songsInARow == 0 ? nil : songsInARow, majoritySkip: majoritySkip)
        }
    }
}
