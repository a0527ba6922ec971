// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import MusicLibrary

/// A program in the place of the one that reads files. What it does depends on the file's name.
private struct StandIn {
    let shelf: MusicShelf
    let command: [String]

    /// `start` is what it does before its first word.
    init(_ start: String = "") throws {
        shelf = try MusicShelf()
        let script = shelf.place + "/reader.py"
        try Data(Self.script.replacing("START", with: start).utf8).write(to: URL(filePath: script))
        command = ["python3", script, shelf.place + "/runs"]
    }

    /// How often it was started.
    var runs: Int { ((try? Data(contentsOf: URL(filePath: shelf.place + "/runs"))) ?? Data()).count }

    var reader: FileReader {
        var limits = LibraryLimits()
        limits.readTime = .seconds(2)
        return FileReader(command, limits: limits)
    }

    private static let script = """
        import os, socket, struct, sys, time
        open(sys.argv[1], "ab").write(b".")
        START
        talk = socket.socket(fileno=0)
        def receive(count):
            data = b""
            while len(data) < count:
                part = talk.recv(count - len(data))
                if not part: sys.exit(0)
                data += part
            return data
        def text(value): return struct.pack("<I", len(value)) + value
        talk.sendall(struct.pack("<I", 0))
        while True:
            kind, length = struct.unpack("<BI", receive(5))
            path = receive(length)
            name = os.path.basename(path)
            if b"once" in name and not os.path.exists(path):
                open(path, "w")
                os.abort()
            if b"dies" in name: os.abort()
            if b"ends" in name: sys.exit(0)
            if b"hangs" in name:
                if os.path.exists(sys.argv[1] + ".hangs"): open(sys.argv[1] + ".hangs", "w").close()
                time.sleep(1000)
            if b"endless" in name: talk.sendall(struct.pack("<I", 1 << 31) + bytes(1 << 16))
            if b"rubbish" in name: answer = b"\\\\xff" * 40
            elif b"nothing" in name: answer = b""
            elif b"cover" in name: answer = b"\\\\x89PNG\\\\r\\\\n\\\\x1a\\\\n" + bytes(3 << 20)
            else: answer = text(name) + text(b"A") + text(b"B") + text(b"") + struct.pack("<9I", 1, 2, 3000, *[0] * 6)
            talk.sendall(text(answer))
        """.replacing("\\\\", with: "\\")
}

@Suite("The program that reads files", .timeLimit(.minutes(2)))
struct FileReaderTests {
    @Test("all files of a batch are read, in their order, while other work is done once for each of them")
    func batch() throws {
        let program = try StandIn()
        defer { program.shelf.clear() }
        let reader = program.reader
        let paths = (0..<300).map { "/music/\($0) " + String(repeating: "x", count: 900) + ".mp3" }
        var worked: [Int] = []
        let tags = try reader.tags(of: paths) { worked.append($0) }
        #expect(tags.map { $0.map { "/music/" + $0.title } } == paths)
        #expect(worked == Array(paths.indices))
        #expect(tags.first??.milliseconds == 3_000)
        #expect(try reader.tags(of: ["/music/again"]).first??.title == "again")
        #expect(program.runs == 1, "one program reads all files")
        reader.close()
    }

    @Test(
        "a file that ends the program, holds it up or makes it talk rubbish is unreadable, and no other file is",
        arguments: ["dies", "ends", "hangs", "endless", "rubbish", "nothing"])
    func hostile(what: String) throws {
        let program = try StandIn()
        defer { program.shelf.clear() }
        let reader = program.reader
        let names = ["a", "b", what, "c", what + " 2", "d"]
        let tags = try reader.tags(of: names.map { "/music/" + $0 })
        #expect(tags.map { $0?.title } == ["a", "b", nil, "c", nil, "d"])
        #expect(try reader.tags(of: ["/music/\(what)"]) == [nil])
        reader.close()
    }

    @Test("a file that ended the program once by chance is read after all")
    func chance() throws {
        let program = try StandIn()
        defer { program.shelf.clear() }
        let reader = program.reader
        let tags = try reader.tags(of: ["/music/a", program.shelf.path("once"), "/music/b"])
        #expect(tags.map { $0?.title } == ["a", "once", "b"])
        #expect(program.runs == 2)
        reader.close()
    }

    @Test("a program that does not start says nothing about the files")
    func noStart() throws {
        let program = try StandIn("sys.exit(71)")
        defer { program.shelf.clear() }
        #expect(throws: FileReader.Unusable.self) { try program.reader.tags(of: ["/music/a"]) }
        #expect(program.runs == 3)
        let missing = FileReader(["/does/not/exist"], limits: .standard)
        #expect(throws: FileReader.Unusable.self) { try missing.cover(of: "/music/a") }
    }

    @Test("the program inherits no descriptor of this process")
    func inheritsNothing() throws {
        // Libraries open sockets that programs inherit. A listening socket then accepts connections after this process
        // has closed it. The program itself opens fewer than 100 files.
        let inherited = fcntl(0, F_DUPFD, 100)
        defer { close(inherited) }
        let program = try StandIn("open(sys.argv[1] + '.fds', 'w').write(' '.join(os.listdir('/proc/self/fd')))")
        defer { program.shelf.clear() }
        let reader = program.reader
        defer { reader.close() }
        _ = try reader.tags(of: ["/music/a"])
        let open = try String(contentsOf: URL(filePath: program.shelf.place + "/runs.fds"), encoding: .utf8)
        #expect(inherited >= 100 && !open.split(separator: " ").contains(Substring(String(inherited))), "\(open)")
    }

    @Test("a program that was ended between two files is started again")
    func restarts() throws {
        let program = try StandIn()
        defer { program.shelf.clear() }
        let reader = program.reader
        for name in ["a", "b"] {
            #expect(try reader.tags(of: ["/music/" + name]).first??.title == name)
            reader.close()
        }
        #expect(program.runs == 2)
    }

    @Test("a cover of some megabytes is received whole")
    func cover() throws {
        let program = try StandIn()
        defer { program.shelf.clear() }
        let reader = program.reader
        #expect(try reader.cover(of: "/music/cover")?.bytes.count == 3 << 20 + 8)
        #expect(try reader.cover(of: "/music/nothing") == nil)
        reader.close()
    }

    @Test("a library that ends does not wait for a file that hangs the program")
    func endsEarly() async throws {
        let program = try StandIn()
        defer { program.shelf.clear() }
        try program.shelf.put("hangs.mp3", [0])
        let pipe = program.shelf.place + "/runs.hangs"
        #expect(mkfifo(pipe, 0o600) == 0)
        var limits = MusicShelf.limits
        limits.readTime = .seconds(60)
        let end = try await program.shelf.withLibrary(limits, reader: program.command) { _, _ in
            // The program opens the other end when it hangs.
            await FileWorker("pipe").run { _ = close(open(pipe, O_RDONLY)) }
            return ContinuousClock.now
        }
        #expect(ContinuousClock.now - end < .seconds(30))
    }

    @Test("a scan skips files that end the program, and a program that does not start is reported")
    func scan() async throws {
        let program = try StandIn()
        defer { program.shelf.clear() }
        for name in ["a.mp3", "dies.mp3", "b.mp3"] { try program.shelf.put(name, [0]) }
        try await program.shelf.withLibrary(reader: program.command) { _, updates in
            let songs = try await updates.songs()
            #expect(songs.map(\.title) == ["a.mp3", "b.mp3"])
            let problem = try await updates.problem()
            #expect(problem == .unreadableFiles(count: 1, example: "dies.mp3"))
        }
        try program.shelf.put("c.mp3", [1])
        try await program.shelf.withLibrary(reader: ["/does/not/exist"]) { _, updates in
            let songs = try await updates.songs()
            #expect(songs.count == 2)
            let problem = try await updates.problem()
            #expect(problem == .readerFailed)
        }
    }
}
