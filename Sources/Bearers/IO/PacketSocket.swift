// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import Glibc
import Logging

/// A non-blocking packet socket with one owner. Reads and writes suspend instead of blocking. A closed socket is never
/// touched again, even by code that still holds it.
package final class PacketSocket: Sendable {
    private let poller: Poller
    /// The descriptor, nil once closed. System calls run under the lock, and none of them blocks.
    private let descriptor: NIOLockedValueBox<Int32?>

    /// Takes ownership of a descriptor.
    package init(_ descriptor: Int32, poller: Poller) {
        self.poller = poller
        self.descriptor = NIOLockedValueBox(descriptor)
    }

    deinit { close() }

    /// Runs a system call, and repeats it each time the socket is ready, until it returns something other than "try
    /// again". The call returns its result, or a negative errno.
    package func perform(_ interest: Poller.Interest, _ call: (Int32) -> Int) async throws(BearerError) -> Int {
        while true {
            switch try attempt(call) {
            case -Int(EAGAIN): try await wait(for: interest)
            case -Int(EINTR): continue
            case let result: return result
            }
        }
    }

    /// Suspends until the socket is ready or broken. The next call on it shows which.
    package func wait(for interest: Poller.Interest) async throws(BearerError) {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                // The wait is registered under the lock: until then the descriptor cannot be closed, and its number
                // cannot be reused.
                descriptor.withLockedValue { descriptor in
                    if let descriptor {
                        poller.add(waiter, for: interest, on: descriptor)
                    } else {
                        waiter.resume(returning: .failure(Poller.Interruption.forgotten))
                    }
                }
            }
        } onCancel: {
            descriptor.withLockedValue { descriptor in
                if let descriptor { poller.cancel(interest, on: descriptor) }
            }
        }
        if case .failure(let interruption) = outcome { throw interruption.radioError }
    }

    /// Runs a system call once.
    package func attempt(_ call: (Int32) -> Int) throws(BearerError) -> Int {
        guard let result = descriptor.withLockedValue({ $0.map(call) }) else { throw BearerError(.closed) }
        return result
    }

    /// Reads one packet. `result` is its length, even if that exceeds `capacity`, or a negative errno.
    package func receive(atMost capacity: Int) async throws(BearerError) -> (result: Int, bytes: [UInt8]) {
        var bytes: [UInt8] = []
        let result = try await perform(.readable) { descriptor in
            var count = 0
            bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, initialized in
                count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_TRUNC))
                initialized = min(max(count, 0), capacity)
            }
            return count < 0 ? -Int(errno) : count
        }
        return (result, bytes)
    }

    /// The next connection to a listening socket. Nil when the socket or the task has ended. `accept` returns a
    /// descriptor or a negative errno. The caller owns the descriptor.
    package func nextCaller(logger: Logger, _ accept: (Int32) -> Int) async -> Int32? {
        while !Task.isCancelled {
            let descriptor: Int
            do {
                descriptor = try await perform(.readable, accept)
            } catch {
                return nil
            }
            if descriptor >= 0 { return Int32(descriptor) }
            // A peer that left before it was accepted must not stop the loop. Without free descriptors, the next peer
            // has to wait until some links have ended.
            logger.warning("a caller could not be accepted: \(SystemError.text(Int32(-descriptor)))")
            try? await Task.sleep(for: BearerLimits.acceptPause)
        }
        return nil
    }

    /// Gives the open descriptor to the caller, which then owns it. Nil once closed.
    package func surrender() -> Int32? {
        descriptor.withLockedValue { descriptor in
            defer { descriptor = nil }
            if let descriptor { poller.forget(descriptor) }
            return descriptor
        }
    }

    /// Closes the socket and ends all waits on it.
    package func close() {
        descriptor.withLockedValue { descriptor in
            guard let open = descriptor else { return }
            descriptor = nil
            // The poller forgets the descriptor under the lock, while no other socket can have its number.
            poller.forget(open)
            Glibc.close(open)
        }
    }
}
