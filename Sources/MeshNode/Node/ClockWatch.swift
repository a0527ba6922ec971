// SPDX-License-Identifier: Apache-2.0

import CClockWatch
// Its objects may be used by every thread; its Swift interface does not say so yet.
@preconcurrency import Dispatch
import Glibc

/// Reports that this device's clock was set, for example by a time server: timerfd_create(2),
/// TFD_TIMER_CANCEL_ON_SET.
final class ClockWatch: Sendable {
    /// The clock was set.
    let changes: AsyncStream<Void>
    private let source: any DispatchSourceRead

    /// Begins to watch. Nil where the system does not allow it.
    init?() {
        let descriptor = cclock_watch_open()
        guard descriptor >= 0 else { return nil }
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.changes = changes
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
        source.setEventHandler {
            // Not set again it would say so for ever.
            if cclock_watch_again(descriptor) == 0 { change.yield() } else { change.finish() }
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
    }

    deinit { source.cancel() }

    /// What the clock says: seconds since 1970.
    static var seconds: UInt32 { UInt32(clamping: time(nil)) }
}
