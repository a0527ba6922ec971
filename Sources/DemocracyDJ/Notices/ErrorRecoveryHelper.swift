// SPDX-License-Identifier: Apache-2.0

/// What a person can do about an error: the columns of its row (`NetworkError.problem`).
public enum ErrorRecoveryHelper {
    /// What to do, as sentences; nil where there is nothing to do.
    public static func suggestion(for error: NetworkError) -> String? { error.problem.suggestion }

    /// What stands on the button, which does what `retry` does. Where a tap cannot help (`buttonComesAfter` is nil) it
    /// only takes the notice away, and a notice does without it.
    public static func buttonLabel(for error: NetworkError) -> String { error.problem.button?.label ?? "OK" }
}
