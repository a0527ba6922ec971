// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ

/// An advertisement in the bytes that are sent, for the kernel's own advertising without bluetoothd.
struct AdvertisedBytes: Hashable, Sendable {
    /// Flags, service UUID and manufacturer data, which fill the 31 bytes.
    let advertisement: [UInt8]
    /// The name, cut to the available space.
    let scanResponse: [UInt8]

    private enum Kind {
        static let (flags, services, name, manufacturer): (UInt8, UInt8, UInt8, UInt8) = (0x01, 0x07, 0x09, 0xFF)
    }

    /// General discoverable, no BR/EDR, as bluetoothd sends them (Core Specification Supplement, Part A, 1.3).
    private static let flags: UInt8 = 0x06

    init(_ advertisement: Advertisement, psm: UInt8) {
        let company = [UInt8(truncatingIfNeeded: Advertisement.company), UInt8(Advertisement.company >> 8)]
        self.advertisement =
            Self.field(Kind.flags, [Self.flags])
            + Self.field(Kind.services, advertisement.service.bytes.reversed())
            + Self.field(Kind.manufacturer, company + advertisement.payload(psm: psm))
        let name = advertisement.localName.utf8
        scanResponse = name.isEmpty ? [] : Self.field(Kind.name, Array(name.prefix(Self.capacity - 2)))
        assert(self.advertisement.count <= Self.capacity && scanResponse.count <= Self.capacity)
    }

    private static let capacity = Int(CBLUEZ_ADVERTISED)

    private static func field(_ kind: UInt8, _ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count + 1), kind] + bytes }

    /// The form of the shim.
    var forKernel: cbluez_advertised {
        var contents = cbluez_advertised()
        contents.count = UInt8(advertisement.count)
        contents.response_count = UInt8(scanResponse.count)
        withUnsafeMutableBytes(of: &contents.bytes) { $0.copyBytes(from: advertisement) }
        withUnsafeMutableBytes(of: &contents.response) { $0.copyBytes(from: scanResponse) }
        return contents
    }
}
