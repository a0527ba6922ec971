// SPDX-License-Identifier: Apache-2.0

import CLibFuzzer
import FuzzTargets
import Glibc

/// Runs the target that ROADMESH_FUZZ_TARGET names under libFuzzer, with libFuzzer's own arguments. An input that
/// breaks an invariant is a crash, and libFuzzer keeps it. The target's name is not an argument, because libFuzzer
/// reads all arguments itself and for some jobs starts the program again with its own. `fuzz --seeds TARGET FOLDER`
/// writes the initial inputs of a target, and `fuzz --targets` lists the targets.
@main
struct Fuzz {
    /// The target that libFuzzer's callback runs, since C calls it without a context. Set once, before the first call.
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
        // libFuzzer keeps these pointers until the program ends.
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
                guard let file = fopen("\(folder)/seed-\(number)", "w") else { fatalError("cannot write to \(folder)") }
                fwrite(seed, 1, seed.count, file)
                fclose(file)
            }
        } catch { fatalError("\(error)") }
    }
}
