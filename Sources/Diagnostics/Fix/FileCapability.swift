// SPDX-License-Identifier: Apache-2.0

import BLETransport
import FoundationEssentials

/// Capabilities of a program's file, in the format of the kernel's attribute `security.capability` (`struct
/// vfs_cap_data` of linux/capability.h): a revision with flags, then 32 bits of permitted and 32 bits of inheritable
/// capabilities, twice. All are little-endian.
struct FileCapability: Hashable {
    /// The flag with which the permitted capabilities are in effect as soon as the program starts.
    private static let effective: UInt32 = 1
    private static let (secondRevision, thirdRevision): (UInt32, UInt32) = (0x0200_0000, 0x0300_0000)
    /// CAP_NET_ADMIN and CAP_NET_RAW.
    static let (netAdmin, netRaw): (UInt64, UInt64) = (1 << 12, 1 << 13)

    private(set) var isEffective: Bool
    private(set) var permitted: UInt64
    private(set) var inheritable: UInt64

    /// The capabilities for tuning links: `cap_net_admin,cap_net_raw+ep`.
    static let tuning = Self(isEffective: true, permitted: netAdmin | netRaw, inheritable: 0)

    private init(isEffective: Bool, permitted: UInt64, inheritable: UInt64) {
        (self.isEffective, self.permitted, self.inheritable) = (isEffective, permitted, inheritable)
    }

    /// Reads the attribute. Nil for an unknown format.
    init?(_ bytes: Data) {
        let words = stride(from: 0, to: bytes.count - bytes.count % 4, by: 4).map { offset in
            bytes.dropFirst(offset).prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        guard let head = words.first, words.count >= 5,
            [Self.secondRevision, Self.thirdRevision].contains(head & 0xFF00_0000)
        else { return nil }
        self.init(
            isEffective: head & Self.effective != 0, permitted: UInt64(words[1]) | UInt64(words[3]) << 32,
            inheritable: UInt64(words[2]) | UInt64(words[4]) << 32)
    }

    /// The attribute's bytes.
    var bytes: Data {
        let words = [
            Self.secondRevision | (isEffective ? Self.effective : 0), UInt32(truncatingIfNeeded: permitted),
            UInt32(truncatingIfNeeded: inheritable), UInt32(truncatingIfNeeded: permitted >> 32),
            UInt32(truncatingIfNeeded: inheritable >> 32),
        ]
        return Data(words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } })
    }

    /// Whether the file has only capabilities that tuning needs.
    var isForTuningAlone: Bool { inheritable == 0 && permitted & ~Self.tuning.permitted == 0 }

    /// The rights of the program when an unprivileged user starts it.
    var permissions: (mayAdminister: Bool, mayCommand: Bool) {
        (isEffective && permitted & Self.netAdmin != 0, isEffective && permitted & Self.netRaw != 0)
    }
}

/// This program's file.
public struct ProgramFile: Hashable, Sendable {
    /// The path of the file, with symbolic links resolved.
    public var path: String
    /// The file's capabilities in the kernel's format; nil without capabilities.
    public var capability: Data?
    /// Whether the file's disk is mounted nosuid, so that its capabilities have no effect.
    public var isIgnored = false
    /// Why the file cannot get capabilities, as the end of a sentence; nil if it can.
    public var refusal: String?

    /// The radio rights of the program when an unprivileged user starts it.
    public var permissions: RadioPermissions {
        let may = isIgnored ? nil : capability.flatMap { FileCapability($0)?.permissions }
        return RadioPermissions(mayAdminister: may?.mayAdminister == true, mayCommand: may?.mayCommand == true)
    }
}
