// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DemocracyDJ
import Dashboard
import FoundationEssentials
import HostIntegration
import MeshNode
import MeshProtocol
import ServiceLifecycle
import TerminalUI

/// `roadmesh host NAME`
struct HostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "host", abstract: "Run the host on the head unit: guests find it and vote.",
        discussion: typed(.host))

    @Argument(help: "The name that guests see, for example \"Dad's Car\".")
    var name: String

    @OptionGroup(title: "Music") var music: MusicOptions
    @OptionGroup(title: "Fairness") var fairness: FairnessOptions
    @OptionGroup(title: "Who may join") var joining: JoiningOptions
    @OptionGroup(title: "The page") var page: PageOptions
    @OptionGroup(title: "The node") var options: NodeOptions
    @OptionGroup(title: "The broker") var broker: BrokerOptions

    private static let nobodyCanJoin =
        "Phones cannot reach the page: it is only for this device. Leave --http out, or give --http 0.0.0.0:8080."

    private static let demoSongs =
        "These are demo songs, without sound. To play your music: --library FOLDER."

    func run() async throws { try await run(recorded: nil) }

    /// Runs the host, and records its drive on request.
    func run(recorded recording: RecordingOptions.Checked?) async throws {
        let name = try checkedName(name)
        let (fairness, webGuests) = (fairness.policies, joining.webGuests)
        let address = try page.address(webGuests: webGuests)
        let source = try music.source(stateFolder: options.statePath())
        var parts = try options.node(
            .host, name: name, at: broker, demands: joining.demands, page: address, packets: recording?.packets)
        let (pin, wifi) = (try joining.secret(), try joining.network())
        parts.description.pin = pin?.pin
        if let recording { parts.record(recording) }
        if webGuests, address.isLoopback { parts.add(remark: Self.nobodyCanJoin) }
        if music.library == nil { parts.add(remark: Self.demoSongs) }
        let music = try await source.open(parts, showsProgress: !options.json)
        parts.art = music.art
        var hosting = music.hosting(fairness, shuffles: self.music.shuffle, pin: pin)
        hosting.requiresBond = joining.requireBond
        try await options.run(parts, as: .host(hosting), library: music.songs, endOfInput: nil) {
            node in
            var dashboard = DashboardOptions()
            (dashboard.webGuests, dashboard.pin, dashboard.wifi) = (webGuests, pin?.pin, wifi)
            dashboard.majoritySkip = fairness.majoritySkip
            dashboard.search = { await node.find($0) }
            dashboard.art = music.art
            let page = try await Page(node, parts, self.page, at: address, dashboard)
            let recorders = try recording?.begin(node, parts) ?? []
            let others: [(any Service)?] = [
                page.links, control(node, parts, music), music.headUnit(around: node) { await page.dashboard.show($0) },
                Supervision(node: node),
            ]
            return (page.dashboard, others.compactMap(\.self) + recorders)
        }
        music.close()
    }

    /// The socket for `roadmesh control`. If the folder cannot be written, the host runs without it.
    private func control(_ node: MeshNode.Node, _ parts: NodeOptions.Node, _ music: Music) -> ControlSocket? {
        guard let folder = parts.kept?.folder else { return nil }
        do {
            return try ControlSocket(
                node, parts.description, library: music.songs, folder: folder, logger: parts.logger)
        } catch {
            parts.logger.warning("no commands can be sent to this host by roadmesh control: \(error)")
            return nil
        }
    }
}

/// Which devices a host admits.
struct JoiningOptions: ParsableArguments {
    @Flag(help: "Passengers on the head unit's own Wi-Fi join with a browser; the page shows them how.")
    var webGuests = false

    @Option(
        help: ArgumentHelp(
            "The Wi-Fi that phones must join: the page shows a second code for it.", valueName: "name"))
    var wifi: String?

    @Option(
        help: ArgumentHelp("A file with the password of that Wi-Fi; without it, the Wi-Fi is open.", valueName: "file"),
        completion: .file())
    var wifiPassword: String?

    @Flag(help: "Admit only devices that this one is bonded with; see roadmesh pair.")
    var requireBond = false

    @Option(
        help: ArgumentHelp(
            "The six digits that guests type once to join; auto chooses them. The screen and the page show them.",
            valueName: "digits|auto"))
    var pin: String?

    /// The flags that a dialling node must know in advance.
    var demands: AdvertisedFlags.Critical {
        var demands: AdvertisedFlags.Critical = requireBond ? [.bond] : []
        if pin != nil { demands.insert(.proof) }
        return demands
    }

    /// The Wi-Fi, if it is named.
    func network() throws(SetupProblem) -> WifiNetwork? {
        guard let wifi else {
            guard wifiPassword == nil else {
                throw SetupProblem(.usage, "--wifi-password is for a network that --wifi names.")
            }
            return nil
        }
        let network = WifiNetwork(name: wifi, password: try wifiPassword.map(Self.password))
        guard let network else {
            throw SetupProblem(
                .usage,
                "A Wi-Fi's name has 1 to \(WifiNetwork.nameBytes) bytes, and its password 8 to 63 in the file's first line."
            )
        }
        return network
    }

    private static func password(_ file: String) throws(SetupProblem) -> String {
        guard let bytes = FileManager.default.contents(atPath: NodeOptions.absolute(file)) else {
            throw SetupProblem(.data, "The file \(file) cannot be read; --wifi-password names one with the password.")
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).first
            .map(String.init) ?? ""
    }

    /// The PIN, if one is wanted.
    func secret() throws(SetupProblem) -> JoiningSecret? { try chosenPIN(pin) }
}

/// The PIN of a node that asks for one: the given digits, or random ones for `auto`.
func chosenPIN(_ pin: String?) throws(SetupProblem) -> JoiningSecret? {
    pin == "auto" ? JoiningSecret(random: .random(in: 0..<1_000_000)) : try pin.map(checkedPIN)
}

/// Parses a PIN given as an option.
func checkedPIN(_ digits: String) throws(SetupProblem) -> JoiningSecret {
    guard let secret = JoiningSecret(pin: digits) else {
        throw SetupProblem(.usage, "A PIN has \(Limits.pinDigits) digits, such as --pin 314159.")
    }
    return secret
}

/// The options for the policies of guests' wishes.
struct FairnessOptions: ParsableArguments {
    /// Bounds of an option that counts songs. 0 means any number.
    enum SongBounds: NumberBounds {
        static let range = 0...Int.max
    }

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Suggestions of one guest that may wait at a time, from 1 on; 0 for any number.", valueName: "n"))
    var openSuggestions = BoundedNumber<SongBounds>(DJLimits.openSuggestions)

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Songs of one guest in a row while another guest's song waits, from 1 on; 0 for any number.",
            valueName: "n"))
    var songsInARow = BoundedNumber<SongBounds>(DJLimits.songsInARow)

    @Flag(help: "More than half of the guests that are present can skip a song.")
    var majoritySkip = false

    @Flag(help: "Guests vote for the songs that you have queued, and cannot suggest any.")
    var voteOnly = false

    /// The enabled policies.
    var policies: Fairness {
        var policies = Fairness(
            openSuggestions: Self.limit(openSuggestions), songsInARow: Self.limit(songsInARow),
            majoritySkip: majoritySkip)
        policies.voteOnly = voteOnly
        return policies
    }

    private static func limit(_ songs: BoundedNumber<SongBounds>) -> Int? { songs.value == 0 ? nil : songs.value }
}
