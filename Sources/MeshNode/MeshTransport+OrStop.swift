// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

extension MeshTransport {
    /// Starts something; where that fails, nothing of the transport is left running.
    func orStop(_ start: (Self) async throws -> Void) async throws {
        do {
            try await start(self)
        } catch {
            await stop()
            throw error
        }
    }
}
