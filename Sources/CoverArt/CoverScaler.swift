// SPDX-License-Identifier: Apache-2.0

import Crypto
import DemocracyDJ
import FoundationEssentials
import Logging
import Subprocess

/// Scales covers down to a size for the air (`DJLimits.coverBytes`).
///
/// Pictures come from untrusted servers and USB sticks. So they are decoded in a separate process, mpv, which also
/// plays the music. This process gets limited memory and time, and a harmful picture can damage only this process.
/// Without mpv, only pictures that are already small are sent over the air.
public actor CoverScaler {
    private let folder: String
    private let executable: String
    private let launcher: [String]
    private let logger: Logger
    private var hasFailed = false

    /// A scaler with its own folder for drafts, which need not exist. `launcher` is the command that starts mpv with
    /// fewer rights. If it is empty, mpv starts directly.
    public init(
        drafts folder: String, mpv executable: String = "mpv", launcher: [String] = [],
        logger: Logger = Logger(label: "roadmesh.covers")
    ) {
        self.folder = folder
        self.executable = executable
        self.launcher = launcher
        self.logger = logger
    }

    /// Returns the picture in a small form. Nil if the bytes are not a readable picture.
    public func small(_ picture: [UInt8]) async -> SmallCover? {
        guard let kind = ArtworkKind(head: picture) else { return nil }
        if kind == .jpeg, let cover = Self.cover(picture) { return cover }
        for quality in ArtworkLimits.standard.smallQualities {
            guard let scaled = await scaled(picture, kind, quality: quality) else { return nil }
            if ArtworkKind(head: scaled) == .jpeg, let cover = Self.cover(scaled) { return cover }
        }
        return nil
    }

    /// Returns the picture of a file in a small form. Nil if the file is not a readable picture.
    public func small(file: String) async -> SmallCover? {
        let read = await ArtworkLoader.offActor { try? Data(contentsOf: URL(filePath: file)) }
        return if let picture = read.flatMap(\.self) { await small(Array(picture)) } else { nil }
    }

    private static func cover(_ bytes: [UInt8]) -> SmallCover? {
        let hash = SHA256.hash(data: bytes).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        // In requests, version 0 means that the guest has no cover.
        return SmallCover(bytes, version: max(hash, 1))
    }

    private func scaled(_ picture: [UInt8], _ kind: ArtworkKind, quality: Int) async -> [UInt8]? {
        let folder = folder
        let draft = folder + "/picture"
        let isWritten = await ArtworkLoader.offActor {
            try? FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            return (try? Data(picture).write(to: URL(filePath: draft))) != nil
        }
        guard isWritten == true else { return fails("its draft is not written") }
        var problem: String?
        do {
            let words =
                launcher + ["prlimit"] + Self.arguments(executable, draft, kind, quality: quality, into: folder)
            // A launcher is a path, and prlimit is a name.
            let program: Executable = launcher.isEmpty ? .name(words[0]) : .path(.init(words[0]))
            let result = try await Subprocess.run(
                program, arguments: Arguments(Array(words.dropFirst())), output: .discarded, error: .discarded)
            if !result.terminationStatus.isSuccess { problem = "\(executable) ends with \(result.terminationStatus)" }
        } catch {
            problem = "\(error)"
        }
        let made = await ArtworkLoader.offActor { () -> Data? in
            defer { try? FileManager.default.removeItem(atPath: folder) }
            return try? Data(contentsOf: URL(filePath: folder + "/00000001.jpg"))
        }
        return made.flatMap { $0.map { Array($0) } } ?? fails(problem ?? "\(executable) has written nothing")
    }

    /// The limit of processor time also bounds the running time, because the process never waits. The memory limit
    /// applies to data, not to address space: each thread reserves 64 MB of address space, and a newer mpv loads more
    /// libraries. Only one thread decodes, so that machines with more processors need no more memory.
    private static func arguments(
        _ executable: String, _ file: String, _ kind: ArtworkKind, quality: Int, into folder: String
    ) -> [String] {
        let limits = ArtworkLimits.standard
        let side = limits.smallSide
        return [
            "--data=\(limits.scalerBytes)", "--cpu=\(limits.scalerSeconds)", "nice", "-n", "10", executable,
            "--no-config", "--really-quiet", "--load-scripts=no", "--ytdl=no", "--no-audio", "--no-sub",
            "--vd-lavc-threads=1", "--demuxer=lavf",
            // The format is derived from the first bytes, so that mpv does not open a playlist that claims to be a
            // picture.
            "--demuxer-lavf-format=\(kind == .gif ? "gif" : "\(kind.rawValue)_pipe")", "--frames=1",
            "--image-display-duration=0",
            "--vf=lavfi=[scale=\(side):\(side):force_original_aspect_ratio=decrease:flags=area]", "--vo=image",
            "--vo-image-format=jpg", "--vo-image-jpeg-quality=\(quality)", "--vo-image-outdir=\(folder)", "--", file,
        ]
    }

    /// Logs only the first failure as a warning, because the same failure repeats for each song.
    private func fails(_ why: String) -> [UInt8]? {
        logger.log(level: hasFailed ? .debug : .warning, "a cover could not be scaled down: \(why)")
        hasFailed = true
        return nil
    }
}
