// SPDX-License-Identifier: Apache-2.0

import CLibCurl
import DemocracyDJ
import FoundationEssentials
import Glibc
import MeshProtocol
import NIOConcurrencyHelpers

/// One GET over HTTP. libcurl performs the request on the thread that calls `perform`. An `ArtworkDownload` decides
/// about the response.
///
/// The request sends no cookies and no credentials, and uses no proxy. It follows no redirects, because the
/// `ArtworkDownload` decides about them.
final class ArtworkRequest: @unchecked Sendable {
    // Only the thread in `perform` uses the variable state. `cancel` sets a flag under a lock and calls clibcurl_wake,
    // which any thread may call.

    private let multi: UnsafeMutableRawPointer
    private let easy: UnsafeMutableRawPointer
    private let fields: UnsafeMutablePointer<curl_slist>?
    private let headLimit: Int
    private let isCancelled = NIOLockedValueBox(false)
    private var download: ArtworkDownload
    private var headBytes = 0
    /// The decision on the head of the response, or an error in the body.
    private var decision: Result<ArtworkDownload.Action, NetworkError>?

    private static let isLibraryReady = clibcurl_load()

    /// Prepares a request for the download's current URL. Throws if there is no memory for it.
    init(_ download: ArtworkDownload, userAgent: String, limits: ArtworkLimits) throws(NetworkError) {
        guard Self.isLibraryReady, let multi = clibcurl_multi_init() else { throw .noMemory }
        guard let easy = clibcurl_easy_init() else {
            clibcurl_multi_cleanup(multi)
            throw .noMemory
        }
        self.multi = multi
        self.easy = easy
        self.download = download
        headLimit = limits.headBytes
        fields = clibcurl_list("Accept: image/jpeg, image/png, image/gif, image/webp")
        let isReady = [
            clibcurl_set_text(easy, CURLOPT_URL, download.url.text),
            clibcurl_set_number(easy, CURLOPT_PATH_AS_IS, 1),
            clibcurl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https"),
            clibcurl_set_number(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
            clibcurl_set_text(easy, CURLOPT_PROXY, ""),
            clibcurl_set_text(easy, CURLOPT_USERAGENT, userAgent),
            clibcurl_set_list(easy, CURLOPT_HTTPHEADER, fields),
            clibcurl_set_number(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(limits.connectTime / .milliseconds(1))),
            // libcurl must not use signals. At the end it must not wait for a hanging resolver, so it leaves the
            // resolver's thread behind.
            clibcurl_set_number(easy, CURLOPT_NOSIGNAL, 1), clibcurl_set_number(easy, CURLOPT_QUICK_EXIT, 1),
            clibcurl_set_reader(easy, CURLOPT_HEADERFUNCTION, Self.headReader),
            clibcurl_set_reader(easy, CURLOPT_WRITEFUNCTION, Self.bodyReader),
        ].allSatisfy { $0 == CURLE_OK }
        guard isReady, fields != nil else { throw .noMemory }
    }

    deinit {
        clibcurl_easy_cleanup(easy)
        clibcurl_multi_cleanup(multi)
        clibcurl_list_free(fields)
    }

    /// Ends `perform` soon. If `perform` has not started, it will send nothing.
    func cancel() {
        isCancelled.withLockedValue { $0 = true }
        clibcurl_wake(multi)
    }

    /// Sends the request and passes the response to the download. It blocks until the end. Call it only once.
    func perform() -> (download: ArtworkDownload, result: Result<ArtworkDownload.Action, NetworkError>) {
        // OpenSSL may write to a closed connection. The resulting signal must not end the program.
        var brokenPipe = sigset_t()
        sigemptyset(&brokenPipe)
        sigaddset(&brokenPipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &brokenPipe, nil)
        let code = transfer()
        switch decision {
        case .success(.follow)?, .failure?: break
        case .success(.read)? where code == CURLE_OK: break
        // libcurl reports no error for a connection that closes within a head.
        case nil where code == CURLE_OK: decision = .failure(NetworkError(curl: CURLE_GOT_NOTHING, errno: 0))
        default:
            decision = .failure(
                NetworkError(curl: code, errno: Int32(truncatingIfNeeded: clibcurl_number(easy, CURLINFO_OS_ERRNO))))
        }
        return (download, decision ?? .success(.read))
    }

    private func transfer() -> CURLcode {
        let context = Unmanaged.passUnretained(self).toOpaque()
        guard clibcurl_set_pointer(easy, CURLOPT_HEADERDATA, context) == CURLE_OK,
            clibcurl_set_pointer(easy, CURLOPT_WRITEDATA, context) == CURLE_OK,
            clibcurl_add(multi, easy)
        else { return CURLE_OUT_OF_MEMORY }
        defer { clibcurl_remove(multi, easy) }
        var running: Int32 = 1
        while !isCancelled.withLockedValue({ $0 }) {
            guard clibcurl_perform(multi, &running) else { return CURLE_OUT_OF_MEMORY }
            guard running > 0 else { break }
            // The call returns when data arrives, at libcurl's own deadlines, and after `cancel`.
            clibcurl_poll(multi, 1_000)
        }
        return clibcurl_result(multi)
    }

    // MARK: The response

    private static let headReader: clibcurl_reader = { bytes, size, count, context in
        read(bytes, size * count, context) { $0.received(headLine: $1) }
    }

    private static let bodyReader: clibcurl_reader = { bytes, size, count, context in
        read(bytes, size * count, context) { $0.received(part: $1) }
    }

    /// Passes bytes from libcurl to the request. A return value smaller than the count ends the transfer.
    private static func read(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
        _ take: (ArtworkRequest, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let bytes, let context else { return 0 }
        let request = Unmanaged<ArtworkRequest>.fromOpaque(context).takeUnretainedValue()
        return take(request, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
    }

    private func received(headLine line: UnsafeRawBufferPointer) -> Bool {
        headBytes += line.count
        guard headBytes <= headLimit else {
            decision = .failure(.invalidResponse)
            return false
        }
        // An empty line ends a head. A head with a status of 1xx is not the last one. Trailers follow the body.
        let status = clibcurl_number(easy, CURLINFO_RESPONSE_CODE)
        guard decision == nil, status >= 200, line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) else { return true }
        let head = ArtworkDownload.Head(
            status: status, contentType: field("Content-Type"),
            contentLength: field("Content-Length").flatMap { Int($0) }, location: field("Location"),
            retryAfter: field("Retry-After"))
        do throws(NetworkError) {
            let action = try download.received(head, date: ArtworkLoader.timeOfDay)
            decision = .success(action)
            return action == .read
        } catch {
            decision = .failure(error)
            return false
        }
    }

    private func received(part: UnsafeRawBufferPointer) -> Bool {
        do throws(NetworkError) {
            try download.received(part)
            return true
        } catch {
            decision = .failure(error)
            return false
        }
    }

    private func field(_ name: String) -> String? {
        clibcurl_field(easy, name).map { String(cString: $0) }
    }
}

extension NetworkError {
    /// Converts libcurl's code, and the system's error if there is one, to an error for a person.
    ///
    /// A server that refuses the connection is reachable, so this is `requestFailed`. `offline` means no network, no
    /// route to the server, or a name that cannot be resolved.
    init(curl code: CURLcode, errno: Int32) {
        switch code {
        case CURLE_URL_MALFORMAT: self = .invalidURL
        case CURLE_COULDNT_RESOLVE_HOST: self = .offline
        case CURLE_COULDNT_CONNECT where Self.noWay.contains(errno): self = .offline
        // Only http and https are used, so `CURLE_UNSUPPORTED_PROTOCOL` means an answer that is not HTTP/1.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: self = .invalidResponse
        default:
            self = .requestFailed(ArtworkProblem.notTransferred(String(cString: clibcurl_error_text(code))))
        }
    }

    private static let noWay: Set<Int32> = [ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL]

    fileprivate static var noMemory: Self { NetworkError(curl: CURLE_OUT_OF_MEMORY, errno: 0) }
}
