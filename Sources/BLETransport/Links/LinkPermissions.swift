// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

extension LinkTuning.Permissions {
    /// CAP_NET_RAW of capabilities(7): the kernel lets whoever has it send any HCI command.
    private static let rawBit: UInt64 = 1 << 13

    /// What this process may tune now. It is what the kernel says of its effective capabilities; in a container that has
    /// its own users the kernel may refuse all the same, and a link's report says so then.
    public static func ofThisProcess() -> LinkTuning.Permissions {
        let status = FileManager.default.contents(atPath: "/proc/self/status").map {
            String(decoding: $0, as: UTF8.self)
        }
        return LinkTuning.Permissions(status: status ?? "")
    }

    /// What a process of this /proc/PID/status may tune.
    init(status: String) {
        let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        let digits = line?.split(whereSeparator: { $0 == "\t" || $0 == " " }).last.map(String.init)
        let capabilities = digits.flatMap { UInt64($0, radix: 16) } ?? 0
        self.init(allowed: capabilities & Self.rawBit != 0 ? Set(LinkTuning.Setting.allCases) : [])
    }
}
