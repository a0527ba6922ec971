// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// A thread for work that waits for a disk, one job at a time. A stick that takes seconds per file blocks only the
/// caller.
struct FileWorker: Sendable {
    private let queue: DispatchQueue

    init(_ label: String) {
        queue = DispatchQueue(label: label, qos: .utility)
    }

    /// Runs a job later, without waiting for it.
    func start(_ work: @escaping @Sendable () -> Void) { queue.async { work() } }

    /// Runs a job after the earlier ones, and waits for it.
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
