// SPDX-License-Identifier: Apache-2.0

import CEditLine
import Dispatch
import Glibc

/// The terminal that a person sits at: what it is, its size, and its signals.
package enum Terminal {
    /// Whether standard input is what somebody types at a terminal.
    static var hasKeyboard: Bool { isatty(STDIN_FILENO) == 1 }

    /// Whether standard input and output are a terminal that obeys escape codes, and lines can be edited on it.
    package static func isLive(_ environment: [String: String]) -> Bool {
        hasKeyboard && isatty(STDOUT_FILENO) == 1 && !["", "dumb"].contains(environment["TERM"] ?? "")
            && LineEditor.isAvailable
    }

    /// Sets the character type of the C library to UTF-8, whatever the system is set to. Call it before there is a second thread.
    package static func speakUTF8() { ceditline_speak_utf8() }

    /// Whether colours are wanted: <https://no-color.org>.
    package static func usesColour(_ environment: [String: String]) -> Bool {
        environment["NO_COLOR", default: ""].isEmpty
    }

    /// Its size now.
    static var size: TerminalSize {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalLimits.usualSize
        }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Whether this program has the terminal, and not a shell that keeps it in the background.
    static func isOurs(_ descriptor: Int32 = STDOUT_FILENO) -> Bool {
        let owner = tcgetpgrp(descriptor)
        // Without job control nobody takes it away.
        return owner == -1 || owner == getpgrp()
    }

    /// Has this program read every key and show what is typed. Its end gives the terminal back as it was: `quit`, the signals
    /// that end a node, `exit`. What stops the program on the spot does not, a crash or `kill -9`: then the shell does.
    static func hold() { ceditline_hold_terminal() }

    /// Gives the terminal back as it was before `hold`. Also for a signal handler.
    static func release() { ceditline_release_terminal() }

    /// Forgets what was typed and not entered, so that no shell takes it for its own.
    static func forgetTyping() { tcflush(STDIN_FILENO, TCIFLUSH) }

    /// What happens to a terminal.
    enum Signal: Sendable {
        /// The window has another size.
        case resized
        /// Ctrl-Z.
        case suspended
        /// The program goes on after it was stopped.
        case resumed
    }

    /// The terminal's signals, as long as somebody listens.
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

    /// Stops this program as Ctrl-Z would have without `signals`; returns when it goes on. The kernel stops nobody whom
    /// no shell could wake.
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
        // Threads of a pool have it blocked: it is delivered here.
        pthread_sigmask(SIG_UNBLOCK, &stops, &before)
        pthread_sigmask(SIG_SETMASK, &before, nil)
        sigaction(SIGTSTP, &ours, nil)
    }
}
