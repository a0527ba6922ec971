// SPDX-License-Identifier: Apache-2.0

/// What a process may do with radios beyond what everybody may: capabilities(7).
public struct RadioPermissions: Hashable, Sendable {
    /// CAP_NET_ADMIN: change what the kernel asks of every link.
    public var mayAdminister: Bool
    /// CAP_NET_RAW: send commands to a controller.
    public var mayCommand: Bool

    /// Permissions.
    public init(mayAdminister: Bool, mayCommand: Bool) {
        self.mayAdminister = mayAdminister
        self.mayCommand = mayCommand
    }

    /// What this process may do now. It is what the kernel says of its effective capabilities; in a container that has its
    /// own users the kernel may refuse all the same.
    static func ofThisProcess() -> RadioPermissions {
        RadioPermissions(status: SystemFile.text("/proc/self/status") ?? "")
    }

    /// Reads `/proc/PID/status`: the line `CapEff:` holds the effective capabilities as a hexadecimal mask (proc(5)).
    init(status: String) {
        let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        let digits = line.map { String($0.dropFirst(7)).filter { !$0.isWhitespace } } ?? ""
        let mask = UInt64(digits, radix: 16) ?? 0
        mayAdminister = mask & 1 << 12 != 0
        mayCommand = mask & 1 << 13 != 0
    }
}
