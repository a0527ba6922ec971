// SPDX-License-Identifier: Apache-2.0

import CLibFuzzer
import FuzzTargets
import Glibc

/// Runs the target that ROADMESH_FUZZ_TARGET names under libFuzzer, with libFuzzer's own arguments; an input that breaks a
/// invariant is a crash, which libFuzzer keeps. (libFuzzer takes arguments for itself, and starts the program again with
/// them for some jobs, so the name is not one.) `fuzz --seeds TARGET FOLDER` writes the inputs that a target begins with,
/// and `fuzz --targets` the names of all.
@main
struct Fuzz {
    /// What libFuzzer's callback runs: C calls it without a context. It is set once, before the first call.
    nonisolated(unsafe) private static var target: FuzzTarget?

    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        switch arguments.first {
        case "--targets": print(FuzzTarget.all.map(\.name).joined(separator: " "))
        case "--seeds": write(seedsFor: arguments.dropFirst().first ?? "", into: arguments.last ?? "")
        default: fuzz(getenv("ROADMESH_FUZZ_TARGET").map { String(cString: $0) } ?? "")
        }
    }

    private static func fuzz(_ name: String) {
        guard let chosen = FuzzTarget.all.first(where: { $0.name == name }) else {
            print("usage: ROADMESH_FUZZ_TARGET=TARGET fuzz ARGUMENT... | fuzz --seeds TARGET FOLDER | fuzz --targets")
            exit(2)
        }
        target = chosen
        let arguments = CommandLine.arguments + ["-max_len=\(chosen.longestInput)"]
        var count = Int32(arguments.count)
        // libFuzzer keeps them for as long as the program runs.
        let strings = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: arguments.count + 1)
        for (index, argument) in arguments.enumerated() { strings[index] = strdup(argument) }
        strings[arguments.count] = nil
        var pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = strings
        exit(
            LLVMFuzzerRunDriver(&count, &pointer) { bytes, count in
                Fuzz.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
                return 0
            })
    }

    private static func run(_ input: [UInt8]) {
        do { try target?.run(input) } catch { fatalError("\(error)") }
    }

    private static func write(seedsFor name: String, into folder: String) {
        do {
            for (number, seed) in try Seeds.make(for: name).enumerated() {
                guard let file = fopen("\(folder)/seed-\(number)", "w") else { fatalError("\(folder) takes no files") }
                fwrite(seed, 1, seed.count, file)
                fclose(file)
            }
        } catch { fatalError("\(error)") }
    }
}
