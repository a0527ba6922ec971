// SPDX-License-Identifier: Apache-2.0

// Every thread may use Dispatch's objects, but its Swift interface does not declare them `Sendable` yet.
@preconcurrency import Dispatch
import NIOConcurrencyHelpers
import Glibc

/// Watches folders with inotify(7) and collects the changes until `take`.
final class FolderWatch: Sendable {
    private struct State {
        var folders: [Int32: String] = [:]
        /// The folders that the last walk has entered.
        var entered: Set<Int32> = []
        var changes: [FolderChange] = []
        /// The system's error if the last walk could not watch a folder.
        var failure: Int32?
    }

    private let descriptor: Int32
    private let source: any DispatchSourceRead
    private let root: String
    private let limits: LibraryLimits
    private let state = NIOLockedValueBox(State())

    private static let events =
        UInt32(IN_CREATE) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE)
        | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_ATTRIB) | UInt32(IN_ONLYDIR)
    /// Room for some hundred events.
    private static let bufferBytes = 16 << 10

    /// Creates a watch without folders. It calls `wake` after a change. Nil if the system does not allow it.
    init?(root: String, limits: LibraryLimits, wake: @escaping @Sendable () -> Void) {
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        self.root = root
        self.limits = limits
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
        source.setEventHandler { [weak self] in
            self?.read()
            wake()
        }
        source.setCancelHandler { [descriptor] in _ = close(descriptor) }
        source.activate()
    }

    deinit { source.cancel() }

    /// All changes since the last call.
    func take() -> [FolderChange] {
        state.withLockedValue { state in
            defer { state.changes = [] }
            return state.changes
        }
    }

    // MARK: Folders

    /// A walk begins.
    func begin() {
        state.withLockedValue { ($0.entered, $0.failure) = ([], nil) }
    }

    /// A walk enters a folder, which is watched from now on.
    func enter(_ folder: String) {
        // The lock ensures that the folder's name is known before its first event is read.
        state.withLockedValue { state in
            let watch = inotify_add_watch(descriptor, folder.isEmpty ? root : root + "/" + folder, Self.events)
            if watch >= 0 {
                state.folders[watch] = folder
                state.entered.insert(watch)
            } else if ![ENOENT, ENOTDIR, EACCES].contains(errno) {
                state.failure = errno
            }
        }
    }

    /// A walk has ended: stops watching the folders that it has not entered. Returns the error if a folder could not be
    /// watched.
    func end() -> Int32? {
        state.withLockedValue { state in
            for watch in state.folders.keys where !state.entered.contains(watch) {
                inotify_rm_watch(descriptor, watch)
                state.folders[watch] = nil
            }
            return state.failure
        }
    }

    // MARK: Events

    private func read() {
        withUnsafeTemporaryAllocation(byteCount: Self.bufferBytes, alignment: MemoryLayout<inotify_event>.alignment) {
            buffer in
            while true {
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { return }
                note(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
    }

    private func note(_ bytes: UnsafeRawBufferPointer) {
        var offset = 0
        while offset + MemoryLayout<inotify_event>.size <= bytes.count {
            let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
            let start = offset + MemoryLayout<inotify_event>.size
            let name = String(decoding: bytes[start..<start + Int(event.len)].prefix { $0 != 0 }, as: UTF8.self)
            note(event, name)
            offset = start + Int(event.len)
        }
    }

    private func note(_ event: inotify_event, _ name: String) {
        state.withLockedValue { state in
            if has(event, IN_IGNORED) {
                state.folders[event.wd] = nil
                return
            }
            guard let change = change(event, name, state.folders[event.wd]) else { return }
            if state.changes.count == limits.waitingChanges { state.changes = [.overflow] }
            state.changes.append(change)
        }
    }

    private func change(_ event: inotify_event, _ name: String, _ folder: String?) -> FolderChange? {
        if has(event, IN_Q_OVERFLOW) { return .overflow }
        guard let folder else { return nil }
        let path = folder.isEmpty ? name : folder + "/" + name
        if has(event, IN_ISDIR) || name.isEmpty { return SystemFiles.isFolder(path) ? nil : .other }
        guard AudioFormat.isMusic(name) else { return nil }
        if has(event, IN_CREATE) { return isWhole(path) ? .written(path) : .growing(path) }
        if has(event, IN_CLOSE_WRITE) || has(event, IN_MOVED_TO) { return .written(path) }
        if has(event, IN_DELETE) || has(event, IN_MOVED_FROM) { return .gone(path) }
        return .other
    }

    private func has(_ event: inotify_event, _ flag: some BinaryInteger) -> Bool { event.mask & UInt32(flag) != 0 }

    /// Whether a new entry is complete already, such as a link: no write closes it later.
    private func isWhole(_ path: String) -> Bool {
        var status = stat()
        return lstat(root + "/" + path, &status) == 0 && (status.st_mode & S_IFMT != S_IFREG || status.st_nlink > 1)
    }
}
