// SPDX-License-Identifier: Apache-2.0

/// What has to be known to be let in, and how often somebody may guess it. Who has proved it once is known by its key
/// (`MeshCore.Remembered`) and is not asked again.
public struct Door: Hashable, Sendable {
    /// The PIN; nil where everybody is welcome.
    public var pin: JoiningSecret?
    private var guesses = GuessLimit()

    /// An open door, or one with a PIN.
    public init(pin: JoiningSecret? = nil) { self.pin = pin }

    /// Whether somebody new has to prove something.
    var isLocked: Bool { pin != nil }

    /// Whether one more may begin to prove something.
    mutating func hasRoom(now: MeshInstant) -> Bool { guesses.hasRoom(now: now) }

    /// Somebody is about to prove something on a link: with what secret that is compared. Nil where too many have guessed.
    mutating func begin(on link: MeshCore.LinkID, now: MeshInstant) -> JoiningSecret? {
        guesses.begin(on: link, now: now) ? pin : nil
    }

    /// Nobody proves anything on a link any more.
    mutating func end(on link: MeshCore.LinkID) { guesses.end(on: link) }

    /// What was proved on a link was wrong.
    mutating func wasWrong(on link: MeshCore.LinkID, now: MeshInstant) { guesses.wasWrong(on: link, now: now) }
}

/// How often the secret of a door may be guessed: `Limits.guesses` in a minute, for all together, since identities cost nothing.
/// Each time that these are used up the next pause is twice as long.
struct GuessLimit: Hashable, Sendable {
    /// Wrong guesses since the period began.
    private var wrong = 0
    private var ends = MeshInstant.zero
    /// How often in a row all guesses of a period were wrong.
    private var fullPeriods = 0
    /// Links on which somebody is about to guess.
    private var open: Set<MeshCore.LinkID> = []

    private var period: Duration { min(Limits.guessPeriod * (1 << fullPeriods), Limits.longestGuessPeriod) }

    mutating func hasRoom(now: MeshInstant) -> Bool {
        if wrong > 0, now >= ends {
            // Who has guessed on is kept out for longer. Who has stopped, or mistyped once, is not.
            let goesOn = wrong >= Limits.guesses && now < ends + Limits.longestGuessPeriod
            fullPeriods = goesOn ? min(fullPeriods + 1, Limits.guessPeriodDoublings) : 0
            wrong = 0
        }
        return wrong + open.count < Limits.guesses
    }

    /// Whether a guess may be made on a link.
    mutating func begin(on link: MeshCore.LinkID, now: MeshInstant) -> Bool {
        guard hasRoom(now: now) else { return false }
        open.insert(link)
        return true
    }

    mutating func end(on link: MeshCore.LinkID) { open.remove(link) }

    mutating func wasWrong(on link: MeshCore.LinkID, now: MeshInstant) {
        open.remove(link)
        if wrong == 0 { ends = now + period }
        wrong += 1
    }
}
