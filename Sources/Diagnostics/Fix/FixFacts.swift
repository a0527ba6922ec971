// SPDX-License-Identifier: Apache-2.0

import BLETransport
import CLinux
import FoundationEssentials
import Glibc

/// The facts about a device that a plan of changes needs, except the facts about radios.
public struct FixFacts: Hashable, Sendable {
    /// A user of the device.
    public struct User: Hashable, Sendable {
        /// The user ID.
        public var number: UInt32
        /// The group ID for the user's files.
        public var group: UInt32
        /// The user's name.
        public var name: String
    }

    /// The user who has called sudo; nil for root itself.
    public var user: User?
    /// This program.
    public var program: ProgramFile
    /// The configuration file of bluetoothd, whether it runs or not.
    public var configuration: ConfigurationFile
    /// RoadMesh's drop-in file for bluetoothd's unit.
    public var unitAddition: ConfigurationFile
    /// Whether this system starts services with systemd.
    public var hasSystemctl: Bool
    /// The output of `systemctl is-enabled bluetooth`; nil without output.
    public var enablement: String?
    /// Whether the group `bluetooth` exists, to which bluetoothd's policy may refer.
    public var hasGroup: Bool
    /// The files of rfkill that represent Bluetooth radios blocked by a program.
    public var blocks: [String]
    /// The kernel's defaults for each adapter.
    public var defaults: [String: AdapterDefaults] = [:]
}

/// A configuration file, which a person may have edited.
public struct ConfigurationFile: Hashable, Sendable {
    /// The object at the path of the file.
    public enum Found: Hashable, Sendable {
        /// No file.
        case nothing
        /// A file with these bytes.
        case bytes(Data)
        /// An object that must not be changed. Carries the reason, as the rest of a sentence that begins with the path.
        case refused(String)
    }

    /// The path of the file.
    public var path: String
    /// The object at the path of the file.
    public var found: Found

    init(path: String, found: Found) {
        self.path = path
        self.found = found
    }

    /// Examines a file. With `isRoots` it refuses a file that users other than root can change or replace, because such
    /// a user could make root write to any place.
    init(lookingAt path: String, isRoots: Bool = false) {
        self.path = path
        if isRoots, let refusal = TrustedPath.refusal(of: path) {
            found = .refused(refusal)
            return
        }
        do throws(FixFailure) {
            found = try PlainFile.read(path).map { .bytes($0) } ?? .nothing
        } catch {
            found = .refused(error.text)
        }
    }
}

extension FixFacts {
    /// The path of RoadMesh's drop-in file for bluetoothd's unit.
    static let unitAdditionPath = "/etc/systemd/system/bluetooth.service.d/roadmesh.conf"

    /// Collects the facts. `environment` is this process's.
    public static func collect(_ radio: RadioFacts?, environment: [String: String]) async -> Self {
        let hasSystemctl = SystemCommand.exists("systemctl", environment)
        let enablement = hasSystemctl ? await SystemCommand(["systemctl", "is-enabled", "bluetooth"]).answer() : nil
        return FixFacts(
            user: User(environment: environment), program: .running(),
            configuration: ConfigurationFile(
                lookingAt: radio?.daemon?.configuration ?? DaemonFacts.standardConfiguration, isRoots: true),
            unitAddition: ConfigurationFile(lookingAt: unitAdditionPath, isRoots: true), hasSystemctl: hasSystemctl,
            enablement: enablement, hasGroup: getgrnam(FixPlanner.group) != nil, blocks: blocks(),
            defaults: defaults(radio))
    }

    private static func defaults(_ radio: RadioFacts?) -> [String: AdapterDefaults] {
        let read = (radio?.adapters ?? []).compactMap { adapter in
            AdapterDefaults.read(of: adapter.name).map { (adapter.name, $0) }
        }
        return Dictionary(read, uniquingKeysWith: { first, _ in first })
    }

    /// The files of rfkill that contain a 1, which means blocked (Documentation/ABI/stable/sysfs-class-rfkill).
    private static func blocks(in folder: String = "/sys/class/rfkill") -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        func line(_ path: String) -> String? {
            FileManager.default.contents(atPath: path).map {
                String(decoding: $0, as: UTF8.self).filter { !$0.isWhitespace }
            }
        }
        return names.sorted().map { "\(folder)/\($0)" }.filter { line($0 + "/type") == "bluetooth" }
            .map { $0 + "/soft" }.filter { line($0) == "1" }
    }
}

extension FixFacts.User {
    /// The user who has called sudo, from its variables (sudo(8), "Environment"). Nil without sudo, or for root.
    public init?(environment: [String: String]) {
        guard let number = environment["SUDO_UID"].flatMap(UInt32.init), number != 0,
            let entry = getpwuid(number)?.pointee
        else { return nil }
        self.init(number: number, group: entry.pw_gid, name: String(cString: entry.pw_name))
    }

    /// All current groups of the user, from the system's list. A login that began before a change of the groups does
    /// not have all of them.
    var groups: [UInt32] {
        var count: Int32 = 64
        var groups = [gid_t](repeating: 0, count: Int(count))
        guard getgrouplist(name, group, &groups, &count) >= 0 else { return [group] }
        return Array(groups.prefix(Int(count)))
    }

    /// Why bluetoothd refuses this user, as the system's error text. Nil if it accepts the user, or if that is unknown.
    /// bluetoothd always accepts root, so the test must run as the user.
    public func denial() async -> String? {
        let question = SystemCommand([
            "dbus-send", "--system", "--print-reply", "--dest=org.bluez", "/",
            "org.freedesktop.DBus.ObjectManager.GetManagedObjects",
        ])
        guard case .failed(let text) = await question.run(as: self, within: FixLimits.question),
            text.contains("org.freedesktop.DBus.Error.AccessDenied")
        else { return nil }
        return text
    }
}

extension ProgramFile {
    /// The running program.
    public static func running() -> Self {
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        var file = Self(path: path)
        var disk = statvfs()
        if statvfs(path, &disk) == 0 { file.isIgnored = disk.f_flag & UInt(ST_NOSUID) != 0 }
        do throws(FixFailure) {
            file.capability = try CapabilityAttribute.read(path)
        } catch {
            file.refusal = error.text
        }
        if file.isIgnored {
            file.refusal = "its disk is mounted nosuid"
        } else if file.refusal == nil, geteuid() == 0 {
            file.refusal = CapabilityAttribute.refusal(
                of: String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
        }
        return file
    }
}

/// The attribute with a file's capabilities.
enum CapabilityAttribute {
    static func read(_ path: String) throws(FixFailure) -> Data? {
        var bytes = [UInt8](repeating: 0, count: FixLimits.capabilityBytes)
        let count = clinux_capability_read(path, &bytes, bytes.count)
        guard count >= 0 else { throw failure(-count) }
        return count == 0 ? nil : Data(bytes.prefix(Int(count)))
    }

    static func write(_ bytes: Data?, to path: String) throws(FixFailure) {
        let bytes = bytes.map { Array($0) } ?? []
        let result = clinux_capability_write(path, bytes, bytes.count)
        guard result == 0 else { throw failure(-result) }
    }

    private static func failure(_ code: Int32) -> FixFailure {
        code == EOPNOTSUPP ? FixFailure("its file system does not store them") : FixFailure(code: code)
    }

    /// Why a folder's file system stores no capabilities; nil if it does, or if that cannot be tested.
    static func refusal(of folder: String) -> String? {
        let bytes = Array(FileCapability.tuning.bytes)
        let result = clinux_capability_try(folder.isEmpty ? "/" : folder, bytes, bytes.count)
        // The file system does not support unnamed files, so only the change itself can show whether capabilities work.
        let isUntried = [-EOPNOTSUPP, -EISDIR].contains(result) && (try? read(folder)) != nil
        return result == 0 || isUntried ? nil : failure(-result).text
    }
}
