// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BLETransport
import CoverArt
import FoundationEssentials
import Glibc
import Logging
import MeshNode
import MeshProtocol
import NodeStore
import TerminalUI

extension RadioChoice: ExpressibleByArgument {}

/// The options that every command has.
struct NodeOptions: ParsableArguments {
    @Option(help: "The radio: auto takes BlueZ where there is an adapter, else virtual.")
    var radio: RadioChoice = .auto

    @Option(help: ArgumentHelp("Which adapter, for example hci0.", valueName: "hci0"))
    var adapter: String?

    @Option(help: ArgumentHelp("The virtual radio's shared folder.", valueName: "dir"))
    var air: String?

    @Option(
        help: ArgumentHelp(
            "Where this node keeps its identity, queue and votes; ~/.local/state/roadmesh.", valueName: "dir"))
    var state: String?

    @Option(help: ArgumentHelp("The service type: nodes of one service find one another.", valueName: "name"))
    var service = ServiceType.democracyDJ.text

    @Flag(help: "One JSON object a line on standard output, commands a line each on standard input.")
    var json = false

    @Flag(help: "Say more about the radio on standard error.")
    var verbose = false

    /// A node's parts, made and checked.
    struct Node {
        var description: NodeDescription
        var identity: Identity
        var radio: any Radio
        var logger: Logger
        /// What outlives this run, locked as long as the node runs. A scan has none: it is nobody.
        var kept: Kept?
        var remark: String?
        /// What of the log is to be shown above the prompt of a terminal; nil where there is no prompt.
        var logLines: AsyncStream<String>?

        mutating func add(remark another: String) {
            remark = remark.map { $0 + "\n" + another } ?? another
        }

        /// The way to hear hosts, for a scan.
        var manager: BLEManager {
            BLEManager(radio: radio, local: description.peer, service: description.service, logger: logger)
        }

        /// The node itself, going on where its last run ended.
        func makeNode(_ part: NodeCore.Part) throws(SetupProblem) -> MeshNode.Node {
            guard let kept else { preconditionFailure("a scan is no node") }
            var artwork: ArtworkPrefetcher?
            if case .host = part {
                artwork = ArtworkPrefetcher(
                    loader: ArtworkLoader(
                        cache: kept.artworkFolder, userAgent: "RoadMesh/\(RoadMeshVersion.text)", logger: logger))
            }
            return MeshNode.Node(
                part, description, identity: identity, radio: radio, store: kept.store, contents: kept.contents,
                artwork: artwork, logger: logger)
        }
    }

    /// Makes the parts of a node. A host may require a bond of its guests.
    func node(
        _ role: NodeDescription.Role, name: NodeName, requiresBond: Bool = false
    ) throws(SetupProblem) -> Node {
        _ = try checkedService()
        let environment = ProcessInfo.processInfo.environment
        let folder = try StateFolder(path: try statePath())
        var node = try node(role, folder.identity, name: name.text, requiresBond: requiresBond, environment)
        node.kept = try Kept(folder, logger: node.logger)
        return node
    }

    /// Where the node keeps itself.
    func statePath() throws(SetupProblem) -> String { try Self.statePath(state) }

    /// The state folder that a person has named, or the standard one.
    static func statePath(_ named: String?) throws(SetupProblem) -> String {
        if let named { return absolute(named) }
        return try StateFolder.defaultPath(environment: ProcessInfo.processInfo.environment)
    }

    /// Makes the parts of a scan, which needs no identity that stays.
    func scanNode() throws(SetupProblem) -> Node {
        try node(.scan, .make(), name: "scan", requiresBond: false, ProcessInfo.processInfo.environment)
    }

    private func node(
        _ role: NodeDescription.Role, _ identity: Identity, name: String, requiresBond: Bool,
        _ environment: [String: String]
    ) throws(SetupProblem) -> Node {
        let peer = Peer(id: identity.peerID, name: name)
        let service = try checkedService()
        let airFolder = air.map(Self.absolute) ?? RadioChoice.defaultAir(environment: environment, userID: getuid())
        let log = role != .scan && !json && Terminal.isLive(environment) ? TerminalLog.make() : nil
        // Where standard error goes to a file, that is where the log is wanted.
        let shown = isatty(STDERR_FILENO) == 1 ? log?.handler : nil
        let logger = self.logger(shown ?? StreamLogHandler.standardError(label: "roadmesh"))
        let chosen = try radio.make(
            adapter: adapter, air: airFolder, peer: peer, requiresBond: requiresBond, logger: logger)
        return Node(
            description: NodeDescription(role: role, peer: peer, radio: chosen.radio.name, service: service),
            identity: identity, radio: chosen.radio, logger: logger, kept: nil, remark: chosen.remark,
            logLines: log?.lines)
    }

    private func checkedService() throws(SetupProblem) -> ServiceType {
        do {
            return try ServiceType(service)
        } catch {
            let what =
                switch error {
                case .empty: "is empty"
                case .tooLong(let characters): "has \(characters) characters"
                case .firstNotLetter: "does not start with a letter"
                case .forbiddenCharacter(let character): "has a forbidden character, \"\(character)\""
                }
            throw SetupProblem(
                .usage,
                "The service type \"\(service.prefix(40))\" \(what); use at most \(Limits.serviceTypeCharacters) lowercase "
                    + "letters, digits and hyphens, a letter first.")
        }
    }

    static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    static func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: absolute(path)) }

    static func isFolder(_ path: String) -> Bool {
        var isFolder = false
        return FileManager.default.fileExists(atPath: absolute(path), isDirectory: &isFolder) && isFolder
    }

    /// For a command that is no node.
    var errorLogger: Logger { logger(StreamLogHandler.standardError(label: "roadmesh")) }

    /// Never on standard output, which is the program's.
    /// People are told in sentences what happens. With --verbose there is a line of the log for it, and for each link that
    /// comes or goes.
    private func logger(_ handler: any LogHandler) -> Logger {
        var logger = Logger(label: "roadmesh") { _ in handler }
        logger.logLevel = verbose ? .debug : json ? .error : .critical
        return logger
    }
}

/// A node's name as an argument.
func checkedName(_ text: String) throws(SetupProblem) -> NodeName {
    do {
        return try NodeName(text)
    } catch {
        let what =
            switch error {
            case .empty: "is empty"
            case .tooLong(let characters): "is too long (\(characters) characters)"
            case .controlCharacter: "has a control character or a line break in it"
            }
        throw SetupProblem(
            .usage, "The name \(what); give one of 1 to \(Limits.nameCharacters) characters, like \"Dad's Car\".")
    }
}
