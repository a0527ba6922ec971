// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import TerminalUI

/// Starts programs that read untrusted files (mpv, and the reader of tags) with fewer rights than this program: without
/// capabilities, without the state folder with the node's key, and without network sockets.
///
/// This program starts such a program through itself (`roadmesh confined … -- PROGRAM`): it gives up the rights, then
/// replaces itself with the program. See docs/threat-model.md, "Files of strangers".
enum Confinement {
    /// The first argument of a run that only starts another program. People do not use it.
    static let argument = "confined"

    /// The words in front of a program and its arguments. `allowed` are folders in the state folder that the program
    /// needs.
    static func launcher(stateFolder: String, allowed: [String], hasNetwork: Bool = false) -> [String] {
        ["/proc/self/exe", argument, "--without", stateFolder] + allowed.flatMap { ["--with", $0] }
            + (hasNetwork ? [] : ["--no-network"]) + ["--"]
    }

    /// The words in front of a program that only reads files in `folder` and answers over a socket that it gets. It can
    /// write nowhere and cannot create sockets.
    static func readingLauncher(stateFolder: String, folder: String) -> [String] {
        ["/proc/self/exe", argument, "--without", stateFolder, "--with", folder, "--read-only", "--no-sockets", "--"]
    }

    /// Whether PulseAudio's environment sends the sound to a server on the network.
    static func playsOverNetwork(_ environment: [String: String]) -> Bool {
        environment["PULSE_SERVER"]?.contains("tcp") == true
    }

    /// Keeps the programs that this process starts from getting its capabilities.
    static func keepCapabilitiesHere() { _ = clinux_keep_capabilities_here() }

    /// Gives up the rights and replaces this process with the program. On failure it ends the process: with 64 for
    /// wrong arguments, 71 if the rights cannot be given up, and 127 if the program cannot be started.
    static func run(_ arguments: [String]) -> Never {
        var options = arguments.prefix { $0 != "--" }[...]
        let program = Array(arguments.dropFirst(options.count + 1))
        var (denied, allowed, flags) = (String?.none, [String](), Set<String>())
        while let option = options.popFirst() {
            switch (option, Self.flags.contains(option) ? nil : options.popFirst()) {
            case ("--without", let folder?): denied = folder
            case ("--with", let folder?): allowed.append(folder)
            case (_, nil) where Self.flags.contains(option): flags.insert(option)
            default: end(64, "wrong argument \(option)")
            }
        }
        guard !program.isEmpty else { end(64, "no program") }
        require(clinux_close_files(), "files")
        require(clinux_drop_capabilities(), "capabilities")
        if let denied {
            let copies = allowed.map { UnsafePointer<CChar>(strdup($0)) as UnsafePointer<CChar>? }
            require(clinux_deny_folder(denied, copies, copies.count, flags.contains("--read-only")), denied)
        }
        if !flags.isDisjoint(with: ["--no-network", "--no-sockets"]) {
            require(clinux_deny_sockets(!flags.contains("--no-sockets")), "sockets")
        }
        var argv = program.map { strdup($0) } + [nil]
        execvp(program[0], &argv)
        end(127, "\(program[0]): \(String(cString: strerror(errno)))")
    }

    private static let flags: Set = ["--no-network", "--no-sockets", "--read-only"]

    /// If the kernel lacks such a protection, the program runs without it.
    private static func require(_ result: Int32, _ what: String) {
        guard result != 0, result != -EOPNOTSUPP else { return }
        end(71, "\(what): \(String(cString: strerror(-result)))")
    }

    private static func end(_ code: Int32, _ message: String) -> Never {
        StandardError.write("roadmesh: \(message)")
        exit(code)
    }
}
