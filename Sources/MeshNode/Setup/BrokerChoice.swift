// SPDX-License-Identifier: Apache-2.0

import BrokerRadio

/// The broker that a node uses beside its radio, as a person has named it.
public struct BrokerChoice: Hashable, Sendable {
    /// Where it is.
    public private(set) var address: BrokerAddress
    /// What TLS takes.
    public private(set) var files: BrokerFiles

    /// Reads what was typed. `password` is one that is kept elsewhere than in the URL, where everybody on the device can see it.
    public init(
        _ url: String, password: String? = nil, authorities: String? = nil, certificate: String? = nil,
        key: String? = nil
    ) throws(SetupProblem) {
        do {
            address = try BrokerAddress(url)
        } catch {
            throw SetupProblem(
                .usage,
                "\"\(url.prefix(80))\" names no broker: \(error.text). One looks like mqtts://user@broker.example.org.")
        }
        address.password = address.password ?? password
        files = BrokerFiles(authorities: authorities, certificate: certificate, key: key)
        guard !address.isSecure else {
            guard (certificate == nil) == (key == nil) else {
                throw SetupProblem(
                    .usage, "A certificate and its key go together: --broker-certificate and --broker-key.")
            }
            return
        }
        if address.password != nil, !address.isLocal {
            throw SetupProblem(
                .usage,
                "mqtt:// would show the password to everybody on the way to \(address.servers.map(\.host).joined(separator: ", ")); "
                    + "use mqtts://.")
        }
        if [authorities, certificate, key].contains(where: { $0 != nil }) {
            throw SetupProblem(.usage, "Certificates are for mqtts://, and this broker is \(address.text).")
        }
    }
}
