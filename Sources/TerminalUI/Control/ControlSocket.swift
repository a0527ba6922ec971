// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import Glibc
import Logging
import MeshNode
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NodeCore
import NodeStore
import ServiceLifecycle

/// The Unix socket of a running host, over which other programs of this device send commands (`roadmesh control`).
///
/// Only the owner of the state folder and root may use it. The file's mode and the kernel's credentials of the peer
/// ensure this, and the client proves that it can read the folder.
package struct ControlSocket: Service {
    private typealias Client = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private let session: ControlSession
    private let place: ControlPlace
    private let logger: Logger

    /// The socket of a host that does not run yet. `run()` creates it.
    package init(
        _ node: Node, _ description: NodeDescription, library: [Song], folder: StateFolder, logger: Logger
    ) throws {
        let key = (0..<ControlLimits.keyBytes).map { _ in UInt8.random(in: 0 ... .max) }
        let text = key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        try folder.keep(text: text, as: ControlPlace.keyName)
        session = ControlSession(node, description, library: library, key: text)
        place = ControlPlace(folder: folder.path)
        self.logger = logger
    }

    /// Answers commands as long as the node runs. If the socket cannot be created, the host runs without it.
    package func run() async throws {
        let serving = Task {
            do {
                try await serve(try place.bind())
            } catch is CancellationError {
            } catch {
                logger.warning("no commands can be sent to this host over \(place.path): \(error)")
            }
        }
        await session.run()
        serving.cancel()
        await serving.value
        unlink(place.path)
    }

    private func serve(_ descriptor: Int32) async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: Int32(ControlLimits.clients))
            .bind(descriptor) { channel in
                channel.eventLoop.makeCompletedFuture { try Client(wrappingChannelSynchronously: channel) }
            }
        try await server.executeThenClose { clients in
            try await withThrowingDiscardingTaskGroup { group in
                let slots = Slots(ControlLimits.clients)
                for try await client in clients {
                    guard slots.take() else {
                        // A channel that is dropped without this call ends the process.
                        try? await client.executeThenClose { _, _ in }
                        continue
                    }
                    group.addTask {
                        await serve(client)
                        slots.give()
                    }
                }
            }
        }
    }

    private func serve(_ client: Client) async {
        // A client that goes away needs no answer.
        try? await client.executeThenClose { inbound, outbound in
            guard await isPermitted(client.channel) else {
                return logger.warning("a control client of another user was refused")
            }
            guard let line = await firstLine(inbound) else { return }
            guard let request = try? JSONDecoder().decode(ControlRequest.self, from: Data(line)) else { return }
            // Answer a command that has begun, even if it ends the node.
            let answering = Task {
                var bytes = Array(try JSONEncoder().encode(await session.answer(request)))
                bytes.append(UInt8(ascii: "\n"))
                try await outbound.write(ByteBuffer(bytes: bytes))
            }
            try await answering.value
        }
    }

    /// The first line that a client sends; nil if it is late or too long.
    private func firstLine(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) async -> [UInt8]? {
        await withTaskGroup(of: [UInt8]?.self) { group in
            group.addTask {
                var bytes: [UInt8] = []
                do {
                    for try await buffer in inbound {
                        bytes += buffer.readableBytesView
                        if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return Array(bytes[..<end]) }
                        if bytes.count > ControlLimits.requestBytes { return nil }
                    }
                } catch {}
                return nil
            }
            group.addTask {
                try? await Task.sleep(for: ControlLimits.requestTime)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    /// Whether the process at the other end runs as this user or as root, according to the kernel.
    private func isPermitted(_ channel: any Channel) async -> Bool {
        guard let options = channel as? any SocketOptionProvider else { return false }
        let peer: EventLoopFuture<PeerCredentials> = options.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
        guard let user = try? await peer.get().user else { return false }
        return user == geteuid() || user == 0
    }
}

/// `struct ucred` of unix(7): the kernel's credentials of the process at the other end.
private struct PeerCredentials: Sendable {
    var process: Int32 = 0
    var user: UInt32 = 0
    var group: UInt32 = 0
}

/// Counts the free slots for clients.
private final class Slots: Sendable {
    private let free: NIOLockedValueBox<Int>

    init(_ count: Int) { free = NIOLockedValueBox(count) }

    func take() -> Bool {
        free.withLockedValue { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    func give() { free.withLockedValue { $0 += 1 } }
}
