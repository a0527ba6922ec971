// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A value behind a lock. Held for a few instructions or one system call that does not block, never across an `await`.
///
/// It is a pthread mutex and not the standard library's `Mutex`, because the thread sanitizer knows the former alone
/// (Swift 6.3 on Linux) and takes every use of the latter for a race.
///
/// `@unchecked` holds because the value is reached only with the mutex held.
final class Locked<Value>: @unchecked Sendable {
    private var value: Value
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init(_ value: Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs a closure with the value, alone.
    func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
