// SPDX-License-Identifier: Apache-2.0

/// The arguments of mpv. `docs/player.md` has the reason for each.
enum MPVArguments {
    /// The file formats that mpv may read, by FFmpeg's names. They are formats of music. Playlists and other formats
    /// that refer to other files are not allowed.
    static let formats = [
        "aac", "ac3", "aiff", "amr", "ape", "asf", "au", "caf", "dsf", "dts", "eac3", "flac", "iff", "matroska", "mov",
        "mp3", "mpc", "mpc8", "ogg", "tak", "tta", "w64", "wav", "wv",
    ]

    /// The arguments for playback. Standard input is the socket that controls mpv, and mpv ends when it closes.
    static let all =
        conversation + [
            "--idle=yes", "--gapless-audio=yes", "--prefetch-playlist=yes", "--no-video", "--audio-display=no",
            "--sid=no", "--audio-client-name=RoadMesh", "--audio-fallback-to-null=no",
            "--stop-screensaver=no",
        ] + untrustedFiles

    /// The arguments for playing files to their ends, without sound and as fast as possible, to measure their loudness
    /// (EBU R 128). `filter` is the name of the measuring filter.
    static func measuring(filter: String) -> [String] {
        conversation + [
            "--idle=yes", "--no-video", "--audio-display=no", "--sid=no", "--ao=null", "--ao-null-untimed=yes",
            // A file stays open at its end, so that mpv can report the position of the end.
            "--keep-open=yes", "--keep-open-pause=no", "--cache=no", "--gapless-audio=no", "--replaygain=no",
            "--af=@\(filter):lavfi=[ebur128=metadata=1:peak=sample]",
        ] + untrustedFiles
    }

    private static let conversation = [
        "--no-config", "--no-terminal", "--input-ipc-client=fd://0", "--input-default-bindings=no",
        "--input-media-keys=no", "--osc=no", "--load-scripts=no", "--load-stats-overlay=no", "--load-osd-console=no",
        "--load-auto-profiles=no", "--resume-playback=no", "--ytdl=no",
    ]

    private static let untrustedFiles = [
        "--demuxer=lavf",
        "--demuxer-lavf-o=protocol_whitelist=[file],format_whitelist=[\(formats.joined(separator: ","))]",
        "--access-references=no", "--load-unsafe-playlists=no", "--autoload-files=no", "--ordered-chapters=no",
    ]
}
