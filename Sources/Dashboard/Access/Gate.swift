// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides from the head of a request to the dashboard whether the request is allowed.
///
/// A page of another site can make a browser send requests to the dashboard. It can use a domain name that it points at
/// this device (DNS rebinding), or forms and pictures (cross-site request forgery). So the Host field must name this
/// device, and a request that changes something must come from one of our pages. Browsers report both facts truthfully.
struct Gate: Sendable {
    /// The parts of a request's head that matter for the verdict.
    struct Visit: Hashable, Sendable {
        var method: String
        var path: String
        /// The `token` of the query.
        var token: String?
        /// Whether the query contains an invitation.
        var hasInvitation = false
        var host: String?
        var origin: String?
        /// `Sec-Fetch-Site`, if the browser sends it.
        var fetchSite: String?
        var contentType: String?
        var contentLength: Int?
        /// The driver's cookie, the cookie from a guest's link, and the cookie of a web guest's session.
        var access: String?
        var guestAccess: String?
        var session: String?
        /// The local address of the connection.
        var localAddress: String?
    }

    /// The rights that a request can have.
    enum Right: Hashable, Sendable {
        /// Read the files of the page.
        case none
        /// Join as a web guest, or continue this session. If the access token is bound to a key, `only` is the guest
        /// that may use it.
        case invited(session: String?, only: Peer.ID? = nil)
        /// All rights.
        case driver
    }

    /// Why a request is refused.
    enum Refusal: Hashable, Sendable, CaseIterable {
        case foreignHost, foreignOrigin, otherMethod, notJSON, tooLarge, noToken, wrongToken
        /// The request has no token, but the guest may type the host's PIN.
        case noPIN
    }

    /// How the dashboard handles a request.
    enum Verdict: Hashable, Sendable {
        case pass(Right)
        /// Set the driver's cookie to this and redirect to the page.
        case enter(access: String)
        /// Set a guest's cookie to this and redirect to the page.
        case enterAsGuest(access: String)
        case refuse(Refusal)
    }

    /// The tokens that other devices need. `driver` is nil if only programs on this device can open the dashboard.
    private let driver: String?
    private let guest: String?
    /// Verifies cookies that are bound to one guest.
    private let tokens: DashboardTokens
    /// Whether a guest without a token can join with the host's PIN.
    private let takesPIN: Bool
    /// Paths that need no right.
    private let files: Set<String>
    /// The names of this device that the Host field may have, in addition to the local address of the connection.
    private let hosts: Set<String>

    /// Creates a gate for a dashboard that listens at `host`. Without `invites` web guests cannot join. With `hasPIN`
    /// they can also join with the host's PIN.
    init(
        host: String, tokens: DashboardTokens, invites: Bool, hasPIN: Bool = false, localAddresses: [String] = [],
        files: Set<String> = Set(PageFiles.all.map(\.path))
    ) {
        self.files = files
        let isLoopback = DashboardAddress.isLoopback(host)
        driver = isLoopback ? nil : tokens.driver
        guest = invites ? tokens.guest : nil
        self.tokens = tokens
        takesPIN = invites && hasPIN
        // A request through an ssh tunnel arrives at the loopback address, with another name in its Host field.
        hosts = Set(["localhost", "127.0.0.1", "::1", host] + localAddresses)
    }

    /// Judges a request.
    func judge(_ visit: Visit) -> Verdict {
        guard isOurs(visit) else { return .refuse(.foreignHost) }
        switch visit.method {
        case "GET":
            // A link in a message is a cross-site request to one of the paths that exchange a token.
            if let token = visit.token, let verdict = exchange(token, visit) { return verdict }
            if isProtected(visit.path), isForeign(visit.fetchSite) { return .refuse(.foreignOrigin) }
        case "POST":
            guard visit.origin == visit.host.map({ "http://" + $0 }), visit.origin != nil, !isForeign(visit.fetchSite)
            else { return .refuse(.foreignOrigin) }
            guard let type = visit.contentType, Self.isJSON(type) else { return .refuse(.notJSON) }
            if let length = visit.contentLength, length > DashboardLimits.bodyBytes { return .refuse(.tooLarge) }
        default: return .refuse(.otherMethod)
        }
        let right = right(visit)
        guard right == .none, isProtected(visit.path), !opensDoor(visit) else { return .pass(right) }
        return .refuse(takesPIN ? .noPIN : .noToken)
    }

    /// Whether a guest without a token may open this path, to join with an invitation or with the PIN. The host
    /// verifies both.
    private func opensDoor(_ visit: Visit) -> Bool {
        guard guest != nil else { return false }
        return visit.method == "POST" ? visit.path == "/api/join" : visit.path == "/join" && visit.hasInvitation
    }

    /// Accepts a token only at its own path: a guest's token never grants the driver's right.
    private func exchange(_ token: String, _ visit: Visit) -> Verdict? {
        switch visit.path {
        case "/":
            // On the loopback address the driver needs no token.
            guard let driver else { return .enter(access: "") }
            return DashboardTokens.areSame(token, driver) ? .enter(access: token) : .refuse(.wrongToken)
        case "/join":
            guard let guest, DashboardTokens.areSame(token, guest) else { return .refuse(.wrongToken) }
            // The driver has no cookie on the loopback address. Without this check a link in a message would turn the
            // driver's browser into a guest.
            guard driver != nil || !isForeign(visit.fetchSite) else { return .refuse(.foreignOrigin) }
            return .enterAsGuest(access: token)
        default: return nil
        }
    }

    private func right(_ visit: Visit) -> Right {
        // The driver's browser may also have opened a guest's link. It keeps the driver's right.
        if let driver, DashboardTokens.areSame(visit.access ?? "", driver) { return .driver }
        // Earlier versions used one cookie name for the driver and for guests. On this device, a browser that has
        // opened a guest's link is a guest.
        let access = visit.guestAccess ?? visit.access ?? ""
        if let guest {
            if DashboardTokens.areSame(access, guest) { return .invited(session: visit.session) }
            if let only = tokens.guest(ofAccess: access) { return .invited(session: visit.session, only: only) }
        }
        return driver == nil ? .driver : .none
    }

    /// Only the page's files are public, because they are part of the program. All other paths are protected, whatever
    /// their spelling.
    private func isProtected(_ path: String) -> Bool { !files.contains(path) }

    private func isOurs(_ visit: Visit) -> Bool {
        guard let name = visit.host.flatMap(Self.hostName) else { return false }
        return hosts.contains(name) || visit.localAddress.map(Self.plain) == name
    }

    /// Requests of our own page, and of a person who types an address, are not foreign.
    private func isForeign(_ fetchSite: String?) -> Bool {
        guard let fetchSite else { return false }
        return fetchSite != "same-origin" && fetchSite != "none"
    }

    /// `application/json`, with or without parameters.
    private static func isJSON(_ type: String) -> Bool {
        type.prefix { $0 != ";" && $0 != " " }.lowercased() == "application/json"
    }

    /// The name in a Host field, without port and brackets. Nil if the field is malformed.
    static func hostName(_ host: String) -> String? {
        let host = host.lowercased()
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return nil }
            let rest = host[host.index(after: end)...]
            return isPort(rest) ? plain(String(host[host.index(after: host.startIndex)..<end])) : nil
        }
        let name = host.prefix { $0 != ":" }
        return isPort(host[name.endIndex...]) && !name.isEmpty ? String(name) : nil
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.isEmpty || (text.first == ":" && text.dropFirst().allSatisfy { $0.isASCII && $0.isNumber })
    }

    /// A dual-stack socket reports IPv4 addresses as IPv4-mapped IPv6.
    private static func plain(_ address: String) -> String {
        address.hasPrefix("::ffff:") && address.contains(".") ? String(address.dropFirst(7)) : address
    }
}

extension Gate.Refusal {
    /// The status code of the answer.
    var status: Int {
        switch self {
        case .foreignHost: 421
        case .foreignOrigin: 403
        case .otherMethod: 405
        case .notJSON: 415
        case .tooLarge: 413
        case .noToken, .wrongToken, .noPIN: 401
        }
    }

    /// A code for the page, if the page can do something about the refusal.
    var reason: String? {
        switch self {
        case .noToken: "token"
        case .noPIN: "pin"
        default: nil
        }
    }

    /// The sentence that the person sees.
    var sentence: String {
        switch self {
        case .foreignHost: "This is not the address of this page. Open the address that roadmesh printed."
        case .foreignOrigin: "This request did not come from this page, so nothing was done."
        case .otherMethod: "This page answers GET and POST only."
        case .notJSON: "The body of a request must be application/json."
        case .tooLarge: "This request is too large, so nothing was done."
        case .noPIN: "Type the PIN that the host shows, or scan the code there."
        case .noToken, .wrongToken:
            "This page needs a new code. Scan the one on the host's screen, or open the address that roadmesh printed."
        }
    }
}
