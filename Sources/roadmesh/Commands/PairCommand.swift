// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BLETransport
import Glibc
import MeshNode
import MeshProtocol
import TerminalUI
import UnixSignals

/// `roadmesh pair`
struct PairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair", abstract: "Bond with another device.",
        usage: """
            roadmesh pair [DEVICE] [--name NAME] [--adapter ADAPTER]
            roadmesh pair list
            roadmesh pair forget DEVICE
            """,
        discussion: """
            Run it on both devices. They find each other and show six digits. Confirm on each that the digits are \
            the same. A host with --require-bond then admits bonded devices only.
            """,
        subcommands: [With.self, List.self, Forget.self], defaultSubcommand: With.self)

    /// `roadmesh pair [DEVICE]`
    struct With: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "with", abstract: "Bond with another device (the default).")

        @Argument(
            help: ArgumentHelp(
                "The other device, by its name or address; needed where several pair.", valueName: "device"))
        var device: String?

        @Option(help: "The name that the other device shows; without it, the host name.")
        var name: String?

        @OptionGroup var options: NodeOptions

        func run() async throws {
            let name = try checkedName(name ?? hostName(), of: "--name").text
            try options.radio.checkBonds(adapter: options.adapter)
            let run: PairingRun
            do {
                run = try PairingRun(adapter: options.adapter, name: name, wanted: device, logger: options.errorLogger)
            } catch {
                throw SetupProblem(error)
            }
            let dialogue = PairingDialogue(run, name: name, reporter: options.pairingReporter)
            if let code = try await dialogue.hold() { throw ExitCode(code) }
        }
    }

    /// `roadmesh pair list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the bonds that this device has.")

        @OptionGroup var options: NodeOptions

        func run() async throws {
            let (_, bonds) = try await options.bonds()
            options.pairingReporter.list(bonds)
        }
    }

    /// `roadmesh pair forget DEVICE`
    struct Forget: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "forget", abstract: "Forget a bond.")

        @Argument(help: ArgumentHelp("The other device, by its name or address.", valueName: "device"))
        var device: String

        @OptionGroup var options: NodeOptions

        func run() async throws {
            let (keeper, bonds) = try await options.bonds()
            let meant = bonds.filter { $0.isCalled(device) }
            guard let bond = meant.first, meant.count == 1 else { throw SetupProblem(device, isNotOneOf: meant) }
            do {
                try await keeper.forget(bond)
            } catch {
                throw SetupProblem(error)
            }
            options.pairingReporter.forgot(bond)
        }
    }
}

extension SetupProblem {
    /// The problem of a name that matches no bond, or several.
    fileprivate init(_ device: String, isNotOneOf meant: [Bond]) {
        let shown = UntrustedText.shown(String(device.prefix(Limits.nameCharacters)))
        guard !meant.isEmpty else {
            self.init(.data, "There is no bond with \"\(shown)\"; roadmesh pair list shows those there are.")
            return
        }
        let addresses = meant.prefix(3).map(\.id).joined(separator: ", ")
        self.init(
            .data, "\(meant.count) devices are called \"\(shown)\": \(addresses). Use the address of the one you mean.")
    }
}

extension NodeOptions {
    fileprivate func bonds() async throws -> (Bonds, [Bond]) {
        try radio.checkBonds(adapter: adapter)
        do {
            let keeper = try Bonds(adapter: adapter)
            return (keeper, try await keeper.list())
        } catch {
            throw SetupProblem.from(error)
        }
    }

    fileprivate var pairingReporter: PairingReporter {
        json ? PairingReporter(form: .programs) : PairingReporter(form: .people)
    }
}

/// This device's default name.
func hostName() -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return "RoadMesh" }
    let name = buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    return name.isEmpty ? "RoadMesh" : name
}
