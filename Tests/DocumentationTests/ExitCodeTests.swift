// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import MeshNode
import NodeCore
import Testing

@Suite("The exit codes that docs/reference.md lists")
struct ExitCodeTests {
    static let path = "docs/reference.md"

    /// The names of sysexits(3).
    private static let names: [Int32: String] = [
        EX_OK: "EX_OK", EX_USAGE: "EX_USAGE", EX_DATAERR: "EX_DATAERR", EX_UNAVAILABLE: "EX_UNAVAILABLE",
        EX_CANTCREAT: "EX_CANTCREAT", EX_IOERR: "EX_IOERR", EX_PROTOCOL: "EX_PROTOCOL", EX_NOPERM: "EX_NOPERM",
    ]

    static func complaints(_ page: Page) -> [String] {
        var codes = Set([EXIT_SUCCESS] + SetupProblem.ExitCode.allCases.map(\.rawValue))
        var complaints: [String] = []
        for row in Page.rows(page.section("### Exit codes")) where row.head.first == "exit code" {
            guard let code = Int32(row["exit code"]), codes.remove(code) != nil else {
                complaints.append(
                    "\(page.path):\(row.line) lists the exit code \(row["exit code"]), which roadmesh does not have.")
                continue
            }
            let name = names[code].map { "`\($0)`" } ?? ""
            if row["name"] != name {
                complaints.append("\(page.path):\(row.line) calls the exit code \(code) \(row["name"]); it is \(name).")
            }
            if row["when"].isEmpty { complaints.append("\(page.path):\(row.line) does not say when \(code) is.") }
        }
        return complaints + codes.sorted().map { "\(page.path): the table of exit codes lacks \($0)." }
    }

    @Test("Each exit code is in the reference, with its name in sysexits(3), and the reference has no other")
    func described() throws {
        for complaint in Self.complaints(try Page(Self.path)) { Issue.record("\(complaint)") }
    }

    @Test(
        "No command ends with a number that is not in the table of exit codes",
        arguments: ["roadmesh", "TerminalUI", "NodeCore", "MeshNode", "Diagnostics", "Dashboard", "HostIntegration"])
    func literals(module: String) throws {
        let folder = Page.root.appending(path: "Sources/\(module)")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            let source = Page(file.lastPathComponent, text: try String(contentsOf: file, encoding: .utf8))
            for line in source.lines {
                let arguments = ["exit(", "ExitCode("].compactMap { line.text.range(of: $0)?.upperBound }
                if arguments.contains(where: { line.text[$0...].first?.isNumber == true }) {
                    Issue.record("\(source.path):\(line.number) ends with a number: name it in SetupProblem.ExitCode")
                }
            }
        }
    }
}
