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
    /// Inputs of one peer that wait for the node before its link is not read, and inputs of people and the radio before
    /// they wait: what arrives while a slow card writes for some seconds.
    static let waitingInputs = 64
    /// The same in bytes: some of the largest messages there are.
    static let waitingBytes = 2 * Limits.messageBytes
    /// What a step takes of one peer: what a person taps in the fifth of a second, and what waits behind it for all guests
    /// there can be is decided in some milliseconds.
    static let turn = 2
    /// Messages a second of all guests in the circuits of one link that a host decides on, those beyond `crowdBurst`. The others wait, so an
    /// attacker behind a relay delays only guests behind that relay.
    static let crowdMessagesPerSecond = 50
    /// See `crowdMessagesPerSecond`: what a hundred people tap in one moment.
    static let crowdBurst = 100
    /// Searches a second of all guests in the circuits of one link: each reads the whole library.
    static let crowdSearchesPerSecond = 16
    /// See `crowdSearchesPerSecond`.
    static let crowdSearchBurst = 32
    /// Writes of a host a second. Each costs the disk a commit and every guest an update. A crowd's votes are gathered
    /// for 56 ms, which people do not notice.
    static let writesPerSecond = 18
    /// Writes that come as soon as there is something to write before that counts: what a full car taps at once.
    static let writeBurst = 100
    /// Bytes that a message costs in addition to its body while it waits for a disk that does not work.
    static let heldMessage = 128
    /// Bytes of one peer that wait for a disk that does not work: about four hundred votes. Further messages are not
    /// acknowledged, and are sent again when the disk works.
    static let heldBytes = 64 << 10
    /// Bytes of all peers that wait for it: as much as all that can be linked have. Those who have left go first, since an
    /// identity costs nothing.
    static let allHeldBytes = (Limits.guests + Limits.vouchedGuests) * heldBytes
    /// For how long no more is read from a guest that wants more than a host follows (`DJLimits.wishesPerSecond`): shorter than
    /// the silence after which it would take the host for gone.
    static let hastePause: Duration = .seconds(1)
    /// How long a host that is heard through a relay waits before it is reported: it, or a better relay, may be in
    /// reach itself. Some advertisements long.
    static let settlingWays: Duration = .milliseconds(200)
    /// How long a dial may pend before it is looked for another way: a dial that is answered takes 20 to 500 ms over BlueZ, and one
    /// to a controller without room for a link is not answered at all.
    static let dialPatience: Duration = .milliseconds(1_500)
    /// How long a dial to a relay may be pending if another relay is known: as long as an answered dial takes. In a
    /// crowd most relays are full or gone when they are dialled.
    static let dialPatienceBesideOthers: Duration = .milliseconds(600)
    /// How long the node listens after a failed dial: a host that advertises fast is heard within `settlingWays`, and
    /// some are slower.
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
    /// The longest pause for the only relay to the host: the guest waits for it, and has no other relay to prefer.
    static let onlyRelayPause: Duration = .seconds(4)
    /// Relays that are paused for: more than are in range at once.
    static let failedRelays = 32
    /// How long a relay that has lost its route looks for another before it notifies the nodes behind it: a scan and a
    /// dial.
    static let relaySearch: Duration = .milliseconds(500)
    /// The longest such search, if a channel opens during it that may become a route. Its handshakes take a quarter of
    /// a second in the lab. Nodes behind the relay that hear of a lost route find another 1.3 s later.
    static let longestRelaySearch: Duration = .seconds(1)
    /// How long a guest behind relays rests at least before it listens for a better way. Each look that finds none doubles it: listening
    /// takes time on the air from everybody.
    static let firstLook: Duration = .seconds(10)
    /// The longest such rest: a guest that has come nearer has a better route within two minutes.
    static let longestRest: Duration = .seconds(120)
    /// A relay that carries others switches to another route only if it saves at least this many hops. All of them
    /// repeat their handshakes then, and one hop costs a vote about ten milliseconds.
    static let hopsWithOthers = 2
    /// How long a look takes: a host advertises every 1.28 s as Debian installs it.
    static let look: Duration = .seconds(3)
    /// How long a guest that must make room listens for a relay to join: a relay whose links change advertises every 20
    /// ms, and another node needs the slot.
    static let lookAside: Duration = .milliseconds(1_500)
    /// How long a guest that was asked to make room has to go, before another one is asked: `lookAside`, a dial and two handshakes.
    static let makingRoom: Duration = .seconds(4)
    /// A guest that did not leave its slot has heard no relay, or only one whose last slot was taken. It is asked again
    /// after this long, doubled each time. While a crowd joins, new relays with room appear every second.
    static let makeRoomAgain: Duration = .seconds(5)
    /// How often that is doubled: up to 160 s. Listening takes time on the air.
    static let makeRoomDoublings = 5
    /// A better route is looked for once more after this long: two cars that pass each other are in reach for less.
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
    /// How long a relay that has changed its route keeps the old link for the nodes behind it while they open new
    /// circuits: a few hundred handshakes on the way of a crowd.
    static let followedCarrier: Duration = .seconds(8)
    /// How often it looks whether they have: the link takes a place at the other relay.
    static let followedLook: Duration = .milliseconds(250)
    /// How long the loss of a link over the network is not told, while the air is dialled: a few advertising intervals and a handshake.
    static let quietLoss: Duration = .seconds(1)
    /// How long a guest behind a relay waits for the state before it asks the host: for the first state on a link, for
    /// one that is at least as new as the one on view, and for one that the host has announced. The host's message in a
    /// circuit overtakes the state, since relays check the state before they forward it: in crowds of several hundred
    /// by seconds. Each request delays the state for all others, since the host answers over the same links.
    static let relayedState: Duration = .seconds(10)
    /// How long it waits as long as some of it comes: a snapshot of a thousand people over six relays, each of which takes some seconds
    /// to pass it on. A relay that keeps the state back and has others trickle through gets no further.
    static let longestRelayedState: Duration = .seconds(60)
    /// How long a guest asks no more after it has asked: the host has forgotten it by then. It doubles with each time, up to eight times
    /// that.
    static let relayedStateAgain: Duration = DJLimits.askedForWhole
    /// How long after a write that has failed the disk is asked again. A person who deletes something sees at once that it helps.
    static let storeRetry: Duration = .seconds(1)
    /// Longest text of a mark, in characters: it stands next to a plot on a phone.
    public static let markCharacters = 60
    /// How long a node may take to end after a signal. Anything that hangs then is cut off.
    public static let shutdown: Duration = .seconds(2)
    /// How long a program that has ended waits until its last lines are read.
    public static let lastLines: Duration = .milliseconds(400)
    /// How long a node that ends waits for its radio: a goodbye takes 0.3 s, and the node must end in less than two
    /// seconds.
    static let farewell: Duration = .milliseconds(1_500)
    /// Names and titles that are remembered after they are no longer on view: as many as in one drive.
    static let rememberedNames = 1_024
    /// Songs whose cover files are remembered: several times as many as a queue has.
    static let rememberedPictures = 512
    /// Hosts in range that are shown: as many as a person can choose from.
    static let shownHosts = 16
    /// Relays to one host that are shown. Further ones are next to these.
    static let shownRelays = 8
    /// How long a wish that was followed or not stays marked: as long as a passing notice.
    static let settledWish: Duration = DJLimits.passingNotice
    /// For how long an invitation for one guest is good, in seconds: it is given today for the weekend.
    static let onceSeconds: UInt32 = 7 * 86_400
    /// Longest text that is looked at as a PIN, in bytes: a person may type spaces.
    static let pinBytes = 40
    /// Bytes of the name of a playlist that a page may ask for: a path of Linux, twice as long as most systems allow a name.
    public static let playlistBytes = 512
    /// Keys that are kept out beyond a session: more than anybody remembers why. The oldest goes for a new one.
    static let bans = 256
    /// Co-hosts: as many as a family has devices, and some to spare.
    static let drivers = 16
    /// Longest text that names a host, in bytes: a link with an invitation.
    static let hostBytes = 512
}
