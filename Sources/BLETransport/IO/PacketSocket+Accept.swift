// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging

extension PacketSocket {
    /// The next caller of a listening socket, or nil when the socket or the task has ended. `accept` returns a descriptor
    /// or a negative errno; who asks owns the descriptor.
    func nextCaller(logger: Logger, _ accept: (Int32) -> Int) async -> Int32? {
        while !Task.isCancelled {
            let descriptor: Int
            do {
                descriptor = try await perform(.readable, accept)
            } catch {
                return nil
            }
            if descriptor >= 0 { return Int32(descriptor) }
            // A caller that is gone before it was accepted is no reason not to take the next. One that finds us out of
            // descriptors has to wait until some links have ended.
            logger.warning("a caller could not be accepted: \(SystemError.text(Int32(-descriptor)))")
            try? await Task.sleep(for: RadioLimits.acceptPause)
        }
        return nil
    }
}
