// SPDX-License-Identifier: Apache-2.0

import Glibc
import UnixSignals

/// The signals that end a node as `quit` does. The program that starts it may ignore some, such as nohup or the `&` of
/// a script.
package enum EndingSignals {
    /// The signals that are not ignored.
    static var heeded: [UnixSignal] {
        [.sigterm, .sigint, .sighup].filter { signal in
            var action = sigaction()
            sigaction(signal.rawValue, nil, &action)
            return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
                != unsafeBitCast(SIG_IGN, to: Int.self)
        }
    }

    /// Makes the signals end the program at once, until a node listens to them. A node that does not run yet has sent
    /// and promised nothing.
    package static func endAtOnce() {
        for number in heeded {
            signal(number.rawValue) { _ in
                Terminal.release()
                _exit(EXIT_SUCCESS)
            }
        }
    }
}
