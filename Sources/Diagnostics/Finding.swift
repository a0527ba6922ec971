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
        case adapter, controller, bluetoothd, permissions, advertising, roles, audio, kernel, clock, state, disk, air
    }

    /// What it is, by what it is about. What there is to say of an area stands beside the checks that say it.
    public enum Kind: Hashable, Sendable {
        case adapter(Adapter)
        case controller(Controller)
        case bluetoothd(Bluetoothd)
        case permissions(Permissions)
        case advertising(Advertising)
        case roles(Roles)
        case audio(Audio)
        case kernel(Kernel)
        case clock(Clock)
        case state(State)
        case disk(Disk)
        case air(Air)
    }

    /// What it is about.
    public var area: Area { kind.parts.area }
    /// What it is, for programs.
    public var code: String { kind.parts.code }
    /// What it is.
    public var kind: Kind
    /// How bad it is.
    public var level: Level
    /// What was found, in a sentence.
    public var message: String
    /// What that means for whoever uses the box; empty where all is well.
    public var meaning: String
    /// What to type to mend it, where there is such a thing.
    public var command: String?

    init(
        _ kind: Kind, _ level: Level, _ message: String, meaning: String = "", command: String? = nil
    ) {
        self.kind = kind
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
        case .adapter, .controller, .bluetoothd, .advertising, .roles, .audio, .kernel, .clock, .air:
            return .unavailable
        }
    }
}

extension Finding.Kind: CaseIterable {
    /// Everything that can be found.
    public static var allCases: [Self] {
        var all: [Self] = []
        all += Finding.Adapter.allCases.map(Self.adapter)
        all += Finding.Controller.allCases.map(Self.controller)
        all += Finding.Bluetoothd.allCases.map(Self.bluetoothd)
        all += Finding.Permissions.allCases.map(Self.permissions)
        all += Finding.Advertising.allCases.map(Self.advertising)
        all += Finding.Roles.allCases.map(Self.roles)
        all += Finding.Audio.allCases.map(Self.audio)
        all += Finding.Kernel.allCases.map(Self.kernel)
        all += Finding.Clock.allCases.map(Self.clock)
        all += Finding.State.allCases.map(Self.state)
        all += Finding.Disk.allCases.map(Self.disk)
        all += Finding.Air.allCases.map(Self.air)
        return all
    }

    fileprivate var parts: (area: Finding.Area, code: String) {
        switch self {
        case .adapter(let found): (.adapter, found.rawValue)
        case .controller(let found): (.controller, found.rawValue)
        case .bluetoothd(let found): (.bluetoothd, found.rawValue)
        case .permissions(let found): (.permissions, found.rawValue)
        case .advertising(let found): (.advertising, found.rawValue)
        case .roles(let found): (.roles, found.rawValue)
        case .audio(let found): (.audio, found.rawValue)
        case .kernel(let found): (.kernel, found.rawValue)
        case .clock(let found): (.clock, found.rawValue)
        case .state(let found): (.state, found.rawValue)
        case .disk(let found): (.disk, found.rawValue)
        case .air(let found): (.air, found.rawValue)
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
