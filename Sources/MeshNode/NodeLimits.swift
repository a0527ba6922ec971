// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Limits of a running node, each with its reason.
public enum NodeLimits {
    /// Alarms of a node's clock: a ping's, a step's, and some that were set too late.
    static let alarms = 4
    /// Events that wait for those who show them: a busy minute's worth.
    public static let outputEvents = 4_096
    /// Events of a link in this process that wait for who reads it: some seconds of votes from everybody at once.
    static let linkEvents = 1_024
    /// Longest line of a program's input, in bytes.
    public static let inputLineBytes = 4_096
    /// What may wait for a node of one peer before its link is not read any more, and of people and the radio before they
    /// wait: what comes while a slow card writes for some seconds.
    static let waitingInputs = 64
    /// The same in bytes: some of the largest messages there are.
    static let waitingBytes = 2 * Limits.messageBytes
    /// What a step takes of one peer: what a person taps in the fifth of a second, and what waits behind it for all guests
    /// there can be is decided in some milliseconds.
    static let turn = 2
    /// Writes of a host a second. Each costs the disk a commit and every guest an update; a crowd's votes are gathered for
    /// 56 ms, which nobody sees.
    static let writesPerSecond = 18
    /// Writes that come as soon as there is something to write before that counts: what a full car taps at once.
    static let writeBurst = 100
    /// What a message costs that waits for a disk that is out, in addition to its body.
    static let heldMessage = 128
    /// Bytes of one peer that wait for a disk that is out: some four hundred votes. What comes beyond them is not
    /// acknowledged, and comes again when the disk is back.
    static let heldBytes = 64 << 10
    /// Bytes of all peers that wait for it: as much as all that can be linked have. Those who have left go first, since an
    /// identity costs nothing.
    static let allHeldBytes = (Limits.guests + Limits.vouchedGuests) * heldBytes
    /// For how long no more is read from a guest that wants more than a host follows (`DJLimits.wishesPerSecond`): shorter than
    /// the silence after which it would take the host for gone.
    static let hastePause: Duration = .seconds(1)
    /// How long a host that is heard through a relay waits to be told of, in case that it is in reach itself or a better relay is: some
    /// advertisements.
    static let settlingWays: Duration = .milliseconds(200)
    /// How long a dial may pend before it is looked for another way: a dial that is answered takes 20 to 500 ms over BlueZ, and one
    /// to a controller without room for a link is not answered at all.
    static let dialPatience: Duration = .milliseconds(1_500)
    /// How long a dial to a relay may pend where another relay is known: what a dial that is answered takes. In a crowd most of those that
    /// were heard are full or gone by the time that they are dialled.
    static let dialPatienceBesideOthers: Duration = .milliseconds(600)
    /// How long it is listened after a dial in vain: a host that advertises fast is heard within `settlingWays`, and some are not that fast.
    static let freshLook: Duration = .milliseconds(600)
    /// How long a relay that was heard is good for a dial: a scan reports who is in range every ten seconds at the latest.
    static let freshWay: Duration = .seconds(12)
    /// How long a circuit has to stand before its end is the way's, and not the relay's: a relay that alters what passes it breaks
    /// each within its first records.
    static let lastingCircuit: Duration = .seconds(1)
    /// The first pause for a relay through which circuits led to nothing; it doubles with each.
    static let failedRelayPause: Duration = .milliseconds(250)
    /// The longest of these.
    static let longestRelayPause: Duration = .seconds(16)
    /// How long after a pause the next one is the first again.
    static let relayFailureMemory: Duration = .seconds(30)
    /// The longest for a relay beside which no other one leads to the host: somebody waits for it, and nobody is passed over for it.
    static let onlyRelayPause: Duration = .seconds(4)
    /// Relays that are paused for: more than are in range at once.
    static let failedRelays = 32
    /// For how long a relay that has lost its way looks for another before it tells those behind it: a scan and a dial.
    static let relaySearch: Duration = .milliseconds(500)
    /// The longest of that, where a channel opens meanwhile that may lead on: the handshakes on it take a quarter of a second in the lab,
    /// and those behind who are told that there is no way find one after another 1.3 s.
    static let longestRelaySearch: Duration = .seconds(1)
    /// How long a guest behind relays rests at least before it listens for a better way. Each look that finds none doubles it: listening
    /// takes time on the air from everybody.
    static let firstLook: Duration = .seconds(10)
    /// The longest of these rests: who has come nearer is served better within some two minutes.
    static let longestRest: Duration = .seconds(120)
    /// So many links fewer has a way to have before a relay leaves another for it that carries others: all of these shake hands again
    /// then, and one link is some ten milliseconds of a vote.
    static let hopsWithOthers = 2
    /// How long a look takes: a host advertises every 1.28 s as Debian installs it.
    static let look: Duration = .seconds(3)
    /// How long a guest that is asked to make room listens for a relay to go behind: a relay whose links change advertises every
    /// 20 ms, and the place is wanted.
    static let lookAside: Duration = .milliseconds(1_500)
    /// How long a guest that was asked to make room has to go, before another one is asked: `lookAside`, a dial and two handshakes.
    static let makingRoom: Duration = .seconds(4)
    /// A guest that did not go heard no relay to go behind, or one whose last place was gone: it is asked again after this long, doubled
    /// with each time. While a crowd comes, relays with room come up every second.
    static let makeRoomAgain: Duration = .seconds(5)
    /// How often that is doubled: up to 160 s. Listening takes time on the air.
    static let makeRoomDoublings = 5
    /// What was found is looked for once more after this long: two cars that meet are in each other's reach for less.
    static let secondLook: Duration = .seconds(5)
    /// How long a better way is dialled while the one that is up goes on: some connection attempts.
    static let goingOver: Duration = .seconds(5)
    /// The least signal, in dBm, with which a way is taken although another is up: some 15 dB above what a receiver needs.
    static let nearSignal = -80
    /// By how much more than the signal that there is, in dB, a relay with as many hops has to be heard: a body in between takes as
    /// much.
    static let betterSignal = 15
    /// How long the link to a relay that leads nowhere at present is kept: as long as the relay itself looks for a way, and the time
    /// that this takes to be heard of.
    static let idleCarrier: Duration = .milliseconds(1_500)
    /// How long a relay that has gone over to a better way keeps the link to the last one at most for those behind it, who open other
    /// circuits meanwhile: a few hundred handshakes on the way of a crowd.
    static let followedCarrier: Duration = .seconds(8)
    /// How often it looks whether they have: the link takes a place at the other relay.
    static let followedLook: Duration = .milliseconds(250)
    /// How long the loss of a link over the network is not told, while the air is dialled: a few advertising intervals and a handshake.
    static let quietLoss: Duration = .seconds(1)
    /// How long a guest behind a relay waits for the state before it asks the host itself: for the first on a link, for one that is
    /// no older than what is on view, and for what the host has told of. A word of the host's in a circuit overtakes the state, which a
    /// relay checks before it passes it on: in crowds of some hundred by seconds. And whoever asks makes it later for all: the host
    /// answers each through the same links.
    static let relayedState: Duration = .seconds(10)
    /// How long it waits as long as some of it comes: a snapshot of a thousand people over six relays, each of which takes some seconds
    /// to pass it on. A relay that keeps the state back and has others trickle through gets no further.
    static let longestRelayedState: Duration = .seconds(60)
    /// How long a guest asks no more after it has asked: the host has forgotten it by then. It doubles with each time, up to eight times
    /// that.
    static let relayedStateAgain: Duration = DJLimits.askedForWhole
    /// How long after a write that has failed the disk is asked again. A person who deletes something sees at once that it helps.
    static let storeRetry: Duration = .seconds(1)
    /// Longest words of a mark, in characters: they stand beside a plot on a phone.
    public static let markCharacters = 60
    /// How long a node has for its whole end after a signal; what hangs then is cut off.
    public static let shutdown: Duration = .seconds(2)
    /// How long a program that has ended waits until its last lines are read.
    public static let lastLines: Duration = .milliseconds(400)
    /// How long a node that ends waits for its radio: a goodbye takes 0.3 s, and the whole end is to take less than two.
    static let farewell: Duration = .milliseconds(1_500)
    /// Names and titles that are remembered for what is no longer on view: a drive's worth.
    static let rememberedNames = 1_024
    /// Songs whose covers' files are remembered: a queue's, several times over.
    static let rememberedPictures = 512
    /// Hosts in range that are shown: what a person can choose from.
    static let shownHosts = 16
    /// Relays to one host that are shown. More of them are one beside another.
    static let shownRelays = 8
    /// How long a wish that was followed or not stays marked: as long as a passing notice.
    static let settledWish: Duration = DJLimits.passingNotice
    /// For how long an invitation for one guest is good, in seconds: it is given today for the weekend.
    static let onceSeconds: UInt32 = 7 * 86_400
    /// Longest text that is looked at as a PIN, in bytes: a person may type spaces.
    static let pinBytes = 40
    /// Keys that are kept out beyond a session: more than anybody remembers why. The oldest goes for a new one.
    static let bans = 256
    /// Devices that steer beside the head unit: those of a family, and some to spare.
    static let drivers = 16
    /// Longest text that names a host, in bytes: a link with an invitation.
    static let hostBytes = 512
}
