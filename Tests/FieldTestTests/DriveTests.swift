// SPDX-License-Identifier: Apache-2.0

import NodeCore
import MeshProtocol
import Testing

@testable import FieldTest

@Suite("A drive's file")
struct DriveTests {
    @Test("rows of all kinds are read as they were written")
    func roundTrip() throws {
        var drive = Drives.oneGap
        drive.rows.insert(DriveRow(at: .seconds(39), .mark("tunnel in")), at: drive.rows.count - 1)
        drive.rows.insert(DriveRow(at: .seconds(39), .missing(3)), at: drive.rows.count - 1)
        drive.rows.insert(DriveRow(at: .seconds(39), .notice("connectionLost")), at: drive.rows.count - 1)
        #expect(try Drive(file: drive.file) == drive)
        #expect(try Drive(file: Drives.overRelays.file) == Drives.overRelays)
    }

    @Test("a file that ends in the middle of a line is an interrupted drive")
    func cutOff() throws {
        let file = Drives.oneGap.file
        for length in stride(from: file.utf8.count - 5, to: 300, by: -97) {
            let drive = try Drive(file: String(file.prefix(length)))
            #expect(drive.ending == .cutOff)
            #expect(drive.rows.count < Drives.oneGap.rows.count)
            // The readable part can be reported.
            #expect(Report([drive]).html.contains("cut off"))
        }
    }

    @Test("rows of unknown kinds and invalid lines are skipped")
    func unknown() throws {
        let lines = Drives.oneGap.file.split(separator: "\n")
        let strange = [
            #"{"at":1,"kind":"teleport"}"#, "", "{", #"{"at":-1,"kind":"tick"}"#, #"{"at":1e300,"kind":"tick"}"#,
            "\u{0}",
        ]
        let drive = try Drive(lines: lines.prefix(3) + strange.map { Substring($0) } + lines.dropFirst(3))
        #expect(drive == Drives.oneGap)
    }

    @Test("numbers of a hostile file neither trap nor reach the page")
    func hostileNumbers() throws {
        let header = JSONLine.text(Drives.header())
        let most = Int.max
        let drive = try Drive(lines: [
            header,
            #"{"at":1,"kind":"link","peer":"a","rssi":\#(most),"rtt":1e308,"sent":1,"received":1,"resent":\#(most),"duplicates":\#(most),"outbox":0}"#,
            #"{"at":1,"kind":"link","peer":"b","sent":1,"received":1,"resent":\#(most),"duplicates":\#(-most),"outbox":0}"#,
            #"{"at":2,"kind":"contact","peer":"a","phase":"resumed"}"#,
            #"{"at":3,"kind":"contact","peer":"a","phase":"lost","silence":1e308}"#,
            #"{"at":4,"kind":"contact","peer":"a","phase":"resumed"}"#,
            #"{"at":5,"kind":"link","peer":"a","sent":1,"received":1,"resent":0,"duplicates":0,"outbox":0,"hops":\#(most),"via":"b","circuits":\#(-most)}"#,
            #"{"at":6,"kind":"carrier","peer":"b","name":"\u001b[31m","rssi":\#(most),"rtt":1e308,"sent":1,"received":1,"circuits":\#(most)}"#,
            #"{"at":3,"kind":"missing","rows":\#(most)}"#, #"{"at":3,"kind":"missing","rows":\#(most)}"#,
            #"{"at":2678400,"kind":"tick"}"#,
        ])
        let report = Report([drive])
        #expect(!report.html.contains("inf") && !report.html.contains("nan"))
        #expect(AirScript(drive, backToBack: true).road.length > .zero)
    }

    @Test("terminals obey no text of a stranger's file, in any field")
    func hostileWords() throws {
        let evil = #"\u001b]0;x\u0007\u009b31m\u202e\u0000"#
        var header = Drives.header()
        header.version = "\u{1B}[31m"
        header.service = "\u{9B}31m"
        let drive = try Drive(lines: [
            JSONLine.text(header), #"{"at":1,"kind":"contact","peer":"\#(evil)","phase":"resumed"}"#,
            #"{"at":2,"kind":"wish","song":"\#(evil)","wish":"\#(evil)","state":"\#(evil)"}"#,
            #"{"at":2,"kind":"intent","peer":"\#(evil)","intent":"\#(evil)","song":"\#(evil)","accepted":true}"#,
            #"{"at":3,"kind":"contact","peer":"\#(evil)","phase":"lost","silence":1}"#,
            #"{"at":3,"kind":"notice","code":"\#(evil)"}"#, #"{"at":4,"kind":"end","reason":"\#(evil)"}"#,
        ])
        let report = Report([drive])
        for text in [drive.file, report.csv, report.json, report.html, report.sentences.joined()] {
            let obeyed = text.unicodeScalars.filter {
                $0.value < 32 && $0 != "\n" && $0 != "\r" || (0x7F...0x9F).contains($0.value)
            }
            #expect(obeyed.isEmpty && !text.unicodeScalars.contains("\u{202E}"))
            #expect(!text.contains("\\u001b"))
        }
    }

    @Test("a mark of multi-byte characters is cut to a length that can be read again")
    func longMark() throws {
        let mark = "Z" + String(repeating: "\u{301}", count: 2_500)
        let text = UntrustedText.shown(String(repeating: mark, count: 3), atMost: NodeLimits.markCharacters)
        let drive = try Drive(lines: [
            JSONLine.text(Drives.header()), JSONLine.text(DriveRow(at: .seconds(1), .mark(text))),
        ])
        #expect(drive.rows.count == 1)
    }

    @Test("a file that is not a drive, or is from a newer program, is refused with the reason")
    func refused() {
        #expect(throws: DriveProblem.noHeader) { try Drive(file: "hello\n") }
        #expect(throws: DriveProblem.noHeader) { try Drive(file: "") }
        var header = Drives.header()
        header.roadmeshDrive = 2
        #expect(throws: DriveProblem.newerForm(2)) { try Drive(lines: [JSONLine.text(header)]) }
        #expect(throws: DriveProblem.newerForm(99)) { try Drive(lines: [#"{"roadmeshDrive":99}"#]) }
    }
}

@Suite("A report")
struct ReportTests {
    private let evil = "<script>alert(1)</script>\" onload='x' &amp; ]]>"

    @Test("names and marks of strangers are plain text on the page")
    func escaped() throws {
        var drive = Drives.drive(
            [(0, Drives.contact(.resumed)), (1, .mark(evil)), (2, Drives.link(-50)), (3, .end("quit"))], name: evil)
        drive.header.peer.name = evil
        drive.header.radio = evil
        drive.header.origin = evil
        for html in [Report([drive]).html, Report([drive, drive]).html] {
            #expect(!html.contains("<script"))
            #expect(!html.contains("onload='"))
            #expect(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot; onload=&#39;x&#39; &amp;amp;"))
        }
    }

    @Test("a report shows for how long it was linked over how many relays, in every form")
    func relays() {
        let report = Report([Drives.overRelays])
        #expect(
            report.sentences.contains {
                $0.hasSuffix(
                    "It was linked without a relay for 10 s, over 1 hop for 30 s and over 2 hops for 20 s; the relay was "
                        + "\"Row 8\" for 30 s and \"Row <16>\" for 20 s.")
            })
        for words in [
            "Over how many relays", "over 2 hops", "Row 8", "Row &lt;16&gt;", "Linked over 1 hop</th><td>30 s, 50 %",
            "Relays on the route over time",
        ] { #expect(report.html.contains(words), "\(words)") }
        #expect(!report.html.contains("Row <16>"))
        let words = report.json.filter { !$0.isWhitespace }
        #expect(words.contains(#""hopSeconds":[{"hops":0,"seconds":10},{"hops":1,"seconds":30},{"hops":2,"#))
        #expect(words.contains(#"{"name":"Row8","relay":"11110000","seconds":30}"#))
        #expect(report.csv.split(separator: "\r\n").last?.hasSuffix(",0") == true)
        #expect(Report([Drives.oneGap, Drives.overRelays]).html.contains("Linked over 2 hops"))
    }

    @Test("a report says what the program has cost, if the recording does")
    func load() {
        var drive = Drives.oneGap
        #expect(!Report([drive]).html.contains("Wake-ups"))
        let load = ProcessLoad(wakeUps: 600, processor: 0.024)
        drive.rows.insert(DriveRow(at: .seconds(40), .load(load)), at: drive.rows.count - 1)
        let report = Report([drive])
        #expect(report.html.contains("Wake-ups a second</th><td>15.0</td>"))
        #expect(report.html.contains("Processor</th><td>0.06 % of a core</td>"))
        #expect(report.json.filter { !$0.isWhitespace }.contains(#""load":{"processor":0.0006"#))
    }

    @Test("a page needs no other files")
    func selfContained() {
        let html = Report([Drives.oneGap]).html
        for word in ["http:", "https:", "src=", "href=", "url(", "@import", "<script"] {
            #expect(!html.contains(word), "\(word)")
        }
        #expect(html.contains("default-src 'none'"))
    }

    @Test("a spreadsheet contains no formulas")
    func formulas() throws {
        #expect(Report.field("=HYPERLINK(\"x\")") == "\"'=HYPERLINK(\"\"x\"\")\"")
        let lines = Report([Drives.oneGap]).csv.split(separator: "\r\n")
        #expect(lines.count == 2)
        #expect(lines[1] == "\"Road\",\"Car\",20.0000,20.4200,30.0000,30.0000,30.2000,30.3000,30.4000,10.0000,0.4000,0")
    }

    @Test("times of day are local, with their zone")
    func localTime() {
        let winter = LocalClock { $0 < 1_774_746_000 ? (3_600, "CET") : (7_200, "CEST") }
        #expect(winter.minuteAndZone(1_774_745_999) == "2026-03-29 01:59 CET")
        #expect(winter.minuteAndZone(1_774_746_000) == "2026-03-29 03:00 CEST")
        #expect(winter.minute(.nan) == "?")
        var drive = Drives.oneGap
        drive.header.began = 1_774_746_000
        let html = Report([drive], clock: winter).html
        #expect(html.contains("Recorded on 2026-03-29 03:00 CEST, for 40 s.") && !html.contains("UTC"))
    }

    @Test("drives are compared in words")
    func compared() {
        var weaker = Drives.oneGap
        weaker.header.name = "Other"
        weaker.rows = weaker.rows.map { row in
            guard case .link(let peer, var sample) = row.what else { return row }
            var row = row
            sample.rssi = sample.rssi.map { $0 - 10 }
            row.what = .link(peer, sample)
            return row
        }
        let sentences = Report([Drives.oneGap, weaker]).sentences
        #expect(
            sentences.last?.contains("\"Other\" was back as soon, had 10 dB less signal and was out of range") == true)
    }
}
