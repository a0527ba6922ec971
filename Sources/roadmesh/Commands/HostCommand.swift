// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AsyncAlgorithms
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

    @OptionGroup var options: NodeOptions

    func run() async throws {
        let name = try checkedName(name)
        let songs = try library.map { try SongListFile.load($0) } ?? DemoSongs.songs
        let node = try options.node(.host, name: name)
        let host = HostNode(
            description: node.description, client: node.client, songs: songs,
            epoch: UInt32(clamping: Int(Date().timeIntervalSince1970)))
        let session = CommandSession(options: options, node: node)
        try await session.run(
            output: host.output, endOfInput: nil, terminated: HostInput.quit(.terminated),
            parse: HostInput.init(line:)
        ) { try await host.run(inputs: $0) }
    }
}
