// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dashboard
import FoundationEssentials
import MeshNode

/// Where a node's page is.
struct PageOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where the page for browsers is; port 0 is any that is free. Beyond this device it takes the printed token.",
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
        var options = options
        options.connections = parts.files.places
        if address != .none { options.tokens = parts.pageTokens() }
        dashboard = Dashboard(
            node: node, description: parts.description, address: address, options: options, logger: parts.logger)
        if let url = try await dashboard.bind() { await node.isShown(at: url) }
    }
}

extension NodeOptions.Node {
    /// The tokens of the page: those of an earlier start where its session goes on, so that browsers that were let in stay
    /// in.
    fileprivate func pageTokens() -> DashboardTokens {
        guard let kept else { return .make() }
        let file = "page-tokens"
        let goesOn = description.role == .guest || kept.hasSession
        let now = UInt32(clamping: Int(Date().timeIntervalSince1970))
        let earlier = goesOn ? kept.folder.secret(file) : nil
        let tokens = KeptTokens(stored: earlier, now: now)
        guard tokens.stored != earlier else { return tokens.tokens }
        do {
            try kept.folder.keep(tokens.stored, as: file)
        } catch {
            logger.warning("the page's tokens are not kept, so that the next start has others: \(error)")
        }
        return tokens.tokens
    }
}
