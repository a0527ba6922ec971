// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// A thread of its own for what waits for a disk, one thing after the other: a stick that takes seconds for a file
/// holds up only the caller.
struct FileWorker: Sendable {
    private let queue: DispatchQueue

    init(_ label: String) {
        queue = DispatchQueue(label: label, qos: .utility)
    }

    /// Runs something later, without waiting for it.
    func start(_ work: @escaping @Sendable () -> Void) { queue.async { work() } }

    /// Runs something, after what was asked for before.
    func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            queue.async {
                do throws(Failure) {
                    continuation.resume(returning: .success(try work()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}
