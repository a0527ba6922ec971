// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOConcurrencyHelpers

/// Examines a folder and some of its files. It blocks for as long as the disk does.
struct FolderProbe: Sendable {
    var folder: String
    /// The file to examine, and some other files to compare with. Paths are relative to the folder.
    var file: String?
    var others: [String] = []
    var limits: LibraryLimits

    /// Returns the result of the examination.
    func look() -> FolderCheck {
        var check = FolderCheck(path: folder, listing: list())
        guard check.listing == .entries else { return check }
        check.file = file.map(read)
        if check.file == .works { return check }
        for other in others {
            check.others.append(read(other))
            // One readable file is enough.
            if check.others.last == .works { break }
        }
        return check
    }

    private func list() -> FolderCheck.Listing {
        guard let directory = opendir(folder) else { return .fails(errno) }
        defer { closedir(directory) }
        while true {
            errno = 0
            guard let entry = readdir(directory) else { return errno == 0 ? .empty : .fails(errno) }
            let isDots = entry.pointer(to: \.d_name).map { name in
                let bytes = UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self)
                return strcmp(bytes, ".") == 0 || strcmp(bytes, "..") == 0
            }
            if isDots == false { return .entries }
        }
    }

    /// Reads the ends and the middle of a file from the disk, bypassing the kernel's cache.
    private func read(_ path: String) -> FolderCheck.Reading {
        // Opening a pipe without a writer would block.
        let descriptor = open(folder + "/" + path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return .fails(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return .fails(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { return .fails(ENOENT) }
        _ = posix_fadvise(descriptor, 0, 0, Int32(POSIX_FADV_DONTNEED))
        let count = limits.checkedBytes, end = max(0, Int(status.st_size) - count)
        return withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { buffer in
            for offset in [0, end / 2, end] {
                while pread(descriptor, buffer.baseAddress, count, offset) < 0 {
                    if errno != EINTR { return .fails(errno) }
                }
            }
            return .works
        }
    }
}

/// Work on a disk that may never answer.
enum DiskQuestion {
    /// The answer, or nil after `time`. The worker's thread keeps waiting.
    static func ask<Answer: Sendable>(
        _ worker: FileWorker, for time: Duration, _ work: @escaping @Sendable () -> Answer
    ) async -> Answer? {
        await withCheckedContinuation { continuation in
            let waiting = NIOLockedValueBox<CheckedContinuation<Answer?, Never>?>(continuation)
            let answer: @Sendable (Answer?) -> Void = { answer in
                waiting.withLockedValue { $0.take() }?.resume(returning: answer)
            }
            let alarm = Task {
                try await Task.sleep(for: time)
                answer(nil)
            }
            Task {
                answer(await worker.run(work))
                alarm.cancel()
            }
        }
    }
}
