// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import DemocracyDJ
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix

extension NetworkError {
    /// What an error of the HTTP client means for a person.
    ///
    /// A server that refuses the connection can be reached, so that is `requestFailed`; `offline` is no network, no way
    /// to the server, and a name that nobody can tell the address of.
    init(transport error: any Error) {
        switch error {
        case let error as NetworkError: self = error
        case let error as HTTPClientError where error == .invalidURL || error == .emptyHost: self = .invalidURL
        // The body was cut off, which is the link's doing and not the server's.
        case let error as HTTPParserError where error == .invalidEOFState: self = .requestFailed(error)
        case is HTTPParserError: self = .invalidResponse
        case _ where Self.isOffline(error): self = .offline
        default: self = .requestFailed(error)
        }
    }

    private static func isOffline(_ error: any Error) -> Bool {
        switch error {
        case let error as IOError:
            [ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL].contains(error.errnoCode)
        case is SocketAddressError.UnknownHost: true
        case let error as NIOConnectionError:
            error.connectionErrors.isEmpty
                ? error.dnsAError != nil || error.dnsAAAAError != nil
                : error.connectionErrors.allSatisfy { isOffline($0.error) }
        default: false
        }
    }
}
