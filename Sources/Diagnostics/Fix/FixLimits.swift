// SPDX-License-Identifier: Apache-2.0

/// Every limit of what `doctor --fix` reads, runs and waits for, each with its reason.
public enum FixLimits {
    /// Bytes of a configuration file. bluetoothd's own has 12 KiB, most of it comments.
    public static let fileBytes = 256 << 10
    /// Bytes of the journal: two copies of each file, in Base64, for more runs than a person makes.
    public static let journalBytes = 8 << 20
    /// Changes that the journal holds: a run makes some five.
    public static let journalEntries = 64
    /// Bytes of a file's capabilities: the kernel's newest form has 24.
    public static let capabilityBytes = 64
    /// Bytes of what a program says that are read: an error is a sentence.
    public static let outputBytes = 16 << 10
    /// How long a program may take. systemctl waits for bluetoothd to be on the bus, which the unit gives 90 s; most
    /// often it takes one.
    public static let command: Duration = .seconds(100)
    /// How long bluetoothd may take to answer a question.
    public static let question: Duration = .seconds(5)
    /// How long an adapter may take to be on after bluetoothd was started: a USB dongle loads its firmware in some four
    /// seconds.
    public static let settling: Duration = .seconds(10)
    /// How often the adapter is checked while the node waits for it.
    public static let settlingStep: Duration = .milliseconds(250)
}
