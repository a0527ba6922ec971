// SPDX-License-Identifier: Apache-2.0

/// Limits of what `doctor --fix` reads, runs and waits for, each with its reason.
public enum FixLimits {
    /// Largest configuration file, in bytes. The file that bluetoothd installs has 12 KiB, mostly comments.
    public static let fileBytes = 256 << 10
    /// Largest journal, in bytes: two copies of each file, in Base64, for more runs than a person makes.
    public static let journalBytes = 8 << 20
    /// Changes in the journal. One run makes about five.
    public static let journalEntries = 64
    /// Largest size of a file's capabilities, in bytes. The kernel's newest format has 24.
    public static let capabilityBytes = 64
    /// Bytes of a program's output that are read: an error is a sentence.
    public static let outputBytes = 16 << 10
    /// Longest running time of a program. systemctl waits until bluetoothd is on the bus, for which the unit allows 90
    /// s. Usually this takes one second.
    public static let command: Duration = .seconds(100)
    /// Longest time for an answer of bluetoothd.
    public static let question: Duration = .seconds(5)
    /// Longest time for mpv to start and answer. mpv loads some two hundred libraries, and the first time after a boot
    /// it reads them from a slow card.
    public static let player: Duration = .seconds(30)
    /// Longest time until an adapter is on after a start of bluetoothd: a USB dongle loads its firmware in some four
    /// seconds.
    public static let settling: Duration = .seconds(10)
    /// How often the adapter is checked while the node waits for it.
    public static let settlingStep: Duration = .milliseconds(250)
}
