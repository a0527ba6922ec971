// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BLETransport
import Bearers
import CoverArt
import DemocracyDJ
import Dashboard
import FoundationEssentials
import Glibc
import Logging
import MeshNode
import MeshProtocol
import NodeCore
import NodeStore
import TerminalUI

extension RadioChoice: ExpressibleByArgument {}
extension LANChoice: ExpressibleByArgument {}
extension AdapterSettingsChoice: ExpressibleByArgument {}

/// The options of all commands that use a radio. It contains no other group: in a debug build, the parser checks a group
/// five times for each level above it.
struct NodeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The radio: auto uses BlueZ if there is an adapter, else virtual.", valueName: "auto|bluez|virtual"))
    var radio: RadioChoice = .auto

    @Option(
        help: ArgumentHelp(
            "Which adapter, for example hci0; without it, the first that is on. A guest can use two, hci0,hci1: the one that "
                + "dials and the one that is dialled.", valueName: "hci0"),
        completion: .adapters)
    var adapter: String?

    @Option(
        help: ArgumentHelp(
            "Whether the node also uses its network where avahi-daemon runs. Default: on, next to a "
                + "Bluetooth adapter.", valueName: "on|off"))
    var lan: LANChoice?

    @Option(
        help: ArgumentHelp(
            "Whether the node sets how fast its adapter advertises and links, if it has CAP_NET_ADMIN; it restores the former "
                + "values.", valueName: "set|leave"))
    var adapterSettings: AdapterSettingsChoice = .set

    @Option(
        help: ArgumentHelp(
            "The virtual radio's shared folder; without it, roadmesh/air in $XDG_RUNTIME_DIR, or /tmp/roadmesh-UID/air.",
            valueName: "dir"), completion: .directory)
    var air: String?

    @Option(
        help: ArgumentHelp(
            "The folder for this node's identity, queue and votes; without it, roadmesh in $XDG_STATE_HOME, or "
                + "~/.local/state/roadmesh.", valueName: "dir"),
        completion: .directory)
    var state: String?

    @Option(help: ArgumentHelp("The service type: nodes of the same service find each other.", valueName: "name"))
    var service = ServiceType.democracyDJ.text

    @Flag(help: "One JSON object per line on standard output, one command per line on standard input.")
    var json = false

    @Flag(help: "Log more about the radio on standard error.")
    var verbose = false

    func validate() throws {
        try refuseEmpty([("--adapter <hci0>", adapter), ("--air <dir>", air), ("--state <dir>", state)])
    }

    /// A node's parts, created and checked.
    struct Node {
        var description: NodeDescription
        var identity: Identity
        var radio: any Bearer
        var logger: Logger
        /// The state that outlives this run, locked while the node runs. A scan stores no state.
        var kept: OpenedState?
        /// The covers in the music files.
        var art: (@Sendable (Song.ID) async -> [UInt8]?)?
        var remark: String?
        var files: OpenFiles
        /// The log lines to show above a terminal's prompt; nil without a prompt.
        var logLines: AsyncStream<String>?

        mutating func add(remark another: String) {
            remark = remark.map { $0 + "\n" + another } ?? another
        }

        /// The manager that hears hosts, for a scan.
        var manager: BearerManager {
            BearerManager(radio: radio, local: description.peer, service: description.service, logger: logger)
        }

        /// Creates the node, which continues where its last run ended.
        func makeNode(_ part: NodeCore.Part) throws(SetupProblem) -> MeshNode.Node {
            guard let kept else { preconditionFailure("a scan is not a node") }
            var covers = NodeCovers()
            if case .host = part {
                covers.prefetcher = ArtworkPrefetcher(
                    loader: ArtworkLoader(
                        cache: kept.artworkFolder, userAgent: "RoadMesh/\(RoadMeshVersion.text)", logger: logger))
                covers.own = art
                covers.scaler = CoverScaler(
                    drafts: kept.draftsFolder,
                    launcher: Confinement.launcher(
                        stateFolder: kept.folder.path, allowed: [kept.draftsFolder]), logger: logger)
            } else {
                covers.shelf = CoverShelf(folder: kept.coversFolder, logger: logger)
            }
            return MeshNode.Node(
                part, description, identity: identity, radio: radio, store: kept.store, contents: kept.contents,
                covers: covers, logger: logger)
        }
    }

    /// Creates the parts of a node. `demands` is what a host requires of its guests. `page` is the address of the
    /// node's page. `packets` keeps the last packets of its adapter.
    func node(
        _ role: NodeDescription.Role, name: NodeName, at broker: BrokerOptions?,
        demands: AdvertisedFlags.Critical = [], page: DashboardAddress, packets: PacketCapture? = nil
    ) throws(SetupProblem) -> Node {
        _ = try checkedService()
        let environment = ProcessInfo.processInfo.environment
        let folder = try StateFolder(path: try statePath())
        var node = try node(
            role, folder.identity, name: name.text, at: broker, demands: demands, packets: packets, environment)
        if page != .none, let remark = node.files.remark(role) { node.add(remark: remark) }
        if let remark = folder.remark { node.add(remark: remark) }
        node.kept = try OpenedState(folder, logger: node.logger)
        return node
    }

    /// The path of the node's state folder.
    func statePath() throws(SetupProblem) -> String { try Self.statePath(state) }

    /// The state folder that a person has named, or the default.
    static func statePath(_ named: String?) throws(SetupProblem) -> String {
        if let named { return absolute(named) }
        return try StateFolder.defaultPath(environment: ProcessInfo.processInfo.environment)
    }

    /// Creates the parts of a scan, which needs no permanent identity.
    func scanNode(at broker: BrokerOptions) throws(SetupProblem) -> Node {
        try node(.scan, .make(), name: "scan", at: broker, demands: [], ProcessInfo.processInfo.environment)
    }

    /// Creates the parts of a node with this identity. Without a prompt its log goes to standard error.
    func node(
        _ role: NodeDescription.Role, _ identity: Identity, name: String, at broker: BrokerOptions?,
        demands: AdvertisedFlags.Critical, packets: PacketCapture? = nil, _ environment: [String: String],
        hasPrompt: Bool = true
    ) throws(SetupProblem) -> Node {
        if role != .guest, adapter?.contains(",") == true {
            throw SetupProblem(.usage, "Two adapters are for a guest: one dials, the other is dialled. Name one.")
        }
        let files = try OpenFiles.reserve()
        let peer = Peer(id: identity.peerID, name: name)
        let service = try checkedService()
        let airFolder = air.map(Self.absolute) ?? RadioChoice.defaultAir(environment: environment, userID: getuid())
        let log = hasPrompt && role != .scan && !json && Terminal.isLive(environment) ? TerminalLog.make() : nil
        // If standard error is a file, the log belongs there.
        let shown = isatty(STDERR_FILENO) == 1 ? log?.handler : nil
        let logger = self.logger(shown ?? StreamLogHandler.standardError(label: "roadmesh"))
        let settings = settingsPolicy(role == .scan ? .leave : adapterSettings, environment)
        let chosen = try radio.make(
            adapter: adapter, air: airFolder, peer: peer, service: service, demands: demands, settings: settings,
            packets: packets, lan: lan, broker: try broker?.choice(environment), logger: logger)
        return Node(
            description: NodeDescription(role: role, peer: peer, radio: chosen.radio.name, service: service),
            identity: identity, radio: chosen.radio, logger: logger, kept: nil, remark: chosen.remark, files: files,
            logLines: log?.lines)
    }

    /// The policy for an adapter's settings.
    func settingsPolicy(
        _ choice: AdapterSettingsChoice, _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> AdapterSettingsPolicy {
        AdapterSettingsPolicy(
            choice, folder: RadioChoice.defaultSettingsFolder(environment: environment, userID: getuid()))
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
                "The service type \"\(service.prefix(40))\" \(what); --service takes at most \(Limits.serviceTypeCharacters) "
                    + "lowercase letters, digits and hyphens, a letter first.")
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

    /// The logger of a command that runs no node.
    var errorLogger: Logger { logger(StreamLogHandler.standardError(label: "roadmesh")) }

    /// Never logs to standard output, which is for the program's output. People get sentences about events. With
    /// --verbose the log also has a line for each event, and for each link that comes or goes.
    private func logger(_ handler: any LogHandler) -> Logger {
        var logger = Logger(label: "roadmesh") { _ in handler }
        logger.logLevel = verbose ? .debug : json ? .error : .critical
        return logger
    }
}

/// Refuses an option with an empty value. A script with an empty variable would otherwise name the current folder.
func refuseEmpty(_ options: [(name: String, value: String?)]) throws {
    guard let empty = options.first(where: { $0.value == "" }) else { return }
    // Use the parser's words, which `ParserMessage` translates.
    throw ValidationError("Missing value for '\(empty.name)'")
}

/// Checks a node's name, given as an argument or as the value of an option.
func checkedName(_ text: String, of option: String = "The name") throws(SetupProblem) -> NodeName {
    do {
        return try NodeName(text)
    } catch {
        let what =
            switch error {
            case .empty: "is empty"
            case .tooLong(let characters): "is too long (\(characters) characters)"
            case .controlCharacter: "has a control character or a line break in it"
            case .identifier: "has 8 to 32 hexadecimal digits and nothing else, as an id has"
            }
        throw SetupProblem(
            .usage, "\(option) \(what); give a name of 1 to \(Limits.nameCharacters) characters, like \"Dad's Car\".")
    }
}
