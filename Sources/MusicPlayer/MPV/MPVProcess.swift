// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import NIOPosix
import Subprocess

/// One run of mpv, from its start to its end.
///
/// It is spoken to over a pair of sockets, of which it has one as its standard input: there is no socket file that
/// somebody else could speak to, and when this process ends, in whatever way, the pair is broken and mpv ends too.
struct MPVProcess: Sendable {
    /// How it ended.
    struct End: Sendable {
        /// In words for a person, as part of a sentence.
        var how: String
        /// Whether there was a process at all.
        var couldStart: Bool
    }

    private typealias Conversation = NIOAsyncChannel<[UInt8], ByteBuffer>

    /// The program and its arguments.
    let command: [String]
    let limits: PlayerLimits
    /// Lines to send.
    let lines: AsyncStream<[UInt8]>

    /// Runs until mpv ends; it is ended when the task is cancelled. What it says goes to `hear`, line by line, and is
    /// not read any faster than that; its process identifier goes to `started`.
    func run(
        started: @escaping @Sendable (Int32) async -> Void, hear: @escaping @Sendable ([UInt8]) async -> Void
    ) async -> End {
        do {
            let (ours, theirs) = try socketPair()
            let conversation: Conversation
            do {
                conversation = try await open(ours)
            } catch {
                close(theirs)
                throw error
            }
            return try await converse(conversation, theirs, started, hear)
        } catch {
            return End(how: "\(error)", couldStart: false)
        }
    }

    private func converse(
        _ conversation: Conversation, _ theirs: Int32,
        _ started: @escaping @Sendable (Int32) async -> Void, _ hear: @escaping @Sendable ([UInt8]) async -> Void
    ) async throws -> End {
        // mpv ends by itself when the sockets are closed, and gives away its last sound, which SIGTERM would forestall.
        // One that was stopped has to go on to notice.
        let end: [TeardownStep] = [.send(signal: .resume, allowedDurationToNextStep: limits.endTime)]
        var options = PlatformOptions()
        options.teardownSequence = end
        do {
            let result = try await Subprocess.run(
                .path(.init(command[0])), arguments: Arguments(Array(command.dropFirst())), platformOptions: options,
                input: .fileDescriptor(.init(rawValue: theirs), closeAfterSpawningProcess: true), output: .discarded,
                error: .discarded
            ) { execution in
                await started(execution.processIdentifier.value)
                await talk(conversation, hear)
                // Also a process that has closed the socket and goes on.
                await execution.teardown(using: end)
            }
            return End(how: Self.text(result.terminationStatus), couldStart: true)
        } catch {
            try? await conversation.channel.close().get()
            throw error
        }
    }

    private func talk(_ conversation: Conversation, _ hear: @escaping @Sendable ([UInt8]) async -> Void) async {
        // An error is the end of the conversation as well: the process's end says more.
        try? await conversation.executeThenClose { inbound, outbound in
            await withTaskGroup { group in
                group.addTask {
                    for await line in lines {
                        do { try await outbound.write(ByteBuffer(bytes: line)) } catch { return }
                    }
                }
                do {
                    for try await line in inbound { await hear(line) }
                } catch {}
                group.cancelAll()
            }
        }
    }

    private func open(_ descriptor: Int32) async throws -> Conversation {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .withConnectedSocket(descriptor) { [limit = limits.lineBytes] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        ByteToMessageHandler(MPVLines(limit: limit)))
                    return try Conversation(wrappingChannelSynchronously: channel)
                }
            }
    }

    private func socketPair() throws -> (ours: Int32, theirs: Int32) {
        var pair: [Int32] = [-1, -1]
        // Closed on exec: a child of somebody else's that had one of them would keep mpv alive.
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { throw IOError(errnoCode: errno, reason: "socketpair") }
        return (pair[0], pair[1])
    }

    private static func text(_ status: TerminationStatus) -> String {
        switch status {
        case .exited(let code): "exit code \(code)"
        case .signaled(let signal): "signal \(signal)"
        }
    }
}
