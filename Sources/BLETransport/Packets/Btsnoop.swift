// SPDX-License-Identifier: Apache-2.0

/// A file of packets, for Wireshark, tshark and `btmon -r`: btsnoop in version 1, with the packets of a monitor.
enum Btsnoop {
    /// The number of the form for packets of the kernel's monitor.
    static let monitor: UInt32 = 2001
    /// Microseconds from the beginning of the format's time, midnight on January 1 of the year 0, to 1970.
    static let epoch: Int64 = 0x00DC_DDB3_0F2F_8000

    /// The file with these packets.
    static func file(_ packets: some Sequence<MonitorPacket>) -> [UInt8] {
        var file = Array("btsnoop\0".utf8)
        append(UInt32(1), to: &file)
        append(monitor, to: &file)
        for packet in packets {
            // The length of the packet, and how much of it is here. btmon cannot read a file in which they differ. The
            // header of data that was cut has its whole length.
            append(UInt32(packet.bytes.count), to: &file)
            append(UInt32(packet.bytes.count), to: &file)
            append(UInt32(packet.adapter) << 16 | UInt32(packet.kind.rawValue), to: &file)
            // Packets that were lost: the kernel does not count them.
            append(UInt32(0), to: &file)
            append(packet.microseconds + epoch, to: &file)
            file += packet.bytes
        }
        return file
    }

    private static func append(_ value: some FixedWidthInteger, to file: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { file += $0 }
    }
}
