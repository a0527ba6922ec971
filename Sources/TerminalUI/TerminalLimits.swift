// SPDX-License-Identifier: Apache-2.0

/// Limits of the screen, each with its reason.
enum TerminalLimits {
    /// Songs of the queue that are shown at a time: as many as fit a small terminal. `queue` shows the others.
    static let shownSongs = 10
    /// How often a stream of lines repeats the queue. A crowd changes it 18 times a second, and people need more than a
    /// second to read a dozen lines.
    static let queuesPerSecond = 1
    /// Queues that are printed at once after a quiet time, so that each of a few quick taps has its answer.
    static let queuesAtOnce = 5
    /// Levels of indentation in a list of guests behind relays. Each level takes two columns, which leaves room for a
    /// name.
    static let shownHops = 8
    /// Notices that stay visible: more than two would leave no room for the queue.
    static let standingNotices = 2
    /// Narrowest terminal for which lines are cut. On a narrower one they wrap.
    static let leastColumns = 20
    /// Fewest columns that are used after a title: " – ", a letter and an ellipsis.
    static let leastBehindTitle = 5
    /// The assumed size of a terminal that does not report one: that of old terminals.
    static let usualSize = TerminalSize(columns: 80, rows: 24)
    /// The delay before a lost link is shown, so that a guest that changes from Wi-Fi to Bluetooth or back is not
    /// reported. A guest changes to the other bearer within a second, and the host may notice the loss a second
    /// earlier.
    static let quietLoss: Duration = .seconds(3)
    /// Rows that a window needs in addition to a QR code: its explanation, the prompt and the panel below it.
    static let linesWithPicture = 6
    /// How often the seconds on the screen are updated.
    static let tick: Duration = .seconds(1)
    /// How often a program in the background checks whether it is in the foreground, in microseconds: faster than a
    /// person types after `fg`.
    static let foregroundMicroseconds: UInt32 = 200_000
    /// Completions that are listed at a time: as many as leave the queue visible.
    static let listedCompletions = 12
    /// Entered lines in the history of the arrow keys: more than a person types on one drive.
    static let historyLines: Int32 = 1_000
    /// Maximum number of typed commands that wait for their confirmation. Further ones, for example of a pasted page,
    /// are not confirmed.
    static let dueConfirmations = 16
    /// Log lines that wait for the screen: the newest ones that fit on it.
    static let waitingLogLines = 64
}

/// A terminal's size, in characters.
struct TerminalSize: Hashable {
    var columns: Int
    var rows: Int
}
