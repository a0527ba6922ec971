// SPDX-License-Identifier: Apache-2.0

import CConfine
import Glibc
import TerminalUI

/// Starts programs that read files of strangers (mpv, and the reader of tags) with fewer rights than this program: without
/// capabilities, without the state folder with the node's key, and without network sockets.
///
/// Such a program is started through this one (`roadmesh confined … -- PROGRAM`), which gives up the rights and then becomes it.
/// docs/threat-model.md, "Files of strangers".
enum Confinement {
    /// The first argument of a run that only starts another program. It is no command for people.
    static let argument = "confined"

    /// What to put before a program and its arguments. `allowed` are folders in the state folder that the program needs.
    static func launcher(stateFolder: String, allowed: [String], hasNetwork: Bool = false) -> [String] {
        ["/proc/self/exe", argument, "--without", stateFolder] + allowed.flatMap { ["--with", $0] }
            + (hasNetwork ? [] : ["--no-network"]) + ["--"]
    }

    /// What to put before a program that only reads files in `folder`, and answers over a socket that it is given: it can write
    /// nowhere, and has no sockets of its own.
    static func readingLauncher(stateFolder: String, folder: String) -> [String] {
        ["/proc/self/exe", argument, "--without", stateFolder, "--with", folder, "--read-only", "--no-sockets", "--"]
    }

    /// Whether the sound goes to a server on the network, as PulseAudio's environment says.
    static func playsOverNetwork(_ environment: [String: String]) -> Bool {
        environment["PULSE_SERVER"]?.contains("tcp") == true
    }

    /// Keeps this process's capabilities from the programs that it starts.
    static func keepCapabilitiesHere() { _ = cconfine_keep_capabilities_here() }

    /// Gives up the rights, and becomes the program. Returns only by ending this process: with 64 for wrong arguments, 71 if the
    /// system does not take the rights, and 127 if the program cannot be started.
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
        require(cconfine_close_files(), "files")
        require(cconfine_drop_capabilities(), "capabilities")
        if let denied {
            let copies = allowed.map { UnsafePointer<CChar>(strdup($0)) as UnsafePointer<CChar>? }
            require(cconfine_deny_folder(denied, copies, copies.count, flags.contains("--read-only")), denied)
        }
        if !flags.isDisjoint(with: ["--no-network", "--no-sockets"]) {
            require(cconfine_deny_sockets(!flags.contains("--no-sockets")), "sockets")
        }
        var argv = program.map { strdup($0) } + [nil]
        execvp(program[0], &argv)
        end(127, "\(program[0]): \(String(cString: strerror(errno)))")
    }

    private static let flags: Set = ["--no-network", "--no-sockets", "--read-only"]

    /// A kernel that has no such protection is no error: the program runs without it.
    private static func require(_ result: Int32, _ what: String) {
        guard result != 0, result != -EOPNOTSUPP else { return }
        end(71, "\(what): \(String(cString: strerror(-result)))")
    }

    private static func end(_ code: Int32, _ message: String) -> Never {
        StandardError.write("roadmesh: \(message)")
        exit(code)
    }
}
