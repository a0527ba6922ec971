// SPDX-License-Identifier: Apache-2.0

/// The secrets that a new peer must prove, and the number of guesses. A peer that has proved a secret once is known by
/// its key (`MeshCore.Remembered`) and need not prove it again.
public struct AdmissionPolicy: Hashable, Sendable {
    /// The PIN. Nil admits all peers.
    public var pin: JoiningSecret?
    /// The valid invitations, the oldest first.
    public private(set) var invitations: [GivenInvitation]
    private var guesses = GuessLimit()
    /// The wall clock at the node's time zero, in seconds since 1970.
    private var wallClockSeconds: Int64
    /// The expiry of the invitations of this run, in node time: the wall clock may be set during the run.
    private var ends: [[UInt8]: MeshInstant] = [:]
    /// Invitations that had expired by the clock, which may be set back.
    private var over: [GivenInvitation] = []

    /// Creates a policy with or without a PIN, and with the invitations of earlier runs.
    public init(pin: JoiningSecret? = nil, invitations: [GivenInvitation] = [], wallClockSeconds: UInt32 = 0) {
        self.pin = pin
        self.invitations = Array(invitations.suffix(Limits.invitations))
        self.wallClockSeconds = Int64(wallClockSeconds)
    }

    /// Whether a new peer must prove a secret.
    public var isLocked: Bool { pin != nil }

    /// The wall clock, in seconds since 1970.
    public func wallClock(now: MeshInstant) -> UInt32 {
        UInt32(clamping: wallClockSeconds + Int64(now / .seconds(1)))
    }

    /// Sets the wall clock. Returns false if the clock is unchanged. An invitation of this run is valid for its full
    /// time in any case. An invitation of an earlier run ends at its stored time.
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

    /// Whether one more peer may begin a proof. A peer with an invitation does not guess.
    func hasRoom(at entrance: Entrance, now: MeshInstant) -> Bool {
        !invitations.isEmpty || mayGuess(at: entrance, now: now)
    }

    // MARK: Invitations

    /// Creates an invitation that is valid for this many seconds. Nil if there are too many valid ones.
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

    /// Revokes all invitations. Returns how many were valid.
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

    /// The secret that a peer with this invitation must prove. Nil if the invitation is used, has expired, or was never
    /// made.
    mutating func secret(ofInvitation name: [UInt8], now: MeshInstant) -> JoiningSecret? {
        dropOutdated(now: now)
        return invitations.first { $0.name == name }.map {
            JoiningSecret(invitation: $0.name, bytes: $0.secret, host: nil)
        }
    }

    /// A peer is admitted by an invitation. False if another peer has used it in the meantime.
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

    /// Checks a claim that is sent unencrypted, on a link that its bearer vouches for. Nil if the claim is right. The
    /// caller then uses up an invitation with `use`.
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

    /// Whether a proof of the PIN may be checked now. Called again for each proof that arrives. Many proofs may be open
    /// at once, and an unfinished one does not count against the others.
    func mayGuess(at entrance: Entrance, now: MeshInstant) -> Bool {
        guesses.hasRoom(at: entrance, now: now)
    }

    /// A proof of the PIN was wrong.
    mutating func wasWrong(now: MeshInstant) { guesses.wasWrong(now: now) }
}

/// Limits the guesses of a secret for all peers together, since identities cost nothing: a bucket of `Limits.guesses`
/// that gets one guess back each `Limits.guessInterval`. No other timing gives an attacker more guesses. The last
/// guesses are reserved for strangers over Bluetooth, so attackers on other bearers do not keep guests out of the car.
struct GuessLimit: Hashable, Sendable {
    /// When all guesses are back.
    private var full = MeshInstant.zero

    func hasRoom(at entrance: Entrance, now: MeshInstant) -> Bool {
        let most = entrance == .air ? Limits.guesses : Limits.guesses - Limits.guessesOfAir
        return full <= now + Limits.guessInterval * (most - 1)
    }

    mutating func wasWrong(now: MeshInstant) { full = max(full, now) + Limits.guessInterval }
}
