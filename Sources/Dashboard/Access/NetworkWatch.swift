// SPDX-License-Identifier: Apache-2.0

// Every thread may use Dispatch's objects, but its Swift interface does not declare them `Sendable` yet.
@preconcurrency import Dispatch
import Glibc

/// Watches this device's addresses, interfaces and routes with rtnetlink(7). It does not parse the messages. After a
/// change the caller reads the full state from the system.
final class NetworkWatch: Sendable {
    private let source: any DispatchSourceRead

    // The groups of linux/rtnetlink.h, which the Glibc module does not import.
    private static let links: UInt32 = 0x1
    private static let addresses: UInt32 = 0x10 | 0x100
    private static let routes: UInt32 = 0x40 | 0x400

    /// `struct sockaddr_nl` of linux/netlink.h.
    private struct Address {
        var family = sa_family_t(AF_NETLINK)
        var padding: UInt16 = 0
        var port: UInt32 = 0
        var groups = NetworkWatch.links | NetworkWatch.addresses | NetworkWatch.routes
    }

    /// Starts to watch. It calls `wake` after a change, often several times in a row. Nil if the system does not allow
    /// it.
    init?(wake: @escaping @Sendable () -> Void) {
        let type = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        // Protocol 0 is NETLINK_ROUTE.
        let descriptor = socket(AF_NETLINK, type, 0)
        guard descriptor >= 0 else { return nil }
        var address = Address()
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        guard bound == 0 else {
            close(descriptor)
            return nil
        }
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
        source.setEventHandler {
            withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer in
                // If the kernel had to drop messages, it reports ENOBUFS, which also means a change.
                while true {
                    let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                    guard count > 0 || count < 0 && errno == ENOBUFS else { break }
                }
            }
            wake()
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
    }

    deinit { source.cancel() }
}
