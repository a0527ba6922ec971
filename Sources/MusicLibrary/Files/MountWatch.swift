// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import NIOConcurrencyHelpers

/// Watches which file systems are mounted. inotify(7) does not report a stick that is unmounted while one of its files
/// is open (`umount --lazy`), or a file system that is mounted over a folder.
final class MountWatch: Sendable {
    /// One end of a socket pair. Closing it stops the thread, which reads the other end.
    private let stop: Int32
    private let hasChanged = NIOLockedValueBox(false)

    /// Starts to watch. It calls `wake` after a file system was mounted or unmounted. Nil if the system does not allow
    /// it.
    init?(wake: @escaping @Sendable () -> Void) {
        let mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard mounts >= 0 else { return nil }
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            close(mounts)
            return nil
        }
        let stopped = ends[0]
        stop = ends[1]
        // This needs a thread: mountinfo is always readable, and only poll's POLLPRI reports a change.
        DispatchQueue(label: "roadmesh.library.mounts", qos: .utility).async { [hasChanged] in
            defer { for descriptor in [mounts, stopped] { close(descriptor) } }
            while true {
                var descriptors = [
                    pollfd(fd: mounts, events: Int16(POLLPRI), revents: 0),
                    pollfd(fd: stopped, events: Int16(POLLIN), revents: 0),
                ]
                guard poll(&descriptors, 2, -1) >= 0 else {
                    if errno == EINTR { continue }
                    return
                }
                guard descriptors[1].revents == 0 else { return }
                hasChanged.withLockedValue { $0 = true }
                wake()
            }
        }
    }

    deinit { close(stop) }

    /// Whether there was a change since the last call.
    func take() -> Bool {
        hasChanged.withLockedValue { hasChanged in
            defer { hasChanged = false }
            return hasChanged
        }
    }
}
