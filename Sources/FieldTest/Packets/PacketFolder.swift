// SPDX-License-Identifier: Apache-2.0

import Bearers
import FoundationEssentials
import Glibc
import NodeStore

/// A file of packets around a gap.
public struct PacketFile: Hashable, Sendable {
    /// Its absolute path.
    public var path: String
    /// Its start, in seconds since the start of the drive.
    public var from: Double
    /// Its end, in the same seconds.
    public var to: Double
    /// Its size.
    public var bytes: Int
}

/// The files of packets of one drive: a folder in the state folder, next to the database of drives. A file's name is the
/// time that it covers, in milliseconds.
public struct PacketFolder: Sendable {
    private static let suffix = ".btsnoop"
    /// The folder of all drives.
    private let parent: String
    private let path: String

    /// The files of this drive. The folder may be missing.
    public init(stateFolder: String, drive: Int64) {
        parent = stateFolder + "/fieldtest-packets"
        path = "\(parent)/\(drive)"
    }

    /// The complete files, the oldest first.
    public var files: [PacketFile] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.compactMap(file).sorted { ($0.from, $0.to) < ($1.from, $1.to) }
    }

    private func file(_ name: String) -> PacketFile? {
        guard name.hasSuffix(Self.suffix) else { return nil }
        let times = name.dropLast(Self.suffix.count).split(separator: "-").map { Int($0) }
        var status = stat()
        guard times.count == 2, let from = times[0], let to = times[1], from <= to,
            lstat("\(path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return PacketFile(
            path: "\(path)/\(name)", from: Double(from) / 1_000, to: Double(to) / 1_000, bytes: Int(status.st_size))
    }

    /// Writes a file. It is complete on the disk when this returns, or not there. Throws the error of the system.
    func write(_ bytes: [UInt8], from: Duration, to: Duration) throws(PacketFileError) {
        for folder in [parent, path] where mkdir(folder, 0o700) != 0 && errno != EEXIST { throw PacketFileError(errno) }
        let name = "\(path)/\(Self.milliseconds(from))-\(Self.milliseconds(to))\(Self.suffix)"
        let code = WholeFile.write(bytes, to: name, draft: "\(path)/unfinished")
        guard code == 0 else { throw PacketFileError(code) }
    }

    private static func milliseconds(_ time: Duration) -> String {
        let digits = String(Int(max(0, time / .milliseconds(1)).rounded()))
        return String(repeating: "0", count: max(0, 9 - digits.count)) + digits
    }

    /// Deletes all files of the drive.
    public func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// Why a file of packets cannot be written.
struct PacketFileError: Error, CustomStringConvertible {
    let code: Int32

    init(_ code: Int32) { self.code = code }

    var description: String { SystemError.text(code) }
}
