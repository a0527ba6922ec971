// SPDX-License-Identifier: Apache-2.0

import CLinux
// Every thread may use Dispatch's objects, but its Swift interface does not declare them `Sendable` yet.
@preconcurrency import Dispatch
import Glibc

/// Reports that this device's clock was set, for example by a time server. It uses TFD_TIMER_CANCEL_ON_SET of
/// timerfd_create(2).
final class ClockWatch: Sendable {
    /// Yields when the clock was set.
    let changes: AsyncStream<Void>
    private let source: any DispatchSourceRead

    /// Starts watching. Nil if the system does not allow it.
    init?() {
        let descriptor = clinux_clock_watch_open()
        guard descriptor >= 0 else { return nil }
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.changes = changes
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
        source.setEventHandler {
            // The timer must be set again, or the descriptor would stay readable.
            if clinux_clock_watch_again(descriptor) == 0 { change.yield() } else { change.finish() }
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
    }

    deinit { source.cancel() }

    /// This device's time, in seconds since 1970.
    static var seconds: UInt32 { UInt32(clamping: time(nil)) }
}
