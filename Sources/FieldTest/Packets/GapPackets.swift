// SPDX-License-Identifier: Apache-2.0

/// The files that show a gap: the loss of the link, and its return if that is in another file.
struct GapPackets {
    let loss: PacketFile?
    let back: PacketFile?

    init(_ gap: Gap, in files: [PacketFile]) {
        loss = Self.file(around: gap.lost, in: files)
        let back = gap.resumed.flatMap { Self.file(around: $0, in: files) }
        self.back = back == loss ? nil : back
    }

    /// The files, in order.
    var files: [PacketFile] { [loss, back].compactMap(\.self) }

    /// Of the files that contain a moment, the one that has the most around it.
    private static func file(around moment: Double, in files: [PacketFile]) -> PacketFile? {
        let containing = files.filter { $0.from <= moment && moment <= $0.to }
        return containing.max { margin(moment, $0) < margin(moment, $1) }
    }

    private static func margin(_ moment: Double, _ file: PacketFile) -> Double {
        min(moment - file.from, file.to - moment)
    }
}
