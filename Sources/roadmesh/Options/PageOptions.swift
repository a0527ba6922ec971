// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dashboard
import DemocracyDJ
import MeshNode

/// The address of a node's page.
struct PageOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The page's address for browsers; port 0 is any free one. From other devices the page needs the printed token. "
                + "Without it, the page is for this device only, and with --web-guests at 0.0.0.0, for its networks.",
            valueName: "addr:port|none"))
    var http: String?

    @Flag(help: "Require a new code from every browser: earlier page tokens become invalid.")
    var newTokens = false

    /// Returns the checked address. Passengers with a browser need an address that their phones can reach.
    func address(webGuests: Bool = false) throws(SetupProblem) -> DashboardAddress {
        let address: DashboardAddress
        do {
            address =
                try http.map { text throws(DashboardAddress.Problem) in try DashboardAddress(parsing: text) }
                ?? (webGuests ? .forPhones : .standard)
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

/// A node's page. It listens from its creation, and the node reports its address.
struct Page {
    let dashboard: Dashboard
    /// The file with the links for the person; nil without a state folder.
    let links: LinksFile?

    init(
        _ node: MeshNode.Node, _ parts: NodeOptions.Node, _ options: PageOptions, at address: DashboardAddress,
        _ dashboardOptions: DashboardOptions = DashboardOptions()
    ) async throws {
        var made = dashboardOptions
        links = parts.kept.map { LinksFile(parts, folder: $0.folder, events: node.events()) }
        made.connections = parts.files.places
        if address != .none {
            made.tokens = parts.pageTokens(areNew: options.newTokens)
            made.formerPort = parts.pagePort ?? (address == .forPhones ? DashboardAddress.phonesPort : nil)
            made.changed = { [links] in await Self.tell($0, node, parts, links) }
        }
        dashboard = Dashboard(
            node: node, description: parts.description, address: address, options: made, logger: parts.logger)
        let url = try await dashboard.bind()
        let passengers = await dashboard.passengers
        await links?.show(url, passengers: passengers)
        guard let url else { return }
        if let port = await dashboard.port { parts.keep(pagePort: port) }
        await node.isShown(at: url, door: await dashboard.door, passengers: passengers)
    }

    private static func tell(
        _ change: DashboardOptions.Change, _ node: MeshNode.Node, _ parts: NodeOptions.Node, _ links: LinksFile?
    ) async {
        switch change {
        case .shown(let url, let door, let passengers, let port):
            parts.keep(pagePort: port)
            await links?.show(url, passengers: passengers)
            await node.isShown(at: url, door: door, passengers: passengers)
            await node.send(.cleared(code: HeadUnitProblem.pageNotShownCode))
            await node.send(.page(url, passengers: passengers))
        case .reachable(true): await node.send(.cleared(code: HeadUnitProblem.pageUnreachable.problem.code))
        case .reachable(false): await node.send(.notice(Notice(.pageUnreachable)))
        case .notShown(let address, let cause):
            await node.send(.notice(Notice(.pageNotShown(at: address, cause: cause))))
        }
    }
}

extension NodeOptions.Node {
    /// The tokens of the page. It reuses the tokens of earlier starts, so that admitted browsers stay admitted.
    fileprivate func pageTokens(areNew: Bool) -> DashboardTokens {
        guard let kept else { return .make() }
        let file = "page-tokens"
        let earlier = areNew ? nil : kept.folder.secret(file)
        let tokens = KeptTokens(stored: earlier)
        guard tokens.stored != earlier else { return tokens.tokens }
        do {
            try kept.folder.keep(tokens.stored, as: file)
        } catch {
            logger.warning("the page's tokens are not saved, so the next start has others: \(error)")
        }
        return tokens.tokens
    }

    private static var portFile: String { "page-port" }

    /// The last port of the page. If the user has chosen no port, the page uses it again, so that browsers find the
    /// page.
    fileprivate var pagePort: Int? {
        (kept?.folder.secret(Self.portFile)).flatMap { Int(String(decoding: $0, as: UTF8.self)) }
    }

    fileprivate func keep(pagePort port: Int) {
        guard let kept, port != pagePort else { return }
        do {
            try kept.folder.keep(Array("\(port)".utf8), as: Self.portFile)
        } catch {
            logger.warning("the page's port is not saved, so the next start may have another: \(error)")
        }
    }
}
