// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import MeshProtocol

/// The folder that represents the air between virtual radios. Its files mean:
///
/// - `ADDRESS.ear`: a datagram socket of a radio that scans or dials. Advertisements are sent to each of these sockets.
/// - `ADDRESS.deaf`: the same socket while that radio does neither.
/// - `ADDRESS.psm`: a packet socket that accepts channels.
/// - `ADDRESS.cut`: while it exists, that radio is in a dead zone. `everyone.cut` means all radios.
/// - `ADDRESS.ADDRESS.cut`: while it exists, these two radios are out of each other's range. The lesser address is
///   first.
public struct VirtualAir: Hashable, Sendable {
    /// The folder's path.
    public let directory: String

    /// Longest address, in bytes. The folder's path and the address must fit a Unix socket's path.
    static let addressBytes = 32

    /// Opens the air of a folder, and creates the folder if needed.
    public init(directory: String) throws(BearerError) {
        guard directory.utf8.count + Self.addressBytes + 5 <= AirSocket.pathBytes else {
            throw BearerError(
                .failed,
                "the path \(directory) is too long for the virtual radio; name a shorter folder with --air")
        }
        self.directory = directory
        try makeFolder()
    }

    /// Creates the folder if needed, and checks that it can be used.
    func makeFolder() throws(BearerError) {
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw BearerError(.airUnusable, "cannot make the folder \(directory)")
        }
        guard isUsable else {
            throw BearerError(.airForbidden, "cannot use the folder \(directory): \(SystemError.text(errno))")
        }
    }

    /// Whether the folder exists, and this process may create sockets in it.
    private var isUsable: Bool { access(directory, W_OK | X_OK) == 0 }

    /// Whether the folder has the sockets of a radio that advertises, or of one that only listens.
    func holds(_ address: String, isAdvertising: Bool) -> Bool {
        let hasReceiver = [receiverPath, deafPath].contains { access($0(address), F_OK) == 0 }
        return isUsable && hasReceiver && (!isAdvertising || access(psmPath(address), F_OK) == 0)
    }

    /// The error for a socket that could not be created in the folder.
    func failure(_ code: Int, _ what: String) -> BearerError {
        BearerError(
            Int32(code) == EACCES ? .airForbidden : .airUnusable, "\(what): \(SystemError.text(Int32(code)))")
    }

    /// Puts a radio into a dead zone, or with nil all radios.
    public func cut(_ address: String? = nil) throws(BearerError) {
        let descriptor = open(cutPath(address), O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BearerError(.failed, SystemError.text(errno)) }
        close(descriptor)
    }

    /// Ends a dead zone.
    public func heal(_ address: String? = nil) {
        unlink(cutPath(address))
    }

    /// Whether a radio is in a dead zone.
    func isCut(_ address: String) -> Bool {
        access(cutPath(nil), F_OK) == 0 || access(cutPath(address), F_OK) == 0
    }

    /// Moves two radios out of each other's range.
    public func cut(_ address: String, from other: String) throws(BearerError) { try cut(Self.pair(address, other)) }

    /// Moves two radios back into each other's range.
    public func heal(_ address: String, and other: String) { heal(Self.pair(address, other)) }

    /// Whether two radios cannot reach each other.
    func isCut(_ address: String, from other: String) -> Bool {
        isCut(address) || access(cutPath(other), F_OK) == 0 || access(cutPath(Self.pair(address, other)), F_OK) == 0
    }

    /// An address contains no dot.
    private static func pair(_ one: String, _ other: String) -> String { "\(min(one, other)).\(max(one, other))" }

    func receiverPath(_ address: String) -> String { "\(directory)/\(address).ear" }

    /// The receiver of a radio that does not listen.
    func deafPath(_ address: String) -> String { "\(directory)/\(address).deaf" }

    func psmPath(_ address: String) -> String { "\(directory)/\(address).psm" }

    private func cutPath(_ address: String?) -> String { "\(directory)/\(address ?? "everyone").cut" }

    /// The addresses of all radios that listen.
    func receivers() -> [String] {
        guard let folder = opendir(directory) else { return [] }
        defer { closedir(folder) }
        var addresses: [String] = []
        while let entry = readdir(folder), addresses.count < BearerLimits.scanResults {
            // A name may be shorter than its array, so this reads it in place.
            guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { continue }
            let name = String(cString: UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self))
            if name.hasSuffix(".ear") { addresses.append(String(name.dropLast(4))) }
        }
        return addresses
    }
}

/// An advertisement in transit between virtual radios.
struct VirtualBeacon {
    var sender: String
    var payload: [UInt8]
    var service: ServiceUUID
    /// The name of the scan response, with the data after it.
    var localName: String

    private static let fixedBytes = Advertisement.payloadBytes + 16 + 1

    /// Largest beacon, in bytes.
    static let maximumBytes = fixedBytes + VirtualAir.addressBytes + Limits.advertisementBytes - 2

    var bytes: [UInt8] {
        payload + service.bytes + [UInt8(sender.utf8.count)] + Array(sender.utf8) + Array(localName.utf8)
    }

    init(sender: String, advertisement: Advertisement, psm: UInt8) {
        self.sender = sender
        self.payload = advertisement.payload(psm: psm)
        self.service = advertisement.service
        self.localName = advertisement.localName
    }

    /// Reads a beacon. Nil for other data.
    init?(bytes: [UInt8]) {
        guard bytes.count >= Self.fixedBytes else { return nil }
        payload = Array(bytes.prefix(Advertisement.payloadBytes))
        service = ServiceUUID(bytes: Array(bytes[Advertisement.payloadBytes..<(Self.fixedBytes - 1)]))
        let rest = bytes[Self.fixedBytes...]
        let senderBytes = Int(bytes[Self.fixedBytes - 1])
        guard senderBytes <= VirtualAir.addressBytes, rest.count >= senderBytes,
            let sender = String(validating: rest.prefix(senderBytes), as: UTF8.self),
            let localName = String(validating: rest.dropFirst(senderBytes), as: UTF8.self)
        else { return nil }
        self.sender = sender
        self.localName = localName
    }

    /// The scan result of a radio that hears this beacon. It has no signal strength.
    var scanResult: ScanResult? {
        guard let psm = Advertisement.psm(inPayload: payload),
            let advertisement = Advertisement(service: service, payload: payload, localName: localName)
        else { return nil }
        return ScanResult(
            endpoint: BearerEndpoint(address: sender, psm: psm, bearer: .virtual), advertisement: advertisement,
            rssi: nil)
    }
}
