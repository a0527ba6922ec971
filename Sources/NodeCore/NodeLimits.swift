// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Limits of a running node, each with its reason.
public enum NodeLimits {
    /// Alarms of a node's clock: one for a ping, one for a step, and some that were set too late.
    package static let alarms = 4
    /// Unread events per display: those of about a busy minute.
    public static let outputEvents = 4_096
    /// Unread events of a link in this process: some seconds of votes from all guests at once.
    package static let linkEvents = 1_024
    /// Longest line of a program's input, in bytes.
    public static let inputLineBytes = 4_096
    /// The silence that a guest with `--quiet` requests: a ping every ten seconds. The radio itself reports a lost link
    /// within half a second.
    static let quietSilence: Duration = .seconds(20)
    /// Inputs of one peer that wait for the node before the node stops reading that peer's link. The same limit applies
    /// to the inputs of people and of the radio; further inputs wait. It covers the inputs that arrive while a slow
    /// card writes for some seconds.
    static let waitingInputs = 64
    /// The limit `waitingInputs` in bytes: some messages of the largest size.
    static let waitingBytes = 2 * Limits.messageBytes
    /// Messages of one peer that a step processes: a person's taps in a fifth of a second. With this limit a step for
    /// the maximum number of guests takes some milliseconds.
    static let turn = 2
    /// Messages per second that a host processes from all guests in the circuits of one link, after a burst of
    /// `crowdBurst`. Further messages wait, so an attacker behind a relay delays only guests behind that relay.
    static let crowdMessagesPerSecond = 50
    /// Such messages at the same moment (`crowdMessagesPerSecond`). A hundred people may tap at the same moment.
    static let crowdBurst = 100
    /// Searches per second of all guests in the circuits of one link. Each search reads the full library.
    static let crowdSearchesPerSecond = 16
    /// Searches of all guests in the circuits of one link at the same moment (`crowdSearchesPerSecond`).
    static let crowdSearchBurst = 32
    /// Writes per second of a host. Each write costs a commit on the disk and an update to every guest. The host
    /// gathers the votes of a crowd for 56 ms, which people do not notice.
    static let writesPerSecond = 18
    /// Writes that a host makes immediately before `writesPerSecond` applies: the taps of a full car at once.
    static let writeBurst = 100
    /// Bytes that each message costs in addition to its body while it waits for a failed disk.
    static let heldMessage = 128
    /// Bytes of one peer that wait for a failed disk: about four hundred votes. The node does not acknowledge further
    /// messages, and the peer sends them again when the disk works.
    static let heldBytes = 64 << 10
    /// Bytes of all peers that wait for a failed disk: enough for every guest that can be linked. Messages of guests
    /// that have left are dropped first, because an attacker can leave and come back under new identities.
    static let allHeldBytes = (Limits.guests + Limits.vouchedGuests) * heldBytes
    /// How long a host stops reading from a guest that sends wishes faster than `DJLimits.wishesPerSecond`. It is
    /// shorter than the silence after which that guest would consider the host gone.
    static let hastePause: Duration = .seconds(1)
    /// How long the node waits before it reports a host that it has found only through a relay: the time of some
    /// advertisements. In this time it may find the host itself or a better relay.
    static let settlingWays: Duration = .milliseconds(200)
    /// Time before the node tries another route while a dial is pending. An answered dial takes 20 to 500 ms over
    /// BlueZ. A controller without room for a link does not answer at all.
    static let dialPatience: Duration = .milliseconds(1_500)
    /// How long a dial to a relay may be pending if another relay is known: as long as an answered dial takes. In a
    /// crowd most relays are full or gone when they are dialled.
    static let dialPatienceBesideOthers: Duration = .milliseconds(600)
    /// How long the node scans after a failed dial. A host that advertises fast is heard within `settlingWays`; some
    /// hosts are slower.
    static let freshLook: Duration = .milliseconds(600)
    /// How long the scan result of a relay stays valid for a dial. A scan reports each device in range at least every
    /// ten seconds.
    static let freshWay: Duration = .seconds(12)
    /// If a circuit lasted at least this long, its end is attributed to the route, otherwise to the relay. A relay that
    /// alters records breaks each circuit within the first few.
    static let lastingCircuit: Duration = .seconds(1)
    /// The first pause for a relay after its circuits failed. It doubles with each failure.
    static let failedRelayPause: Duration = .milliseconds(250)
    /// The longest pause for a relay after its circuits failed.
    static let longestRelayPause: Duration = .seconds(16)
    /// If a relay's circuits fail later than this after a pause, the failure counts as the first one again.
    static let relayFailureMemory: Duration = .seconds(30)
    /// The longest pause for the only relay to the host: the guest waits for it, and has no other relay to prefer.
    static let onlyRelayPause: Duration = .seconds(4)
    /// Maximum number of remembered hosts, and of remembered relays: as many as the radio remembers
    /// (`BearerLimits.scanResults`). The one that was heard longest ago is forgotten first.
    static let heardNodes = 256
    /// Maximum number of relays with a pause after a failure: more than are in range at once.
    static let failedRelays = 32
    /// How long a relay that has lost its route looks for another before it notifies the nodes behind it: a scan and a
    /// dial.
    static let relaySearch: Duration = .milliseconds(500)
    /// The longest search of a relay for another route, if a channel that may become a route opens during the search.
    /// The channel's handshakes take a quarter of a second in the lab. If the nodes behind the relay learn of the lost
    /// route, they find another one 1.3 s later.
    static let longestRelaySearch: Duration = .seconds(1)
    /// The shortest rest before a guest behind relays scans for a better route. Each scan without success doubles it,
    /// since scanning takes air time from all nodes.
    static let firstLook: Duration = .seconds(10)
    /// The longest rest before a guest behind relays scans for a better route. A guest that has come nearer has a
    /// better route within two minutes.
    static let longestRest: Duration = .seconds(120)
    /// A relay that carries others switches to another route only if it saves at least this many hops. After a switch
    /// all nodes behind it repeat their handshakes, while one hop delays a vote by only about ten milliseconds.
    static let hopsWithOthers = 2
    /// How long a scan for a better route takes. A host with Debian's defaults advertises every 1.28 s.
    static let look: Duration = .seconds(3)
    /// How long a guest that must make room listens for a relay to join. A relay advertises every 20 ms while its links
    /// change, and another node needs the slot.
    static let lookAside: Duration = .milliseconds(1_500)
    /// How long the host waits for a guest to make room before it asks another guest: `lookAside`, a dial and two
    /// handshakes.
    static let makingRoom: Duration = .seconds(4)
    /// How long until the host asks a guest again that did not leave its slot, doubled each time. Such a guest has
    /// found no relay with a free slot. While a crowd joins, new relays with room appear every second.
    static let makeRoomAgain: Duration = .seconds(5)
    /// How often `makeRoomAgain` is doubled: up to 160 s. Scanning takes air time.
    static let makeRoomDoublings = 5
    /// How long until a better route is checked a second time. Two cars that pass each other are in range for less than
    /// this.
    static let secondLook: Duration = .seconds(5)
    /// How long the node dials a better route while the present one stays in use: some connection attempts.
    static let goingOver: Duration = .seconds(5)
    /// The weakest signal, in dBm, of a route that replaces one in use: about 15 dB above what a receiver needs.
    static let nearSignal = -80
    /// How much stronger than the present signal, in dB, the signal of a relay with as many hops must be. A body
    /// between the devices attenuates a signal by as much.
    static let betterSignal = 15
    /// How long a link to a relay without a route is kept: as long as the relay searches for a route, and the time
    /// until its report arrives here.
    static let idleCarrier: Duration = .milliseconds(1_500)
    /// How long a relay that has changed its route keeps the old link for the nodes behind it while they open new
    /// circuits: a few hundred handshakes on a crowd's route.
    static let followedCarrier: Duration = .seconds(8)
    /// How often a relay that has changed its route checks whether the nodes behind it have opened their new circuits.
    /// The old link occupies a slot at the other relay.
    static let followedLook: Duration = .milliseconds(250)
    /// How long the loss of a link over the network stays unreported while the node dials over Bluetooth: a few
    /// advertising intervals and a handshake.
    static let quietLoss: Duration = .seconds(1)
    /// How long a guest behind a relay waits for the state before it asks the host. It waits in three cases: for the
    /// first state on a link, for a state that is at least as new as the state on view, and for a state that the host
    /// has announced. The host's announcement in a circuit arrives before the state, because relays check the state
    /// before they forward it; in crowds of several hundred, seconds before. Each request delays the state for all
    /// other guests, because the host answers over the same links.
    static let relayedState: Duration = .seconds(10)
    /// How long the guest waits while parts of the state arrive: a snapshot of a thousand people over six relays, each
    /// of which takes some seconds to forward it. A relay that withholds the state and sends small parts gains no more
    /// time than this.
    static let longestRelayedState: Duration = .seconds(60)
    /// How long a guest waits before it asks again. By then the host has dropped the earlier request. The time doubles
    /// with each request, up to eight times this value.
    static let relayedStateAgain: Duration = DJLimits.askedForWhole
    /// How long after a failed write the node tries the disk again. So a person who deletes files sees the effect at
    /// once.
    static let storeRetry: Duration = .seconds(1)
    /// Longest text of a mark, in characters. It stands next to a plot on a phone.
    public static let markCharacters = 60
    /// How long a node may take to end after a signal. After that the process exits without waiting.
    public static let shutdown: Duration = .seconds(2)
    /// How long a program waits at its end for its last lines to be read.
    public static let lastLines: Duration = .milliseconds(400)
    /// How long a node that ends waits for its radio: a goodbye takes 0.3 s, and the node must end in less than two
    /// seconds.
    package static let farewell: Duration = .milliseconds(1_500)
    /// Names and titles that the node remembers after they are no longer on view: as many as one drive has.
    static let rememberedNames = 1_024
    /// Cover files that the node remembers, by song: several times as many as a queue holds.
    static let rememberedPictures = 512
    /// Hosts in range that are shown: as many as a person can choose from.
    static let shownHosts = 16
    /// Relays per host that are shown. Further relays are close to the shown ones.
    static let shownRelays = 8
    /// How long a settled wish stays marked: as long as a passing notice.
    static let settledWish: Duration = DJLimits.passingNotice
    /// How long an invitation for one guest is valid, in seconds. For example, a person creates it today for the
    /// weekend.
    static let onceSeconds: UInt32 = 7 * 86_400
    /// Longest text that is parsed as a PIN, in bytes. A person may type spaces.
    static let pinBytes = 40
    /// Longest playlist name in the request of a page, in bytes. Most systems allow half as much in a file name.
    public static let playlistBytes = 512
    /// Bans that outlive the session: more than a person keeps track of. A new ban replaces the oldest.
    static let bans = 256
    /// Maximum number of co-hosts: the devices of a family, and some more.
    static let drivers = 16
    /// Longest text that names a host, in bytes: a link with an invitation.
    static let hostBytes = 512
}
