// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import MeshSession

/// The side of a pipe that looks for a listener, and calls it again after each gap.
struct PipeCaller: Sendable {
    let guest: MeshGuest
    let runner: PipeRunner

    /// Runs the session until it ends. Throws if the radio cannot look for the listener, and `MeshCoreError.refused`.
    func run() async throws -> PipeEnd {
        try await guest.executeThenClose { messages in
            let reading = Task { try await read(messages) }
            let end = await runner.run { [guest] in try await guest.send($0) }
            reading.cancel()
            if case .failure(MeshCoreError.refused(let reason)) = await reading.result {
                throw MeshCoreError.refused(reason)
            }
            return end
        }
    }

    private func read(_ messages: AsyncThrowingStream<ReceivedMessage, any Error>) async throws {
        do {
            for try await message in messages { await runner.received(message.body) }
            await runner.otherLeft(isLost: false)
        } catch {
            await runner.otherLeft(isLost: true)
            throw error
        }
    }
}
