// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import HTTPTypes
import Hummingbird
import NIOCore
import NodeCore

/// Judges each request at the gate, passes it to the routes, and adds the security headers to every answer.
struct DashboardResponder: HTTPResponder {
    private let dashboard: Dashboard
    private let gate: Gate
    private let connections: Connections
    private let routes: RouterResponder<DashboardContext>

    init(_ dashboard: Dashboard, _ gate: Gate, _ connections: Connections) {
        self.dashboard = dashboard
        self.gate = gate
        self.connections = connections
        routes = DashboardRoutes(dashboard).responder
    }

    func respond(to request: Request, context: DashboardContext) async throws -> Response {
        let cookies = DashboardCookies(request, context)
        var response = await answer(request, context, cookies)
        for (name, value) in Self.alwaysSaid { response.headers[name] = value }
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        return response
    }

    private func answer(
        _ request: Request, _ context: DashboardContext, _ cookies: DashboardCookies
    ) async -> Response {
        let verdict = gate.judge(Gate.Visit(request, context, cookies))
        guard connections.serves(context.channel, asDriver: verdict.isDriver) else { return refuse(.busyDoor, request) }
        switch verdict {
        case .refuse(let refusal): return refuse(refusal, request)
        case .enter(let access): return Self.toThePage(cookies.settingDriver(access: access))
        case .enterAsGuest(let access): return Self.toThePage([cookies.setting(guestAccess: access)])
        case .pass(let right):
            if right != .none, let address = context.openedAddress { await dashboard.wasOpened(at: address) }
            var context = context
            context.right = right
            do {
                return try await routes.respond(to: request, context: context)
            } catch let refusal as Dashboard.Refusal {
                return refuse(refusal, request)
            } catch {
                context.logger.debug("a request to the dashboard has failed: \(error)")
                return refuse(
                    Dashboard.Refusal(status: 500, message: "The host could not answer. Try again in a moment."),
                    request)
            }
        }
    }

    /// Removes the token from the address bar and from the history, so that no other site receives it.
    private static func toThePage(_ cookies: [String]) -> Response {
        var response = Response(status: .seeOther, headers: [.location: "/"])
        response.headers[values: .setCookie] = cookies
        return response
    }

    /// A browser that opens an address gets a page that explains what is wrong and what to do. A script gets the
    /// sentence as JSON.
    private func refuse(_ refusal: Dashboard.Refusal, _ request: Request) -> Response {
        request.opensPage
            ? DeadEnd.page(refusal, for: request)
            : .refusing(refusal.status, refusal.message, refusal.text, reason: refusal.reason)
    }

    private func refuse(_ refusal: Gate.Refusal, _ request: Request) -> Response {
        switch refusal {
        // The page itself asks for the code, in the person's language. For a browser with a valid cookie the page works
        // as usual.
        case .noToken where request.opensPage, .noPIN where request.opensPage, .wrongToken:
            DashboardRoutes.page(status: .unauthorized)
        default:
            refuse(
                Dashboard.Refusal(status: refusal.status, message: refusal.sentence, reason: refusal.reason), request)
        }
    }

    /// Scripts, styles and pictures come only from this server. No other page may frame this one, and browsers must not
    /// sniff types.
    private static let alwaysSaid: [(HTTPField.Name, String)] = [
        (
            .contentSecurityPolicy,
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                + "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
        (.xContentTypeOptions, "nosniff"),
        (.referrerPolicy, "no-referrer"),
        (.crossOriginResourcePolicy, "same-origin"),
    ]
}

extension HTTPField.Name {
    fileprivate static let referrerPolicy = HTTPField.Name.known("Referrer-Policy")
    fileprivate static let crossOriginResourcePolicy = HTTPField.Name.known("Cross-Origin-Resource-Policy")
    fileprivate static let fetchSite = HTTPField.Name.known("Sec-Fetch-Site")
    fileprivate static let fetchMode = HTTPField.Name.known("Sec-Fetch-Mode")

    private static func known(_ name: String) -> HTTPField.Name {
        guard let field = HTTPField.Name(name) else { preconditionFailure("\(name) is not a field name") }
        return field
    }
}

extension DashboardContext {
    /// The local address of a connection from another device. Nil for a connection from this device.
    fileprivate var openedAddress: String? {
        guard let local = channel.localAddress?.ipAddress, local != channel.remoteAddress?.ipAddress else { return nil }
        let address = local.hasPrefix("::ffff:") && local.contains(".") ? String(local.dropFirst(7)) : local
        return DashboardAddress.isLoopback(address) ? nil : address
    }
}

extension Request {
    /// Whether the browser will show the answer as a page. Browsers send `Sec-Fetch-Mode`; older ones accept HTML.
    fileprivate var opensPage: Bool {
        guard method == .get else { return false }
        if let mode = headers[.fetchMode] { return mode == "navigate" }
        return headers[.accept]?.contains("text/html") == true
    }
}

extension Gate.Verdict {
    fileprivate var isDriver: Bool {
        self == .pass(.driver)
    }
}

extension Dashboard.Refusal {
    /// The refusal if guests already use all connections that are not reserved for the driver.
    fileprivate static let busyDoor = Dashboard.Refusal(
        status: 503, message: "Too many guests are using this page right now. Try again in a moment.")
}

extension Gate.Visit {
    fileprivate init(_ request: Request, _ context: DashboardContext, _ cookies: DashboardCookies) {
        self.init(
            method: request.method.rawValue, path: request.uri.path,
            token: request.uri.queryParameters["token"].map(String.init),
            hasInvitation: request.uri.queryParameters["invitation"] != nil, host: request.head.authority,
            origin: request.headers[.origin], fetchSite: request.headers[.fetchSite],
            contentType: request.headers[.contentType],
            contentLength: request.headers[.contentLength].flatMap { Int($0) }, access: cookies.access,
            guestAccess: cookies.guestAccess, session: cookies.session,
            localAddress: context.channel.localAddress?.ipAddress)
    }
}

/// The cookies of a request. Their names contain the port, because a browser sends the cookies of all services on one
/// device to each of them.
struct DashboardCookies: Sendable {
    /// The token of the driver's link, and the token of the guests' link.
    let access: String?
    let guestAccess: String?
    /// A web guest's session.
    let session: String?
    private let port: Int

    init(_ request: Request, _ context: DashboardContext) {
        port = context.channel.localAddress?.port ?? 0
        let cookies = Cookies(from: request.headers[values: .cookie])
        access = cookies["roadmesh-\(port)"]?.value
        guestAccess = cookies["roadmesh-join-\(port)"]?.value
        session = cookies["roadmesh-guest-\(port)"]?.value
    }

    /// Sets the driver's cookie, and deletes the cookie of a guest's link.
    func settingDriver(access: String) -> [String] { [setting(access: access), setting(guestAccess: "")] }

    func setting(guestAccess: String) -> String { setting("roadmesh-join-\(port)", guestAccess) }

    private func setting(access: String) -> String { setting("roadmesh-\(port)", access) }

    func setting(session: String) -> String { setting("roadmesh-guest-\(port)", session) }

    /// The cookies that granted this right, with a renewed lifetime.
    func renewed(for right: Gate.Right) -> [String] {
        switch right {
        case .none: []
        case .driver: [access].compactMap(\.self).filter { !$0.isEmpty }.map { setting(access: $0) }
        case .invited(let session, _):
            [(guestAccess ?? access).map { setting(guestAccess: $0) }, session.map { setting(session: $0) }]
                .compactMap(\.self)
        }
    }

    private func setting(_ name: String, _ value: String) -> String {
        Cookie(
            name: name, value: value, maxAge: value.isEmpty ? 0 : DashboardLimits.cookieSeconds, path: "/",
            httpOnly: true, sameSite: .strict
        ).description
    }
}

extension Response {
    private struct Said: Encodable {
        var message: String
        /// The parts of the sentence for its translation, if it contains values.
        var messageText: LocalizedText?
        var reason: String?
    }

    /// A refusal with a sentence for the person.
    static func refusing(
        _ status: Int, _ message: String, _ messageText: LocalizedText? = nil, reason: String? = nil
    ) -> Response {
        (try? json(Said(message: message, messageText: messageText, reason: reason), status: .init(code: status)))
            ?? Response(status: .init(code: status))
    }

    /// A JSON value of the contract.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try JSONLine.bytes(value))))
    }
}
