// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dashboard
import MeshNode

/// Where a node's page is.
struct PageOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where the page for browsers is; port 0 is any that is free. Beyond this box it takes the printed token.",
            valueName: "addr:port|none"))
    var http = "127.0.0.1:0"

    /// The address, checked.
    func address(webGuests: Bool = false) throws(SetupProblem) -> DashboardAddress {
        let address: DashboardAddress
        do {
            address = try DashboardAddress(parsing: http)
        } catch {
            throw SetupProblem(.usage, error.description)
        }
        guard !webGuests || address != .none else {
            throw SetupProblem(
                .usage, "Guests with a browser need the page; name an address with --http, such as 0.0.0.0:8080.")
        }
        return address
    }
}

/// A node's page: it listens from here on, and the node says where.
struct Page {
    let dashboard: Dashboard

    init(
        _ node: MeshNode.Node, _ parts: NodeOptions.Node, _ address: DashboardAddress,
        _ options: DashboardOptions = DashboardOptions()
    ) async throws {
        dashboard = Dashboard(
            node: node, description: parts.description, address: address, options: options, logger: parts.logger)
        if let url = try await dashboard.bind() { await node.isShown(at: url) }
    }
}
