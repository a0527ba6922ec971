// SPDX-License-Identifier: Apache-2.0

/// Replaces the addresses of foreign devices, the same one always by the same pseudonym. Another file has other
/// pseudonyms: they are numbered in the order of their first packets.
struct Pseudonyms {
    /// A device address, in the order of HCI: the lowest byte first.
    typealias Address = [UInt8]

    /// Bytes of an address.
    static let length = 6

    private let known: Set<Address>
    private var names: [Address: Address] = [:]
    private var last = 0

    /// Keeps the addresses of these devices.
    init(known: Set<Address>) { self.known = known }

    /// Whether a device keeps its address: this machine's adapters, the peers, and "no device".
    func isKnown(_ address: Address) -> Bool { known.contains(address) || address.allSatisfy { $0 == 0 } }

    /// The address to write. Of a random one the pseudonym keeps the two bits that say how it was made (Core
    /// specification, Vol 6, Part B, 1.3.2).
    mutating func name(_ address: Address, isRandom: Bool) -> Address {
        if isKnown(address) { return address }
        if let name = names[address] { return name }
        var name: Address
        repeat {
            last += 1
            // Bit 1 of the first byte in print marks an address that no manufacturer has given.
            let top = isRandom ? address[Self.length - 1] & 0xC0 : 0
            name = (0..<Self.length - 1).map { $0 < 4 ? UInt8(truncatingIfNeeded: last >> (8 * $0)) : 0 } + [top | 0x02]
        } while known.contains(name)
        names[address] = name
        return name
    }
}
