// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import NIOPosix
import Subprocess

/// One run of mpv, from its start to its end.
///
/// It is controlled over a pair of sockets, one of which is mpv's standard input. So there is no socket file that
/// another program could open. When this process ends, in any way, the pair breaks and mpv ends too.
struct MPVProcess: Sendable {
    /// How it ended.
    struct End: Sendable {
        /// The cause in words for people, as part of a sentence.
        var how: String
        /// Whether the process could be started.
        var couldStart: Bool
    }

    private typealias Conversation = NIOAsyncChannel<[UInt8], ByteBuffer>

    /// The program and its arguments.
    let command: [String]
    let limits: PlayerLimits
    /// Lines to send to mpv.
    let lines: AsyncStream<[UInt8]>

    /// Runs until mpv ends. Cancelling the task ends mpv. Each line from mpv is passed to `hear`, and the next one is
    /// read when `hear` has returned. `started` gets mpv's process ID.
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
        // mpv ends when the sockets are closed, after it has output its last sound. SIGTERM would cut that sound. A
        // stopped mpv must be resumed to notice the closed sockets.
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
                // This also ends a process that has closed the socket and still runs.
                await execution.teardown(using: end)
            }
            return End(how: Self.text(result.terminationStatus), couldStart: true)
        } catch {
            try? await conversation.channel.close().get()
            throw error
        }
    }

    private func talk(_ conversation: Conversation, _ hear: @escaping @Sendable ([UInt8]) async -> Void) async {
        // An error also ends the conversation. It is ignored, since the exit status of mpv says more.
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
        // Close on exec: another child process that inherited a socket would keep mpv alive.
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
