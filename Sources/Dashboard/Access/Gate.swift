// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides who may ask what of the dashboard: a request's head goes in, a verdict comes out.
///
/// A page of another site can make a browser send requests here: by a name of its own that it lets point to this device
/// (DNS rebinding), or by forms and pictures (cross-site request forgery). So the Host must be this device's, and
/// whatever changes something must come from a page of ours, as browsers say truthfully.
struct Gate: Sendable {
    /// What of a request's head counts.
    struct Visit: Hashable, Sendable {
        var method: String
        var path: String
        /// The `token` of the query.
        var token: String?
        /// Whether the query has an invitation.
        var hasInvitation = false
        var host: String?
        var origin: String?
        /// `Sec-Fetch-Site`, where the browser says it.
        var fetchSite: String?
        var contentType: String?
        var contentLength: Int?
        /// The driver's cookie, the one that a guest's link sets, and the one of a web guest's session.
        var access: String?
        var guestAccess: String?
        var session: String?
        /// The address of this device that the connection goes to.
        var localAddress: String?
    }

    /// What somebody may do.
    enum Right: Hashable, Sendable {
        /// Read the files of the page.
        case none
        /// Join as a web guest, or go on as the one of this session. `only` is the one guest that may, where the access is
        /// bound to its key.
        case invited(session: String?, only: Peer.ID? = nil)
        /// Everything.
        case driver
    }

    /// Why a request is refused.
    enum Refusal: Hashable, Sendable, CaseIterable {
        case foreignHost, foreignOrigin, otherMethod, notJSON, tooLarge, noToken, wrongToken
        /// Who has no token may type the host's PIN.
        case noPIN
    }

    /// What becomes of a request.
    enum Verdict: Hashable, Sendable {
        case pass(Right)
        /// Keep this in the driver's cookie, and go to the page.
        case enter(access: String)
        /// Keep this in a guest's cookie, and go to the page.
        case enterAsGuest(access: String)
        case refuse(Refusal)
    }

    /// What others must know; the driver's is nil where only programs on this device can reach the dashboard.
    private let driver: String?
    private let guest: String?
    /// Recognises cookies that are bound to one guest.
    private let tokens: DashboardTokens
    /// Whether who has no token may come in with the host's PIN.
    private let takesPIN: Bool
    /// What everybody may read.
    private let files: Set<String>
    /// The names by which this device may be asked, beside the address of the connection.
    private let hosts: Set<String>

    /// A gate for a dashboard that listens at `host`. Without `invites` there is no door for web guests, and with `hasPIN` they
    /// may come in with that as well.
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
        // A tunnel of ssh ends on the loopback under another name.
        hosts = Set(["localhost", "127.0.0.1", "::1", host] + localAddresses)
    }

    /// Judges a request.
    func judge(_ visit: Visit) -> Verdict {
        guard isOurs(visit) else { return .refuse(.foreignHost) }
        switch visit.method {
        case "GET":
            // A link in a message leads from another site to a door.
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

    /// Who has no token may show an invitation, and join with it or with the PIN: the host judges that.
    private func opensDoor(_ visit: Visit) -> Bool {
        guard guest != nil else { return false }
        return visit.method == "POST" ? visit.path == "/api/join" : visit.path == "/join" && visit.hasInvitation
    }

    /// A token is taken at its own door only: a guest's code never opens the driver's.
    private func exchange(_ token: String, _ visit: Visit) -> Verdict? {
        switch visit.path {
        case "/":
            // On this device alone there is nothing to open.
            guard let driver else { return .enter(access: "") }
            return DashboardTokens.areSame(token, driver) ? .enter(access: token) : .refuse(.wrongToken)
        case "/join":
            guard let guest, DashboardTokens.areSame(token, guest) else { return .refuse(.wrongToken) }
            // The driver has no cookie on this device: a link in a message would make a guest of the driver.
            guard driver != nil || !isForeign(visit.fetchSite) else { return .refuse(.foreignOrigin) }
            return .enterAsGuest(access: token)
        default: return nil
        }
    }

    private func right(_ visit: Visit) -> Right {
        // The driver's browser may open a guest's link too, and stays the driver's.
        if let driver, DashboardTokens.areSame(visit.access ?? "", driver) { return .driver }
        // Cookies of earlier versions have one name for both. On this device a browser that has opened a guest's link is a guest.
        let access = visit.guestAccess ?? visit.access ?? ""
        if let guest {
            if DashboardTokens.areSame(access, guest) { return .invited(session: visit.session) }
            if let only = tokens.guest(ofAccess: access) { return .invited(session: visit.session, only: only) }
        }
        return driver == nil ? .driver : .none
    }

    /// The page's files are in the program for everybody to read; what the node knows is not, however its path is
    /// written.
    private func isProtected(_ path: String) -> Bool { !files.contains(path) }

    private func isOurs(_ visit: Visit) -> Bool {
        guard let name = visit.host.flatMap(Self.hostName) else { return false }
        return hosts.contains(name) || visit.localAddress.map(Self.plain) == name
    }

    /// A person may type an address, and a page of ours asks; nobody else does.
    private func isForeign(_ fetchSite: String?) -> Bool {
        guard let fetchSite else { return false }
        return fetchSite != "same-origin" && fetchSite != "none"
    }

    /// `application/json`, with or without parameters.
    private static func isJSON(_ type: String) -> Bool {
        type.prefix { $0 != ";" && $0 != " " }.lowercased() == "application/json"
    }

    /// The name in a Host field, without port and brackets; nil where it is none.
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

    /// A socket for both kinds of address says IPv4 in IPv6.
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

    /// A word for the page, where there is something that it can do about it.
    var reason: String? {
        switch self {
        case .noToken: "token"
        case .noPIN: "pin"
        default: nil
        }
    }

    /// What a person is told.
    var sentence: String {
        switch self {
        case .foreignHost: "This is not the address of this page. Open the address that roadmesh printed."
        case .foreignOrigin: "This request did not come from this page, so nothing was done."
        case .otherMethod: "This page answers GET and POST only."
        case .notJSON: "The body of a request has to be application/json."
        case .tooLarge: "This request is too large, so nothing was done."
        case .noPIN: "Type the PIN that the host shows, or scan the code there."
        case .noToken, .wrongToken:
            "This page needs a new code. Scan the one on the host's screen, or open the address that roadmesh printed."
        }
    }
}
