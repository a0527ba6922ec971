// SPDX-License-Identifier: Apache-2.0

import CEditLine
import Dispatch
import Glibc

/// The person's terminal: its kind, its size and its signals.
package enum Terminal {
    /// Whether standard input is a terminal's keyboard.
    static var hasKeyboard: Bool { isatty(STDIN_FILENO) == 1 }

    /// Whether standard input and output are a terminal that supports escape codes, and lines can be edited on it.
    package static func isLive(_ environment: [String: String]) -> Bool {
        hasKeyboard && hasScreen(environment) && LineEditor.isAvailable
    }

    /// Whether standard output is a terminal that supports escape codes, so that lines can be written again.
    package static func hasScreen(_ environment: [String: String]) -> Bool {
        isatty(STDOUT_FILENO) == 1 && !["", "dumb"].contains(environment["TERM"] ?? "")
    }

    /// Sets the C library's character type to UTF-8, whatever the system's setting is. Call it before there is a second
    /// thread.
    package static func speakUTF8() { ceditline_speak_utf8() }

    /// Whether colours are wanted: <https://no-color.org>.
    package static func usesColour(_ environment: [String: String]) -> Bool {
        environment["NO_COLOR", default: ""].isEmpty
    }

    /// The current size.
    static var size: TerminalSize {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalLimits.usualSize
        }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Whether this program is in the terminal's foreground.
    static func isOurs(_ descriptor: Int32 = STDOUT_FILENO) -> Bool {
        let owner = tcgetpgrp(descriptor)
        // Without job control, the program always has the terminal.
        return owner == -1 || owner == getpgrp()
    }

    /// Makes this program read every key and show what is typed. `quit`, `exit` and the signals that end a node restore
    /// the terminal. After a crash or `kill -9` the shell restores it.
    static func hold() { ceditline_hold_terminal() }

    /// Restores the terminal to its state before `hold`. Safe in a signal handler.
    static func release() { ceditline_release_terminal() }

    /// Discards typed text that was not entered, so that a shell does not read it.
    static func forgetTyping() { tcflush(STDIN_FILENO, TCIFLUSH) }

    /// A signal about a terminal.
    enum Signal: Sendable {
        /// The window's size has changed.
        case resized
        /// Ctrl-Z.
        case suspended
        /// The program continues after it was stopped.
        case resumed
    }

    /// The terminal's signals, as long as the stream is read.
    static var signals: AsyncStream<Signal> {
        AsyncStream(bufferingPolicy: .bufferingNewest(16)) { sink in
            let queue = DispatchQueue(label: "roadmesh.terminal")
            let sources = [(SIGWINCH, Signal.resized), (SIGTSTP, .suspended), (SIGCONT, .resumed)].compactMap {
                number, signal in
                let source = DispatchSource.makeSignalSource(signal: number, queue: queue) as? DispatchSource
                source?.setEventHandler { sink.yield(signal) }
                source?.activate()
                return source
            }
            sink.onTermination = { _ in for source in sources { source.cancel() } }
        }
    }

    /// Stops this program as Ctrl-Z would without `signals`. Returns when the program continues. The kernel does not
    /// stop a program that no shell could continue.
    static func suspend() {
        var byDefault = sigaction()
        byDefault.__sigaction_handler.sa_handler = SIG_DFL
        var ours = sigaction()
        var stops = sigset_t()
        var before = sigset_t()
        sigemptyset(&stops)
        sigaddset(&stops, SIGTSTP)
        sigaction(SIGTSTP, &byDefault, &ours)
        raise(SIGTSTP)
        // The threads of a pool block the signal. It is delivered while this thread accepts it.
        pthread_sigmask(SIG_UNBLOCK, &stops, &before)
        pthread_sigmask(SIG_SETMASK, &before, nil)
        sigaction(SIGTSTP, &ours, nil)
    }
}
