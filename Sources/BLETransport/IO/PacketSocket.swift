// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import Glibc

/// A non-blocking packet socket with one owner: reads and writes suspend instead of blocking, and a socket that was
/// closed is never touched again, whoever still holds it.
final class PacketSocket: Sendable {
    private let poller: Poller
    /// The descriptor, nil once closed. System calls run under the lock; none of them blocks.
    private let descriptor: NIOLockedValueBox<Int32?>

    /// Takes over a descriptor.
    init(_ descriptor: Int32, poller: Poller) {
        self.poller = poller
        self.descriptor = NIOLockedValueBox(descriptor)
    }

    deinit { close() }

    /// Runs a system call, again each time the socket is ready, until it says something else than "try again".
    /// The call returns its result, or a negative errno.
    func perform(_ interest: Poller.Interest, _ call: (Int32) -> Int) async throws(RadioError) -> Int {
        while true {
            switch try attempt(call) {
            case -Int(EAGAIN): try await wait(for: interest)
            case -Int(EINTR): continue
            case let result: return result
            }
        }
    }

    /// Suspends until the socket is ready, or broken, which the next call on it will tell.
    func wait(for interest: Poller.Interest) async throws(RadioError) {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                // Registered under the lock: the descriptor cannot be closed, and its number not be another's, before.
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
    func attempt(_ call: (Int32) -> Int) throws(RadioError) -> Int {
        guard let result = descriptor.withLockedValue({ $0.map(call) }) else { throw RadioError(.closed) }
        return result
    }

    /// Gives the open descriptor to the caller, who owns it from now on. Nil once closed.
    func surrender() -> Int32? {
        descriptor.withLockedValue { descriptor in
            defer { descriptor = nil }
            if let descriptor { poller.forget(descriptor) }
            return descriptor
        }
    }

    /// Closes the socket and ends whatever waits on it.
    func close() {
        descriptor.withLockedValue { descriptor in
            guard let open = descriptor else { return }
            descriptor = nil
            // Forgotten under the lock, so that the number cannot be another socket's by then.
            poller.forget(open)
            Glibc.close(open)
        }
    }
}
