// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FieldTest

/// `roadmesh fieldtest`
struct FieldTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fieldtest", abstract: "Record a drive, look at it, and replay it.",
        subcommands: [
            RecordCommand.self, ListCommand.self, ReportCommand.self, ExportCommand.self, ImportCommand.self,
            ReplayCommand.self, ForgetCommand.self, CollectCommand.self, FleetCommand.self, BenchCommand.self,
        ])
}

/// `roadmesh fieldtest record`
struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Run a host or a guest, and record how the radio works.",
        subcommands: [RecordHostCommand.self, RecordGuestCommand.self])
}

/// `roadmesh fieldtest record host NAME`
struct RecordHostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "host", abstract: "As roadmesh host, with a recording.",
        discussion: typed(.host, isRecorded: true))

    @OptionGroup(title: "The recording") var recording: RecordingOptions
    @OptionGroup var host: HostCommand

    func run() async throws { try await host.run(recorded: recording.checked(host.broker, host.options.radio)) }
}

/// `roadmesh fieldtest record guest NAME`
struct RecordGuestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "guest", abstract: "As roadmesh guest, with a recording.",
        discussion: typed(.guest, isRecorded: true))

    @OptionGroup(title: "The recording") var recording: RecordingOptions
    @OptionGroup var guest: GuestCommand

    func run() async throws {
        try await guest.run(recorded: recording.checked(guest.broker, guest.options.radio))
    }
}
