// SPDX-License-Identifier: Apache-2.0

import Bearers
import Glibc
import MeshProtocol

/// A link between two nodes: one packet of a Unix socket for each SDU.
final class FolderChannel: BearerChannel {
    let endpoint: BearerEndpoint
    let sendMTU = Limits.sduBytes

    private let socket: UnixSocket

    init(_ socket: UnixSocket, endpoint: BearerEndpoint) {
        self.socket = socket
        self.endpoint = endpoint
    }

    deinit { close() }

    func send(_ sdu: [UInt8]) async throws(BearerError) {
        while try !sendAtOnce(sdu) {
            await socket.wait(until: .writable)
            if Task.isCancelled { throw BearerError(.cancelled) }
        }
    }

    func sendAtOnce(_ sdu: [UInt8]) throws(BearerError) -> Bool {
        guard (1...sendMTU).contains(sdu.count) else { throw BearerError(.tooLarge, "\(sdu.count) bytes") }
        if socket.isClosed { throw BearerError(.closed) }
        switch socket.send(sdu) {
        case 0: return true
        case EAGAIN, EINTR: return false
        case let code: throw BearerError(.channelLost, UnixSocket.text(code))
        }
    }

    func receive() async throws(BearerError) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: Limits.sduBytes)
        while true {
            let count = socket.receive(into: &buffer)
            if socket.isClosed { throw BearerError(.closed) }
            switch count {
            case 0: return nil
            case 1...buffer.count: return Array(buffer.prefix(count))
            case -Int(EAGAIN), -Int(EINTR): await socket.wait(until: .readable)
            case ..<0: throw BearerError(.channelLost, UnixSocket.text(Int32(-count)))
            // Another program may send anything.
            default: throw BearerError(.channelLost, "a packet of \(count) bytes")
            }
            if Task.isCancelled { throw BearerError(.cancelled) }
        }
    }

    func signalStrength() async -> Int? { nil }

    func close() { socket.close() }
}
