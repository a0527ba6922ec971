// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dashboard

@Suite("The QR code that invites")
struct QRCodeTests {
    private static let url = "http://192.168.178.123:54321/join?token=0123456789abcdef0123456789abcdef"

    @Test("a QR code has its three corner marks, and the size that its text needs")
    func modules() throws {
        let rows = try #require(QRCode.modules(Self.url))
        // 72 bytes with correction M: version 5 (ISO/IEC 18004, table 7).
        #expect(rows.count == 37 && rows.allSatisfy { $0.count == 37 })
        let mark = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]
        for (top, left) in [(0, 0), (0, 30), (30, 0)] {
            let seen = (0..<7).map { row in rows[top + row][left..<left + 7].map { $0 ? "1" : "0" }.joined() }
            #expect(seen == mark)
        }
        #expect(try #require(QRCode.modules("x")).count == 21)
    }

    @Test("a QR code is a picture with a bar for each run of black, and a margin")
    func picture() throws {
        let picture = try #require(QRCode.svg(Self.url))
        #expect(picture.contains("viewBox=\"0 0 45 45\"") && picture.contains("M4 4h7v1h-7z"))
        #expect(!picture.contains("style") && !picture.contains("href"))
        let rows = try #require(QRCode.modules(Self.url))
        let black = rows.joined().count { $0 }
        let path = picture.split(separator: "fill=\"#000\" d=\"")[1]
        let drawn = path.split(separator: "h").dropFirst().compactMap { Int($0.prefix { $0.isNumber }) }
        #expect(drawn.reduce(0, +) == black)
    }

    @Test("a text that is too long for a phone to read gives no QR code")
    func tooLong() {
        #expect(QRCode.svg(String(repeating: "x", count: DashboardLimits.invitationBytes)) != nil)
        #expect(QRCode.svg(String(repeating: "x", count: DashboardLimits.invitationBytes + 1)) == nil)
        #expect(QRCode.modules(String(repeating: "x", count: 4_000)) == nil)
        #expect(QRCode.modules("") == nil)
    }
}
