// SPDX-License-Identifier: Apache-2.0

/// Limits of what a person is shown, each with its reason.
enum TerminalLimits {
    /// Songs of the queue that are shown at a time: what fits a small terminal. `queue` shows the others.
    static let shownSongs = 10
    /// How often a plain stream of lines repeats the queue: a crowd changes it 18 times a second, and people do not
    /// read a dozen lines in less than a second.
    static let queuesPerSecond = 1
    /// Queues that are printed at once after a quiet time: each of a few taps in a row has its answer.
    static let queuesAtOnce = 5
    /// Levels of relays that a list of guests is indented by: two columns each, which leaves a name its room.
    static let shownHops = 8
    /// Notices that stay on view: more than two would push the queue away.
    static let standingNotices = 2
    /// Narrowest terminal that lines are cut for; on a narrower one they wrap, as everything does there.
    static let leastColumns = 20
    /// Columns below which nothing is begun behind a title: " – ", a letter and an ellipsis.
    static let leastBehindTitle = 5
    /// The assumed size of a terminal that does not report one: that of old terminals.
    static let usualSize = TerminalSize(columns: 80, rows: 24)
    /// Time before a person reads that a link is lost, so that a guest that changes from Wi-Fi to Bluetooth or back is not reported:
    /// a guest is on the other bearer within a second, and the host may notice the loss a second before it.
    static let quietLoss: Duration = .seconds(3)
    /// Rows that a window has besides a QR code: its explanation, the prompt and what is below it.
    static let linesWithPicture = 6
    /// How often seconds on the screen are counted.
    static let tick: Duration = .seconds(1)
    /// How often a program in the background looks whether it is in the foreground, in microseconds: sooner than who has
    /// typed `fg` types on.
    static let foregroundMicroseconds: UInt32 = 200_000
    /// Lines that a key lists which what is typed may become: as many as leave the queue on view.
    static let listedCompletions = 12
    /// Entered lines that the arrow keys bring back: more than a person types on one drive.
    static let historyLines: Int32 = 1_000
    /// Log lines that wait to be shown: a screenful, the newest.
    static let waitingLogLines = 64
}

/// A terminal's size, in characters.
struct TerminalSize: Hashable {
    var columns: Int
    var rows: Int
}
