// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import HTTPTypes
import Hummingbird
import MeshProtocol
import NIOCore
import NodeCore

/// The dashboard's answers by path, as `docs/dashboard.md` specifies them. The gate has admitted the request.
struct DashboardRoutes {
    /// The media type of server-sent events (HTML standard, 9.2).
    static let eventStream = "text/event-stream"

    /// The routes.
    let responder: RouterResponder<DashboardContext>

    init(_ dashboard: Dashboard) {
        let router = Router(context: DashboardContext.self)
        for file in PageFiles.all {
            router.get(RouterPath(file.path)) { request, _ in Self.file(file, request) }
        }
        // The page shows the invitation. A guest who has joined already gets its usual page.
        router.get("/join") { request, _ in
            request.uri.queryParameters["invitation"] == nil
                ? Response(status: .seeOther, headers: [.location: "/"]) : Self.page(status: .ok)
        }
        router.get("/events") { request, context in try await Self.events(dashboard, request, context) }
        router.get("/invitation.svg") { _, context in try await Self.invitation(dashboard, context) }
        router.get("/invitations/:name") { _, context in try await Self.given(dashboard, context) }
        router.get("/wifi.svg") { _, context in
            try Self.code(context.right == .driver ? dashboard.options.wifi?.code : nil)
        }
        router.get("/api/search") { request, context in try await Self.search(dashboard, request, context) }
        let pictures = PicturePlaces()
        router.get("/art/:song") { request, context in try await Self.picture(dashboard, pictures, request, context) }
        router.post("/api/command") { request, context in try await Self.command(dashboard, request, context) }
        router.post("/api/join") { request, context in try await Self.join(dashboard, request, context) }
        router.get("/**") { _, _ -> Response in throw Dashboard.Refusal.nothingHere }
        router.post("/**") { _, _ -> Response in throw Dashboard.Refusal.nothingHere }
        responder = router.buildResponder()
    }

    // MARK: Files and pictures

    private static func file(_ file: PageFiles.File, _ request: Request) -> Response {
        // With a long `max-age` the page opens even while this device is out of reach. `fresh.js` checks whether there
        // is a newer page.
        answer(
            ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes)), file.mediaType,
            file.path == PageFiles.index.path ? PageFiles.indexTag : file.entityTag,
            cacheControl: "max-age=\(DashboardLimits.pageSeconds)", to: request)
    }

    /// The page itself, in answer to a request for another path.
    static func page(status: HTTPResponse.Status) -> Response {
        let file = PageFiles.index
        return Response(
            status: status, headers: [.contentType: file.mediaType],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes)))
    }

    private static func invitation(_ dashboard: Dashboard, _ context: DashboardContext) async throws -> Response {
        try code(context.right == .driver ? await dashboard.view.surroundings.invitation?.url : nil)
    }

    /// The QR code of an invitation that the person has created.
    private static func given(_ dashboard: Dashboard, _ context: DashboardContext) async throws -> Response {
        let name = context.parameters.get("name") ?? ""
        let open = context.right == .driver ? await dashboard.view.invitations : []
        return try code(open.first { $0.pictureName == name }?.picture)
    }

    private static func code(_ text: String?) throws -> Response {
        guard let picture = text.flatMap({ QRCode.svg($0) }) else {
            throw Dashboard.Refusal(status: 404, message: "Guests cannot join this host with a browser.")
        }
        return Response(
            status: .ok, headers: [.contentType: "image/svg+xml"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: picture)))
    }

    private static func picture(
        _ dashboard: Dashboard, _ pictures: PicturePlaces, _ request: Request, _ context: DashboardContext
    ) async throws -> Response {
        guard let songID = context.parameters.get("song").flatMap({ PercentCoding.decoded($0) }) else {
            throw Dashboard.Refusal(status: 404, message: "There is no such song.")
        }
        guard let viewer = await dashboard.viewer(context.right) else { throw Dashboard.Refusal.notJoined }
        guard let place = await pictures.of(viewer).place(until: context.channel.closeFuture) else {
            throw Dashboard.Refusal(status: 503, message: "Many covers are being sent. Try again in a moment.")
        }
        guard let picture = await dashboard.picture(of: songID) else {
            throw Dashboard.Refusal(status: 404, message: "This song has no cover.")
        }
        return answer(
            picture.body(place, on: context.channel.eventLoop), picture.mediaType, PageFiles.entityTag(picture.bytes),
            cacheControl: "private, max-age=\(DashboardLimits.pictureSeconds)", to: request)
    }

    private static func answer(
        _ body: @autoclosure () -> ResponseBody, _ mediaType: String, _ entityTag: String, cacheControl: String,
        to request: Request
    ) -> Response {
        let headers: HTTPFields = [.eTag: entityTag, .cacheControl: cacheControl]
        if request.headers[.ifNoneMatch] == entityTag { return Response(status: .notModified, headers: headers) }
        var response = Response(status: .ok, headers: headers, body: body())
        response.headers[.contentType] = mediaType
        return response
    }

    // MARK: The view

    private static func events(
        _ dashboard: Dashboard, _ request: Request, _ context: DashboardContext
    ) async throws -> Response {
        guard let viewer = await dashboard.viewer(context.right) else { throw Dashboard.Refusal.notJoined }
        let (id, signals) = try await dashboard.openStream(viewer, from: context.address)
        // This also closes the stream if the connection ends before the first byte is written.
        context.channel.closeFuture.whenComplete { _ in Task { await dashboard.closeStream(id) } }
        let body = ResponseBody { writer in
            try await writer.write(ByteBuffer(string: "retry: 1000\n\n"))
            for await _ in signals {
                guard try await send(dashboard, id, to: &writer) else { break }
            }
            await dashboard.closeStream(id)
            try await writer.finish(nil)
        }
        var response = Response(status: .ok, headers: [.contentType: eventStream], body: body)
        // Each visit restarts the cookies' lifetime, so a frequent visitor keeps them.
        for cookie in DashboardCookies(request, context).renewed(for: context.right) {
            response.headers[values: .setCookie].append(cookie)
        }
        return response
    }

    /// Writes the next frame, if one is due. False if no frame follows.
    private static func send(
        _ dashboard: Dashboard, _ id: ViewStreams.ID, to writer: inout any ResponseBodyWriter
    ) async throws -> Bool {
        switch try await dashboard.frame(id) {
        case .view(let frame):
            try await writer.write(frame)
            try await dashboard.pause(await dashboard.viewPause(id))
        case .ping: try await writer.write(ByteBuffer(string: ": ping\n\n"))
        case .lastView(let frame):
            try await writer.write(frame)
            return false
        case .end: return false
        case nil: break
        }
        return true
    }

    // MARK: Requests

    private static func search(
        _ dashboard: Dashboard, _ request: Request, _ context: DashboardContext
    ) async throws -> Response {
        guard let viewer = await dashboard.viewer(context.right) else { throw Dashboard.Refusal.notJoined }
        func field(_ name: String) -> String? { PercentCoding.field(name, of: request.uri.query) }
        guard let shelf = SongQuery.Shelf(rawValue: field("shelf") ?? "words"),
            let from = Int(field("from") ?? "0"), (0...DJLimits.browsedSongs).contains(from)
        else { throw Dashboard.Refusal.malformed }
        let query = SongQuery(field("q") ?? "", on: shelf, from: from)
        switch try await dashboard.search(query, by: viewer, from: context.address) {
        case .found(let found): return try .json(found)
        case .notConnected:
            throw Dashboard.Refusal(
                status: 503, message: "No connection to the host. Your search continues when it is back.")
        case .overtaken:
            throw Dashboard.Refusal(status: 503, message: "A newer search has replaced this one.")
        case .noAnswer:
            throw Dashboard.Refusal(status: 504, message: "The host does not answer. Try again in a moment.")
        }
    }

    private static func command(
        _ dashboard: Dashboard, _ request: Request, _ context: DashboardContext
    ) async throws -> Response {
        guard let viewer = await dashboard.viewer(context.right) else { throw Dashboard.Refusal.notJoined }
        let command = try await body(PageRequest.self, of: request)
        try await dashboard.follow(command, by: viewer, from: context.address)
        return Response(status: .noContent)
    }

    private static func join(
        _ dashboard: Dashboard, _ request: Request, _ context: DashboardContext
    ) async throws -> Response {
        guard context.right != .driver else {
            throw Dashboard.Refusal(
                status: 403, message: "Joining needs an invitation. Scan the code on the host's screen.")
        }
        let wanted = try await body(Dashboard.JoinRequest.self, of: request)
        let joined = try await dashboard.join(wanted, context.right, from: context.address)
        let cookies = DashboardCookies(request, context)
        var response = Response(status: .noContent)
        // A guest that joined with an invitation or a PIN gets an access token for its own key only.
        let access = joined.access.map { [cookies.setting(guestAccess: $0)] } ?? []
        response.headers[values: .setCookie] = access + [cookies.setting(session: joined.session)]
        return response
    }

    private static func body<Value: Decodable & Sendable>(
        _ type: Value.Type, of request: Request
    ) async throws -> Value {
        let bytes: ByteBuffer
        do {
            bytes = try await request.body.collect(upTo: DashboardLimits.bodyBytes)
        } catch is NIOTooManyBytesError {
            throw Dashboard.Refusal(status: 413, message: Gate.Refusal.tooLarge.sentence)
        }
        guard let value = try? JSONDecoder().decode(type, from: Data(bytes.readableBytesView)) else {
            throw Dashboard.Refusal.malformed
        }
        return value
    }
}
