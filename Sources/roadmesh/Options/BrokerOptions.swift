// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Glibc
import MeshNode

/// The options of a broker, for nodes out of each other's radio range.
struct BrokerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An MQTT broker that links cars out of radio range, its servers separated by commas; the password is in "
                + "$ROADMESH_BROKER_PASSWORD, or in the file of --broker-password.", valueName: "mqtts://user@host"))
    var broker: String?

    @Option(help: ArgumentHelp("A file with the broker's password.", valueName: "file"), completion: .file())
    var brokerPassword: String?

    @Option(
        help: ArgumentHelp(
            "The authorities' certificates that prove the broker's identity; without it, those of the system.",
            valueName: "file"),
        completion: .file())
    var brokerCa: String?

    @Option(help: ArgumentHelp("This node's certificate for the broker.", valueName: "file"), completion: .file())
    var brokerCertificate: String?

    @Option(help: ArgumentHelp("The key of that certificate.", valueName: "file"), completion: .file())
    var brokerKey: String?

    func validate() throws {
        try refuseEmpty([
            ("--broker <mqtts://user@host>", broker), ("--broker-password <file>", brokerPassword),
            ("--broker-ca <file>", brokerCa), ("--broker-certificate <file>", brokerCertificate),
            ("--broker-key <file>", brokerKey),
        ])
    }

    private static let passwordVariable = "ROADMESH_BROKER_PASSWORD"

    /// The broker, if one is named.
    func choice(_ environment: [String: String]) throws(SetupProblem) -> BrokerChoice? {
        guard let broker else {
            guard [brokerPassword, brokerCa, brokerCertificate, brokerKey].contains(where: { $0 != nil }) else {
                return nil
            }
            throw SetupProblem(.usage, "The files of a broker are for --broker, which names it.")
        }
        var password = environment[Self.passwordVariable]
        // Programs that this one starts do not need the password.
        unsetenv(Self.passwordVariable)
        if let brokerPassword { password = try Self.line(of: brokerPassword) }
        let files = [brokerCa, brokerCertificate, brokerKey].map { $0.map(NodeOptions.absolute) }
        for case .some(let file) in files where !NodeOptions.isThere(file) {
            throw SetupProblem(.data, "There is no file \(file).")
        }
        return try BrokerChoice(
            broker, password: password, authorities: files[0], certificate: files[1], key: files[2])
    }

    private static func line(of path: String) throws(SetupProblem) -> String {
        guard let data = FileManager.default.contents(atPath: NodeOptions.absolute(path)) else {
            throw SetupProblem(.data, "\(path) cannot be read; it has the broker's password.")
        }
        return String(decoding: data.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
    }
}
