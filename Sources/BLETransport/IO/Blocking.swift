// SPDX-License-Identifier: Apache-2.0

import Glibc

/// System calls that have no other form than one that blocks.
enum Blocking {
    private final class Work: Sendable {
        let call: @Sendable () -> Int32
        let caller: CheckedContinuation<Int32, Never>

        init(_ call: @escaping @Sendable () -> Int32, _ caller: CheckedContinuation<Int32, Never>) {
            (self.call, self.caller) = (call, caller)
        }
    }

    /// Runs a call on a thread of its own, which ends with it. Where there is none to be had it is -EAGAIN.
    static func run(_ call: @escaping @Sendable () -> Int32) async -> Int32 {
        await withCheckedContinuation { caller in
            let work = Unmanaged.passRetained(Work(call, caller))
            var thread = pthread_t()
            let failure = pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                    work.caller.resume(returning: work.call())
                    return nil
                }, work.toOpaque())
            guard failure == 0 else {
                work.release()
                caller.resume(returning: -failure)
                return
            }
            pthread_detach(thread)
        }
    }
}
