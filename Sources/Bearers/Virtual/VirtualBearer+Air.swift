// SPDX-License-Identifier: Apache-2.0

import Glibc
import MeshProtocol

/// Watches the folder that represents the air: dead zones, and faults of the folder.
extension VirtualBearer {
    /// A socket that reports changes in the folder. Nil if this user has no inotify instance left (inotify(7),
    /// `max_user_instances`), as on desktops with many programs that watch files.
    func makeWatch() throws(BearerError) -> PacketSocket? {
        let notifier = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard notifier >= 0 else {
            guard errno == EMFILE else { throw air.failure(Int(errno), "cannot watch \(air.directory)") }
            logger.info("no inotify instance is left, so \(air.directory) is read at intervals")
            return nil
        }
        let watch = PacketSocket(notifier, poller: poller)
        try aim(watch)
        return watch
    }

    private func aim(_ watch: PacketSocket) throws(BearerError) {
        let changes = UInt32(IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB)
        let result = try watch.attempt { inotify_add_watch($0, air.directory, changes) < 0 ? -Int(errno) : 0 }
        guard result == 0 else { throw air.failure(-result, "cannot watch \(air.directory)") }
    }

    func watchAir(on watch: PacketSocket) async {
        while !Task.isCancelled {
            let result = try? await watch.perform(.readable) { descriptor in
                // The content of the kernel's events does not matter: this checks the files themselves.
                var notes = [UInt8](repeating: 0, count: 4_096)
                let count = read(descriptor, &notes, notes.count)
                return count < 0 ? -Int(errno) : count
            }
            guard let result, result >= 0 else { return }
            noticeAir()
        }
    }

    /// Reads the folder at intervals, for a radio without a watch.
    func pollAir() async {
        while (try? await Task.sleep(for: BearerLimits.airPoll)) != nil { noticeAir() }
    }

    private func noticeAir() {
        airChanged?.yield()
        applyDeadZones()
        checkAir()
    }

    // MARK: Dead zones

    func applyDeadZones() {
        let weAreCut = air.isCut(address)
        for (id, tracked) in channels {
            guard let channel = tracked.channel else { continue }
            let isCut = weAreCut || air.isCut(address, from: tracked.peer)
            channel.setCut(isCut)
            if !isCut {
                tracked.supervision?.cancel()
                channels[id]?.supervision = nil
            } else if tracked.supervision == nil {
                channels[id]?.supervision = Task { [weak channel] in
                    try? await Task.sleep(for: Limits.supervisionTimeout)
                    if !Task.isCancelled { channel?.lose() }
                }
            }
        }
    }

    // MARK: Failing and recovering

    /// Reports when this radio's files in the folder are gone, and when they are back.
    func checkAir() {
        guard receiver != nil else { return }
        let isWell = air.holds(address, isAdvertising: listener != nil)
        if isWell, lostAirAt != nil {
            lostAirAt = nil
            eventSink.yield(.recovered)
        } else if !isWell, lostAirAt == nil {
            lostAirAt = .now
            let failure = BearerError(.airUnusable, air.directory)
            logger.warning("\(failure)")
            eventSink.yield(.failed(failure))
        }
        turnChores()
    }

    /// Puts missing files back into the folder. It waits, so that a program that is removing the folder does not find
    /// new files in it.
    func restoreAir() {
        guard receiver != nil, let lostAirAt, ContinuousClock.now - lostAirAt >= BearerLimits.scanResultRepeat else {
            return
        }
        do throws(BearerError) {
            try air.makeFolder()
            if let watch { try aim(watch) }
            try openReceiver()
            if listener != nil { try openListener() }
            airChanged?.yield()
        } catch {
            logger.debug("the folder cannot be put back yet: \(error)")
        }
    }
}
