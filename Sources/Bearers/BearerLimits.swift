// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The limits of bearers of every kind, each with its reason.
public enum BearerLimits {
    // MARK: Advertising

    /// Advertising interval while a guest may be looking for the host, the shortest possible. A pending dial receives
    /// one advertisement and is answered at the next one, so a guest has its link back after about 40 ms.
    public static let fastAdvertisingMilliseconds: ClosedRange<Int> = 20...20
    /// Advertising interval if no guest is expected. A guest still finds the host within half a second, for an eighth
    /// of the airtime.
    public static let slowAdvertisingMilliseconds: ClosedRange<Int> = 150...200
    /// Time of fast advertising after a start, a join or a lost link.
    public static let eagerAdvertising: Duration = .seconds(60)

    // MARK: Scanning

    /// Maximum number of hosts and guests in range that are remembered.
    public static let scanResults = 256
    /// Time between two reports of a host that keeps advertising.
    public static let scanResultRepeat: Duration = .seconds(1)
    /// How often a virtual radio reads the air's folder if it cannot watch it: the interval of a host that advertises
    /// slowly.
    public static let airPoll: Duration = .milliseconds(100)
    /// How often an idle virtual radio checks whether the air's folder still works. A watch reports most faults at once.
    static let airCheck: Duration = .seconds(10)
    /// The virtual radio reports a host as lost if it has not heard it for this time: 25 slow advertisements in a row
    /// were lost. (For BlueZ, bluetoothd uses its own 30 s. A shorter time would not be reliable, since a controller
    /// that filters duplicates reports a host every ten seconds. If a host says goodbye to a guest, the guest removes
    /// the host from its list at once.)
    public static let virtualScanResultLifetime: Duration = .seconds(5)

    // MARK: Dialling

    /// A dial ends after this time, which is the kernel's own limit.
    public static let dialLimit: Duration = .seconds(40)
    /// Maximum number of dials per second that the virtual radio accepts: four times as many as a node answers, and
    /// more than arrive through a controller. A program can dial 13,000 times a second, and each dial costs the node a
    /// fraction of a millisecond.
    public static let virtualCallersPerSecond = 80
    /// Maximum number of dials that the virtual radio accepts at once: all guests of a host, twice.
    public static let virtualCallerBurst = 2 * Limits.guests
    /// Time between two checks whether the next dial may be accepted.
    public static let callerPause: Duration = .milliseconds(10)
    /// Pause after a dial that could not be accepted, so that a lack of descriptors does not cause a busy loop.
    public static let acceptPause: Duration = .milliseconds(100)

    // MARK: Two bearers

    /// How long a dial over Bluetooth waits for the network if a peer is found on both. A host in the same network
    /// answers within some milliseconds, and a Bluetooth dial disturbs existing links.
    public static let networkFirst: Duration = .milliseconds(250)
    /// How long a dial through a broker waits for the network and Bluetooth, if the peer was ever found on them.
    /// Bluetooth usually links within 300 ms, and broker traffic costs money.
    public static let brokerLast: Duration = .seconds(1)
    /// While a peer's only link is through a broker, the node scans with Bluetooth at this interval, since the peer may
    /// have come into range. A scan takes airtime from existing links.
    public static let nearPause: Duration = .seconds(60)
    /// Length of each Bluetooth scan for a peer that is linked through a broker. A host that expects no guest
    /// advertises every 1.28 s at most.
    public static let nearScan: Duration = .seconds(3)
    /// Pause between two attempts to switch to the network, and after a link there was lost. If a node changed its link
    /// more often, the host would mistake it for two nodes with one identity (`Limits.replacements`: five in ten
    /// seconds).
    public static let betterPause: Duration = .seconds(5)
    /// Time limit of a dial for a better link while another link is up.
    public static let betterDial: Duration = .seconds(3)

    // MARK: Queues

    /// Maximum number of events of a radio that wait for the transport, which reads them at once. The oldest are
    /// dropped first.
    public static let radioEvents = 256
    /// Buffer of a channel's socket in each direction. The buffer is small, because votes must not wait long behind its
    /// data.
    public static let channelBufferBytes = 16_384

    // MARK: Framing

    /// Pause before an acknowledgement of chunks that found no room is tried again: some connection events, which make
    /// room.
    static let acknowledgementPause: Duration = .milliseconds(50)

    // MARK: Bearers that are missing

    /// How often a node looks for an adapter that was missing at its start, and retries a bearer that could not be
    /// opened. A person who plugs in a dongle waits at most this long. A look is a few system calls.
    public static let adapterLook: Duration = .seconds(2)
    /// After this time a node retries a network or broker that it could not open less often. While a device boots, its
    /// services start within a minute.
    static let earlyLooks: Duration = .seconds(60)
    /// How often the node retries the network or broker after that time. Its service may never be installed, and each attempt wakes the processor.
    static let lateLook: Duration = .seconds(15)
}
