// SPDX-License-Identifier: Apache-2.0

import CLibCurl
import DemocracyDJ
import Glibc

extension NetworkError {
    /// What the end of a transfer means for a person: libcurl's code, and the system's where there was one.
    ///
    /// A server that refuses the connection can be reached, so that is `requestFailed`; `offline` is no network, no way
    /// to the server, and a name that nobody can tell the address of.
    init(curl code: CURLcode, errno: Int32) {
        switch code {
        case CURLE_URL_MALFORMAT: self = .invalidURL
        case CURLE_COULDNT_RESOLVE_HOST: self = .offline
        case CURLE_COULDNT_CONNECT where Self.noWay.contains(errno): self = .offline
        // Only http and https are asked for, so the first is an answer that is no HTTP/1.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: self = .invalidResponse
        default:
            self = .requestFailed(ArtworkProblem.notTransferred(String(cString: curl_easy_strerror(code))))
        }
    }

    private static let noWay: Set<Int32> = [ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL]
}
