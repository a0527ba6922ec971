// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dashboard
import MeshNode
import MeshProtocol
import NodeCore
import ServiceLifecycle

/// `roadmesh guest NAME`
struct GuestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "guest", abstract: "Join a host and vote on its music.", discussion: typed(.guest))

    @Argument(help: "The name that the host and the other guests see.")
    var name: String

    @OptionGroup(title: "The host") var wanted: WantedHost
    @OptionGroup(title: "The host") var proof: HostProof
    @OptionGroup(title: "Other guests") var others: OtherGuests
    @OptionGroup(title: "Power") var power: GuestPower
    @OptionGroup(title: "The page") var page: PageOptions
    @OptionGroup(title: "The node") var options: NodeOptions
    @OptionGroup(title: "The broker") var broker: BrokerOptions

    func validate() throws {
        if wanted.joinAny, wanted.host != nil || proof.join != nil {
            throw ValidationError("Use --join-any without --host or --join.")
        }
        if power.quiet, others.relay {
            throw ValidationError("A relay cannot save power: use --quiet without --relay.")
        }
    }

    func run() async throws { try await run(recorded: nil) }

    /// The invitation of `--join`, checked.
    private func invitation() throws(SetupProblem) -> Invitation? {
        guard let join = proof.join else { return nil }
        guard wanted.host == nil, proof.pin == nil else {
            throw SetupProblem(.usage, "An invitation says which host it is for, and needs no PIN: give --join alone.")
        }
        return try checkedInvitation(join)
    }

    /// The guest's configuration for `NodeCore`.
    private func part(_ invitation: Invitation?) throws(SetupProblem) -> NodeCore.Part {
        let pin = try proof.pin.map(checkedPIN)
        let secret = invitation?.joiningSecret ?? pin
        return .guest(
            wanted: invitation?.host ?? wanted.host, joinsAny: wanted.joinAny, relays: others.relay, secret: secret,
            isQuiet: power.quiet)
    }

    /// Runs the guest, and records its drive on request.
    func run(recorded recording: RecordingOptions.Checked?) async throws {
        let name = try checkedName(name)
        // Digits of an identifier are not a name.
        if let host = wanted.host, Identity.digits(in: host) == nil { _ = try checkedName(host, of: "--host") }
        let invitation = try invitation()
        var options = options
        if let invitation { options.service = invitation.service.text }
        let (address, part) = (try page.address(), try part(invitation))
        var parts = try options.node(.guest, name: name, at: broker, page: address, packets: recording?.packets)
        parts.description.wantedHost = wanted.host
        if let recording { parts.record(recording) }
        try await options.run(parts, as: part, endOfInput: .quit(.endOfInput)) { [parts, page] node in
            let recorders = try recording?.begin(node, parts) ?? []
            let heard = HeardHosts(parts.kept?.path).map { Listener(events: node.events(), heard: $0) }
            let shown = try await Page(node, parts, page, at: address)
            let others: [(any Service)?] = recorders + [heard, shown.links]
            return (shown.dashboard, others.compactMap(\.self))
        }
    }
}

/// The services of a guest for other guests.
struct OtherGuests: ParsableArguments {
    @Flag(
        help: """
            Relay other guests: guests out of the host's range join it through this node. This uses power, so no device does it \
            unasked.
            """)
    var relay = false
}

/// How much power a guest uses.
struct GuestPower: ParsableArguments {
    @Flag(
        help: """
            Save power while the screen is off: check the link every ten seconds instead of every second. Votes are as fast, but \
            the guest notices later that a host program hangs.
            """)
    var quiet = false
}

/// The host that a guest joins.
struct WantedHost: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Join this host only. Without it: hosts joined before, or the first one heard.",
            valueName: "name-or-id"),
        completion: .heardHosts)
    var host: String?

    @Flag(help: "Join any host in range, also one that was not joined before.")
    var joinAny = false
}
