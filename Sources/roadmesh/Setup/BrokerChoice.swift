// SPDX-License-Identifier: Apache-2.0

import BrokerBearer
import MeshNode

/// The broker that a node uses in addition to its radio.
struct BrokerChoice: Hashable, Sendable {
    /// The broker's address.
    private(set) var address: BrokerAddress
    /// The files for TLS.
    private(set) var files: BrokerFiles

    /// Parses the options. `password` comes from outside the URL, because every user of the device can see the URL.
    init(
        _ url: String, password: String? = nil, authorities: String? = nil, certificate: String? = nil,
        key: String? = nil
    ) throws(SetupProblem) {
        do {
            address = try BrokerAddress(url)
        } catch {
            throw SetupProblem(
                .usage,
                "\"\(url.prefix(80))\" is not a broker's address: \(error.text). Write it like mqtts://user@broker.example.org."
            )
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
                "mqtt:// sends the password unencrypted to \(address.servers.map(\.host).joined(separator: ", ")); "
                    + "use mqtts://.")
        }
        if [authorities, certificate, key].contains(where: { $0 != nil }) {
            throw SetupProblem(.usage, "Certificates are for mqtts://, and this broker is \(address.text).")
        }
    }
}
