// SPDX-License-Identifier: Apache-2.0

import MeshNode

/// A finding about a device, with its meaning for the people in the car and its remedy.
public struct Finding: Hashable, Sendable {
    /// The severity.
    public enum Level: String, Hashable, Sendable, CaseIterable {
        /// The device is as it should be.
        case good
        /// The device works, but could work better, or people may wonder about its behaviour.
        case worthKnowing
        /// Something does not work until this is repaired.
        case broken
    }

    /// The subject.
    public enum Area: String, Hashable, Sendable, CaseIterable {
        case adapter, controller, bluetoothd, permissions, advertising, timing, roles, audio, power, kernel, clock,
            state, disk, network, player, sound, library, phones, air
    }

    /// The kind of finding, for programs. A good finding has its area's name.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        case adapter, noBluetooth, noAdapter, noSuchAdapter, noLowEnergy, adapterOff, blocked, blockedBySwitch,
            spareAdapterOff
        case controller, oldController, noTwoMegabit
        case bluetoothd, noMessageBus, serviceNotRunning, serviceFails, serviceDied, volumePlugin, crashesOnFilters,
            looksThroughPhones
        case permissions, notListed, denied, noCapabilities
        case advertising, advertisingFull, advertisingRefused, advertisingBypassed, advertisesItself
        case timing, slowTiming
        case roles, oneRole, unknownRoles
        case audio, audioShared
        case power, powerLow
        case kernel, kernelUnsound
        case clock, clockWrong, clockAlone
        case state, stateReadOnly, stateForeign, stateUnwritable, identityDamaged, identityReadable, databaseDamaged,
            databaseNewer, databaseUnreadable
        case disk, diskLow, diskFull
        case network, noAvahi
        case player, noPlayer, playerFails, playerOld
        case sound, noSound, noSuchDevice
        case library, libraryMissing, libraryUnreadable, libraryEmpty, libraryPartlyRead
        case phones, noNetwork, portTaken, firewall
        case heard, heardSeldom, notHeard, advertised, cannotAdvertise, cannotListen
    }

    /// The subject.
    public var area: Area { code.area }
    /// The kind.
    public var code: Code
    /// The severity.
    public var level: Level
    /// The finding as a sentence.
    public var message: String
    /// The meaning of the finding for the people who use the device; empty for a good finding.
    public var meaning: String
    /// The command that repairs the fault; nil without such a command.
    public var command: String?

    init(
        _ code: Code, _ level: Level, _ message: String, meaning: String = "", command: String? = nil
    ) {
        self.code = code
        self.level = level
        self.message = message
        self.meaning = meaning
        self.command = command
    }

    /// The exit code of a program that ends because of this finding; nil if the program can continue.
    public var exitCode: SetupProblem.ExitCode? {
        guard level == .broken else { return nil }
        switch area {
        case .permissions, .library: return .notPermitted
        case .state, .disk: return .cannotCreate
        case .adapter, .controller, .bluetoothd, .advertising, .timing, .roles, .audio, .power, .kernel,
            .clock, .network, .player, .sound, .phones, .air:
            return .unavailable
        }
    }
}

extension Finding.Code {
    fileprivate var area: Finding.Area {
        switch self {
        case .adapter, .noBluetooth, .noAdapter, .noSuchAdapter, .noLowEnergy, .adapterOff, .blocked, .blockedBySwitch,
            .spareAdapterOff:
            .adapter
        case .controller, .oldController, .noTwoMegabit: .controller
        case .bluetoothd, .noMessageBus, .serviceNotRunning, .serviceFails, .serviceDied, .volumePlugin,
            .crashesOnFilters,
            .looksThroughPhones:
            .bluetoothd
        case .permissions, .notListed, .denied, .noCapabilities: .permissions
        case .advertising, .advertisingFull, .advertisingRefused, .advertisingBypassed, .advertisesItself: .advertising
        case .timing, .slowTiming: .timing
        case .roles, .oneRole, .unknownRoles: .roles
        case .audio, .audioShared: .audio
        case .power, .powerLow: .power
        case .kernel, .kernelUnsound: .kernel
        case .clock, .clockWrong, .clockAlone: .clock
        case .state, .stateReadOnly, .stateForeign, .stateUnwritable, .identityDamaged, .identityReadable,
            .databaseDamaged, .databaseNewer, .databaseUnreadable:
            .state
        case .disk, .diskLow, .diskFull: .disk
        case .network, .noAvahi: .network
        case .player, .noPlayer, .playerFails, .playerOld: .player
        case .sound, .noSound, .noSuchDevice: .sound
        case .library, .libraryMissing, .libraryUnreadable, .libraryEmpty, .libraryPartlyRead: .library
        case .phones, .noNetwork, .portTaken, .firewall: .phones
        case .heard, .heardSeldom, .notHeard, .advertised, .cannotAdvertise, .cannotListen: .air
        }
    }
}

/// All findings about a device, in the order in which they were made.
public struct Diagnosis: Hashable, Sendable {
    /// The findings.
    public var findings: [Finding] = []

    /// A diagnosis without findings.
    public init() {}

    /// The number of findings of this level.
    public func count(_ level: Finding.Level) -> Int { findings.count { $0.level == level } }

    /// The exit code of the first broken finding, because later findings may be consequences of it.
    public var exitCode: SetupProblem.ExitCode? { findings.lazy.compactMap(\.exitCode).first }
}

extension Finding {
    /// The finding as lines for a person: its severity and message, its meaning, and what to type. `wrap` breaks a
    /// paragraph into lines, because it knows the width of characters.
    public func lines(wrap: (String) -> [String]) -> [String] {
        let mark =
            switch level {
            case .good: "good          "
            case .worthKnowing: "worth knowing "
            case .broken: "BROKEN        "
            }
        let margin = String(repeating: " ", count: mark.count)
        var lines = [mark + message]
        if !meaning.isEmpty { lines += wrap(meaning).map { margin + $0 } }
        if let command { lines.append(margin + "  " + command) }
        return lines
    }
}

extension Diagnosis {
    /// The summary in a sentence.
    public var sentence: String {
        let broken = count(.broken)
        let known = count(.worthKnowing)
        guard broken == 0 else {
            return "\(broken) \(broken == 1 ? "thing is" : "things are") broken: repair the first one, and check again."
        }
        return known > 0 ? "Nothing is broken; \(known) worth knowing." : "This device is fine."
    }
}
