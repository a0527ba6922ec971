// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bearers
import FoundationEssentials
import Glibc
import MeshNode
import MeshProtocol
import MeshSession
import NodeCore
import NodeStore
import TerminalUI
import UnixSignals

/// A node of a link tool: `ping`, `trace` and `pipe` have links, and no queue or votes.
struct LinkNode {
    let node: NodeOptions.Node
    /// Locked while the tool runs. Nil without `--state`: then each run has a new identity.
    let folder: StateFolder?

    /// Creates the node, with the identity of the named state folder or a new one.
    init(
        _ options: NodeOptions, at broker: BrokerOptions? = nil, _ role: NodeDescription.Role, name: String,
        demands: AdvertisedFlags.Critical = []
    ) throws(SetupProblem) {
        folder = options.state == nil ? nil : try StateFolder(path: try options.statePath())
        node = try options.node(
            role, folder?.identity ?? .make(), name: name, at: broker, demands: demands,
            ProcessInfo.processInfo.environment, hasPrompt: false)
        if !options.json, let remark = node.remark { StandardError.write("roadmesh: \(remark)") }
    }

    /// A guest that looks for a host by its name or identifier.
    func guest(
        wanting host: String?, secret: JoiningSecret?, patience: Duration?, usesRelays: Bool
    ) -> MeshGuest {
        let digits = host.flatMap { Identity.digits(in: $0) }
        var configuration = MeshGuest.Configuration(
            name: node.description.peer.name, service: node.description.service, identity: node.identity,
            host: secret?.host ?? digits, patience: patience)
        configuration.hostName = digits == nil && secret?.host == nil ? host : nil
        configuration.secret = secret
        configuration.usesRelays = usesRelays
        return MeshGuest(on: node.manager, configuration: configuration, logger: node.logger)
    }
}

/// The secret by which a host admits this node: a PIN or an invitation.
struct HostProof: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The PIN that the host shows. Hosts that do not know it are not joined.", valueName: "digits")
    )
    var pin: String?

    @Option(
        help: ArgumentHelp(
            "A host's invitation, as text or as a link: only that host is joined, without a PIN.",
            valueName: "text"))
    var join: String?

    /// The checked secret, and the service of an invitation.
    func secret() throws(SetupProblem) -> (secret: JoiningSecret?, service: ServiceType?) {
        guard let join else { return (try pin.map(checkedPIN), nil) }
        guard pin == nil else { throw SetupProblem(.usage, "An invitation needs no PIN: give --join alone.") }
        let invitation = try checkedInvitation(join)
        return (invitation.joiningSecret, invitation.service)
    }
}

/// Parses an invitation given as an option.
func checkedInvitation(_ text: String) throws(SetupProblem) -> Invitation {
    guard let invitation = Invitation(text: text) else {
        throw SetupProblem(.usage, "This is not a complete invitation. Copy all text that invite shows at the host.")
    }
    return invitation
}

/// A number of seconds on the command line, with its bounds.
struct Seconds<Bounds: SecondsBounds>: ExpressibleByArgument {
    let value: Double

    init(_ value: Double) { self.value = value }

    init?(argument: String) {
        guard let value = Double(argument), Bounds.range.contains(value) else { return nil }
        self.value = value
    }

    var duration: Duration { .seconds(value) }

    /// The value, without a fraction if it is a whole number of seconds.
    var defaultValueDescription: String { value == value.rounded() ? String(Int(value)) : String(value) }
}

/// The bounds of a number of seconds.
protocol SecondsBounds {
    static var range: ClosedRange<Double> { get }
}

/// Checks the name or identifier of another node.
func checkedHost(_ host: String) throws(SetupProblem) -> String {
    if let digits = Identity.digits(in: host) { return digits }
    return try checkedName(host, of: "The host's name").text
}

extension SetupProblem {
    /// The problem of a guest that has not found its host or listener. `advice` ends the sentence.
    init(notReached host: String, within wait: Duration, _ advice: String = "; is it on and in range?") {
        let seconds = Seconds<Waits>(wait / .seconds(1)).defaultValueDescription
        self.init(.unavailable, "\(host) was not reached in \(seconds) s\(advice)")
    }

    /// The problem of a guest that a host or listener rejects.
    init(_ reason: RefusalReason, by host: String) {
        let sentence =
            switch reason {
            case .challenge: "\(host) asks for a PIN; give the digits that it shows with --pin."
            case .wrongProof: "\(host) has another PIN; give the digits that it shows with --pin."
            case .invitation: "The invitation is used or over; make another one with invite at the host."
            case .banned: "\(host) has banned this device; a person there can type unban."
            case .bond: "\(host) admits only devices that are bonded with it; see roadmesh pair."
            case .version: "\(host) has another version of RoadMesh; install the same on both devices."
            case .twin: "Another program has the same identity; give each its own --state."
            case .full, .tooManyGuesses, .ended, .unspecified:
                "\(host) admits no more guests at present; try again later."
            }
        self.init(.unavailable, sentence)
    }
}

/// The signals that end a tool. The first signal ends the program in order, and the second one at once.
enum LinkSignals {
    /// Calls a closure at the first signal.
    static func watch(_ stop: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task {
            var isSecond = false
            for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup) {
                if isSecond { _exit(SetupProblem.ExitCode.interrupted.rawValue) }
                isSecond = true
                Task { await stop() }
            }
        }
    }
}
