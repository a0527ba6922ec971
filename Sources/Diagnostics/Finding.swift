// SPDX-License-Identifier: Apache-2.0

import MeshNode

/// One thing that was found out about a box: what it is, what it means for the people in the car, and what mends it.
public struct Finding: Hashable, Sendable {
    /// How bad it is.
    public enum Level: String, Hashable, Sendable, CaseIterable {
        /// As it should be.
        case good
        /// It works, and could be better, or somebody may wonder.
        case worthKnowing
        /// Something does not work until this is mended.
        case broken
    }

    /// What it is about.
    public enum Area: String, Hashable, Sendable, CaseIterable {
        case adapter, controller, bluetoothd, permissions, advertising, roles, audio, clock, state, disk, air
    }

    /// What it is, for programs.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        // The adapter.
        case adapter, noBluetooth, notListed, noAdapter, noSuchAdapter, noLowEnergy, adapterOff, blocked,
            blockedBySwitch
        case spareAdapterOff
        // Its controller.
        case controller, oldController, noTwoMegabit
        // bluetoothd.
        case bluetoothd, noMessageBus, serviceNotRunning, serviceFails, notExperimental, volumePlugin
        // What this process may do.
        case permissions, denied, noCapabilities
        // Advertisements.
        case advertising, advertisingFull
        // Central and peripheral at once.
        case roles, oneRole
        // Sound on the same adapter.
        case audio, audioShared
        // The clock.
        case clock, clockWrong, clockAlone
        // The state folder.
        case state, stateReadOnly, stateForeign, stateUnwritable, identityDamaged, databaseDamaged, databaseNewer
        case databaseUnreadable
        // Its disk.
        case disk, diskLow, diskFull
        // The live test.
        case heard, notHeard, advertised, cannotAdvertise, cannotListen
    }

    /// What it is about.
    public var area: Area
    /// What it is.
    public var code: Code
    /// How bad it is.
    public var level: Level
    /// What was found, in a sentence.
    public var message: String
    /// What that means for whoever uses the box; empty where all is well.
    public var meaning: String
    /// What to type to mend it, where there is such a thing.
    public var command: String?

    init(
        _ area: Area, _ code: Code, _ level: Level, _ message: String, meaning: String = "", command: String? = nil
    ) {
        self.area = area
        self.code = code
        self.level = level
        self.message = message
        self.meaning = meaning
        self.command = command
    }

    /// The exit code of a program that ends for it; nil where it needs not.
    public var exitCode: SetupProblem.ExitCode? {
        guard level == .broken else { return nil }
        switch area {
        case .permissions: return .notPermitted
        case .state, .disk: return .cannotCreate
        case .adapter, .controller, .bluetoothd, .advertising, .roles, .audio, .clock, .air: return .unavailable
        }
    }
}

/// All that was found out about a box, in the order in which it was.
public struct Diagnosis: Hashable, Sendable {
    /// The findings.
    public var findings: [Finding] = []

    /// Nothing is found out yet.
    public init() {}

    /// How many are of this level.
    public func count(_ level: Finding.Level) -> Int { findings.count { $0.level == level } }

    /// The exit code of the contract: that of the first broken thing, since what comes after may come of it.
    public var exitCode: SetupProblem.ExitCode? { findings.lazy.compactMap(\.exitCode).first }
}
