// SPDX-License-Identifier: Apache-2.0

/// What has to be known to be let in, and how often somebody may guess it. Who has proved it once is known by its key
/// (`MeshCore.Remembered`) and is not asked again.
public struct Door: Hashable, Sendable {
    /// The PIN; nil where everybody is welcome.
    public var pin: JoiningSecret?
    /// The invitations that are good, the oldest first.
    public private(set) var invitations: [GivenInvitation]
    private var guesses = GuessLimit()
    /// What the clock of the day says at the node's time zero, in seconds since 1970.
    private var wallClockSeconds: Int64
    /// When the invitations of this run end, in node time: the wall clock may be set.
    private var ends: [[UInt8]: MeshInstant] = [:]
    /// Those that were over by the clock, which may be set back.
    private var over: [GivenInvitation] = []

    /// An open door, or one with a PIN; with the invitations of earlier runs.
    public init(pin: JoiningSecret? = nil, invitations: [GivenInvitation] = [], wallClockSeconds: UInt32 = 0) {
        self.pin = pin
        self.invitations = Array(invitations.suffix(Limits.invitations))
        self.wallClockSeconds = Int64(wallClockSeconds)
    }

    /// Whether somebody new has to prove something.
    public var isLocked: Bool { pin != nil }

    /// The time of day, in seconds since 1970.
    public func wallClock(now: MeshInstant) -> UInt32 {
        UInt32(clamping: wallClockSeconds + Int64(now / .seconds(1)))
    }

    /// The clock of the day says this now. False where that is what was known. What was given for a time in this run lasts that long, and what
    /// earlier runs have given ends when they have said.
    public mutating func clockSays(_ seconds: UInt32, now: MeshInstant) -> Bool {
        guard abs(Int64(seconds) - Int64(wallClock(now: now))) >= Limits.clockStep else { return false }
        wallClockSeconds = Int64(seconds) - Int64(now / .seconds(1))
        for place in invitations.indices {
            if let end = ends[invitations[place].name] { invitations[place].until = wallClock(now: end) }
        }
        let back = over.filter { $0.until > seconds }
        over.removeAll { $0.until > seconds }
        invitations = Array((back + invitations).suffix(Limits.invitations))
        return true
    }

    /// Whether one more may begin to prove something: who has an invitation guesses nothing.
    func hasRoom(at entrance: Entrance, now: MeshInstant) -> Bool {
        !invitations.isEmpty || mayGuess(at: entrance, now: now)
    }

    // MARK: Invitations

    /// Gives an invitation that is good for so many seconds. Nil where as many are good as may be.
    public mutating func invite(
        _ name: [UInt8], _ secret: [UInt8], seconds: UInt32, isOnce: Bool, now: MeshInstant
    ) -> GivenInvitation? {
        dropOutdated(now: now)
        guard invitations.count < Limits.invitations else { return nil }
        let until = wallClock(now: now) &+ min(seconds, Limits.invitationSeconds)
        let given = GivenInvitation(name: name, secret: secret, until: until, isOnce: isOnce)
        invitations.append(given)
        ends = ends.filter { end in invitations.contains { $0.name == end.key } }
        ends[name] = now + .seconds(Int64(min(seconds, Limits.invitationSeconds)))
        return given
    }

    /// None that was given is good any more. Returns how many were.
    public mutating func takeBackInvitations() -> Int {
        defer { (invitations, over) = ([], []) }
        return invitations.count
    }

    /// Revokes one invitation. Returns whether it was open.
    public mutating func takeBack(invitation name: [UInt8]) -> Bool {
        let count = invitations.count
        invitations.removeAll { $0.name == name }
        over.removeAll { $0.name == name }
        return invitations.count < count
    }

    /// What somebody has to prove who names an invitation; nil where it is used, over, or was never given.
    mutating func secret(ofInvitation name: [UInt8], now: MeshInstant) -> JoiningSecret? {
        dropOutdated(now: now)
        return invitations.first { $0.name == name }.map {
            JoiningSecret(invitation: $0.name, bytes: $0.secret, host: nil)
        }
    }

    /// Somebody comes in by an invitation. False where somebody else has used it meanwhile.
    mutating func use(invitation name: [UInt8], now: MeshInstant) -> Bool {
        dropOutdated(now: now)
        guard let place = invitations.firstIndex(where: { $0.name == name }) else { return false }
        if invitations[place].isOnce { invitations.remove(at: place) }
        return true
    }

    private mutating func dropOutdated(now: MeshInstant) {
        let time = wallClock(now: now)
        guard invitations.contains(where: { $0.until <= time }) else { return }
        over = Array((over + invitations.filter { $0.until <= time }).suffix(Limits.invitations))
        invitations.removeAll { $0.until <= time }
    }

    // MARK: Guesses

    /// Judges what somebody claims to know that says so in the clear, on a link that its bearer vouches for. Nil where it is
    /// right; an invitation is used by `use`.
    mutating func judge(_ claim: JoiningSecret, at entrance: Entrance, now: MeshInstant) -> RefusalReason? {
        guard claim.invitation.isEmpty else {
            let secret = secret(ofInvitation: claim.invitation, now: now)
            return secret.map { isSameProof($0.bytes, claim.bytes) } == true ? nil : .invitation
        }
        guard let pin else { return nil }
        guard mayGuess(at: entrance, now: now) else { return .tooManyGuesses }
        guard isSameProof(pin.bytes, claim.bytes) else {
            guesses.wasWrong(now: now)
            return .wrongProof
        }
        return nil
    }

    /// Whether a proof of the PIN may be compared now. Asked again for each proof that arrives: many may be under way at once, and
    /// one that is never finished takes nothing from the others.
    func mayGuess(at entrance: Entrance, now: MeshInstant) -> Bool {
        guesses.hasRoom(at: entrance, now: now)
    }

    /// A proof of the PIN was wrong.
    mutating func wasWrong(now: MeshInstant) { guesses.wasWrong(now: now) }
}

/// How often the secret of a door may be guessed, for all together, since identities cost nothing: a bucket of `Limits.guesses` that
/// gets one back each `Limits.guessInterval`. No pace gives a guesser more than that. The last ones are reserved for strangers on the
/// air, so guessers elsewhere do not keep guests out of the car.
struct GuessLimit: Hashable, Sendable {
    /// When all guesses are back.
    private var full = MeshInstant.zero

    func hasRoom(at entrance: Entrance, now: MeshInstant) -> Bool {
        let most = entrance == .air ? Limits.guesses : Limits.guesses - Limits.guessesOfAir
        return full <= now + Limits.guessInterval * (most - 1)
    }

    mutating func wasWrong(now: MeshInstant) { full = max(full, now) + Limits.guessInterval }
}
