// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol
import Testing

@testable import Diagnostics

@Suite("Settings added to a key file")
struct KeyFileTests {
    static let groups: [SettingGroup] = [.advertising, .links, .enabling]

    /// As BlueZ installs it: sections with defaults in comments.
    static let shipped = """
        [General]

        # Possible values: true, false
        #AlwaysPairable = false

        [LE]
        # LE advertisement interval (used for legacy advertisement interface only)
        #MinAdvertisementInterval=
        #MaxAdvertisementInterval=

        # LE default connection parameters.
        #MinConnectionInterval=
        #MaxConnectionInterval=
        #ConnectionLatency=
        #ConnectionSupervisionTimeout=
        #Autoconnecttimeout=

        [GATT]
        #Cache = always

        [Policy]
        # AutoEnable defines option to enable all controllers when they are found.
        AutoEnable=true

        """

    static func edit(_ text: String, _ groups: [SettingGroup] = groups) -> ConfigurationEdit {
        ConfigurationEdit(ConfigurationFile(path: "/main.conf", found: .bytes(Data(text.utf8))), groups: groups)
    }

    static func result(_ text: String, _ groups: [SettingGroup] = groups) -> String? {
        edit(text, groups).result.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("each setting follows the comment with its default, and nothing else changes")
    func shippedFile() throws {
        let result = try #require(Self.result(Self.shipped))
        #expect(
            result
                == Self.shipped
                .replacing(
                    "#MinAdvertisementInterval=\n", with: "#MinAdvertisementInterval=\nMinAdvertisementInterval=32\n"
                )
                .replacing(
                    "#MaxAdvertisementInterval=\n", with: "#MaxAdvertisementInterval=\nMaxAdvertisementInterval=48\n"
                )
                .replacing("#MinConnectionInterval=\n", with: "#MinConnectionInterval=\nMinConnectionInterval=6\n")
                .replacing("#MaxConnectionInterval=\n", with: "#MaxConnectionInterval=\nMaxConnectionInterval=6\n")
                .replacing(
                    "#ConnectionSupervisionTimeout=\n",
                    with: "#ConnectionSupervisionTimeout=\nConnectionSupervisionTimeout=72\n"))
        #expect(Self.edit(Self.shipped).added.count == 5, "AutoEnable is set already")
        #expect(Self.edit(result).result == nil && Self.edit(result).remarks == [], "a second time adds nothing")
    }

    @Test(
        "without such a comment it follows the section's last key, and a missing section is added at the end",
        arguments: [
            ("", "[Policy]\nAutoEnable=true\n"),
            ("[General]\nName=car\n", "[General]\nName=car\n\n[Policy]\nAutoEnable=true\n"),
            ("[General]\nName=car", "[General]\nName=car\n\n[Policy]\nAutoEnable=true\n"),
            ("[General]\n\n", "[General]\n\n[Policy]\nAutoEnable=true\n"),
            ("[Policy]", "[Policy]\nAutoEnable=true"),
            ("[Policy]\r\n\r\n[LE]\r\n", "[Policy]\r\nAutoEnable=true\r\n\r\n[LE]\r\n"),
            (
                "[Policy]\nReconnectAttempts=7\n\n# Low Energy\n[LE]\n",
                "[Policy]\nReconnectAttempts=7\nAutoEnable=true\n\n# Low Energy\n[LE]\n"
            ),
            ("[Policy]\n  # AutoEnable = true", "[Policy]\n  # AutoEnable = true\nAutoEnable=true"),
            // A comment of another section does not count.
            ("[LE]\n#AutoEnable=\n", "[LE]\n#AutoEnable=\n\n[Policy]\nAutoEnable=true\n"),
        ])
    func places(before: String, after: String) {
        #expect(Self.result(before, [.enabling]) == after)
    }

    @Test(
        "settings of the user stay, with everything that belongs to them",
        arguments: [
            ("[LE]\nMinConnectionInterval=24\n", [SettingGroup.links], "MinConnectionInterval=24"),
            ("[LE]\nMaxAdvertisementInterval = 0x100\n", [.advertising], "MaxAdvertisementInterval=0x100"),
            ("[LE]\nConnectionLatency=4\n", [.links], "ConnectionLatency=4"),
            ("[Policy]\nAutoEnable=false\n", [.enabling], "AutoEnable=false"),
        ])
    func decisions(text: String, groups: [SettingGroup], named: String) throws {
        let edit = Self.edit(text, groups)
        #expect(edit.result == nil && edit.added == [])
        #expect(edit.remarks.count == 1 && edit.remarks.allSatisfy { $0.contains(named) })
        // The other groups are still added.
        let others = Self.groups.filter { !groups.contains($0) }
        #expect(Self.edit(text, Self.groups).added == others.flatMap(\.settings))
    }

    @Test("a value in another notation is the same value")
    func same() {
        let text = "[LE]\nMinAdvertisementInterval=0x20\nMaxAdvertisementInterval = 48\n[Policy]\nAutoEnable=1\n"
        #expect(Self.edit(text, [.advertising, .enabling]) == Self.edit(text, []))
    }

    @Test(
        "a file that is not understood is left alone, with the line as the reason",
        arguments: [
            ("[LE]\nnonsense\n", "line 2"), ("[LE\n", "line 1"), ("[LE] x\n", "line 1"), ("[]\n", "line 1"),
            ("; old\n", "line 1"), ("[LE]\n=6\n", "line 2"), ("Name=car\n[LE]\n", "before any section, in line 1"),
            ("[LE]\n[GATT]\n[LE]\n", "the section [LE] twice"), ("[LE]\nA=1\nA=1\n", "A twice in [LE]"),
            ("[LE]\nA=1\rB=2\n", "line 2"), ("[LE]\n\0\n", "not text"), ("\u{FEFF}[LE]\n", "not text"),
        ])
    func refusals(text: String, named: String) {
        let edit = Self.edit(text)
        #expect(edit.result == nil && edit.added == [])
        #expect(edit.remarks.count == 1 && edit.remarks.allSatisfy { $0.contains(named) }, "\(edit.remarks)")
    }

    @Test("bytes that are not UTF-8 are left alone")
    func bytes() {
        let file = ConfigurationFile(path: "/main.conf", found: .bytes(Data([0x5B, 0xFF, 0x5D])))
        #expect(
            ConfigurationEdit(file, groups: Self.groups).remarks == [
                "/main.conf is not text in UTF-8: it is left alone."
            ])
    }

    /// Files from pieces that people and packages write, with all kinds of line ends.
    static func madeFile(_ seed: UInt64) -> String {
        var random = SeededGenerator(seed: seed)
        let end = ["\n", "\r\n"].randomElement(using: &random) ?? "\n"
        let keys = groups.flatMap(\.settings).map(\.key) + ["ConnectionLatency", "Name", "Cache"]
        var lines: [String] = []
        for section in ["General", "LE", "GATT", "Policy"].shuffled(using: &random) where Bool.random(using: &random) {
            lines.append(["[\(section)]", " [\(section)]", "[\(section)]  "].randomElement(using: &random) ?? "")
            for key in keys.shuffled(using: &random).prefix(Int.random(in: 0...6, using: &random)) {
                let forms = [
                    "#\(key)=", "# \(key) = 6", "\(key)=6", "  \(key) = true ", "\(key)=", "#", "# The \(key), ä", "",
                    "#\(key)", "\t", "# a=b=c",
                ]
                lines.append(forms.randomElement(using: &random) ?? "")
            }
        }
        return lines.joined(separator: end) + (Bool.random(using: &random) ? end : "")
    }

    @Test(
        "to any file only full lines are added, each once, and they take effect",
        arguments: 0..<400)
    func property(seed: Int) throws {
        let text = Self.madeFile(UInt64(seed))
        let edit = Self.edit(text)
        guard let result = edit.result else { return #expect(edit.added == []) }
        let after = try KeyFile(Array(result))
        let before = try KeyFile(Array(text.utf8))
        for setting in edit.added {
            #expect(before.value(of: setting.key, in: setting.section) == nil)
            #expect(after.value(of: setting.key, in: setting.section) == setting.value)
        }
        // Without the added lines, their section heads and blank lines, the file is the same.
        var rest = String(decoding: result, as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" })
        let old = text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" })
        for line in old {
            let index = try #require(rest.firstIndex(of: line), "a line is gone: \(line)")
            rest.remove(at: index)
        }
        let added = Set(edit.added.map(\.line)), heads = Set(edit.added.map { "[\($0.section)]" })
        #expect(rest.allSatisfy { $0.isEmpty || added.contains(String($0)) || heads.contains(String($0)) }, "\(rest)")
        #expect(rest.count { added.contains(String($0)) } == edit.added.count)
        // A file with one kind of line end keeps that kind.
        let ends = Set(String(decoding: result, as: UTF8.self).filter(\.isNewline))
        let oldEnds = Set(text.filter(\.isNewline))
        #expect(oldEnds.isEmpty || ends == oldEnds)
        #expect(Self.edit(String(decoding: result, as: UTF8.self)).result == nil, "a second time adds nothing")
    }
}
