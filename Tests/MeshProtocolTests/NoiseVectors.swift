// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

/// A published handshake with the messages after it, including both sides' keys. The values are those of cacophony's
/// `vectors/cacophony.txt`, which snow's tests use too. The Python package noiseprotocol 0.3.1 gave the same values for
/// these keys.
struct NoiseVector: Sendable, CustomTestStringConvertible {
    let pattern: NoiseHandshake.Pattern
    let handshakeHash: [UInt8]
    /// The handshake's messages, then the link's. The sides take turns, the initiator first.
    let messages: [Message]

    struct Message: Sendable {
        let payload: [UInt8]
        let ciphertext: [UInt8]
    }

    var handshakeMessages: ArraySlice<Message> { messages.prefix(pattern == .xx ? 3 : 2) }
    var linkMessages: ArraySlice<Message> { messages.dropFirst(handshakeMessages.count) }
    var testDescription: String { "\(pattern)" }

    private static func hex(_ text: String) -> [UInt8] { Hex.bytes(text) ?? [] }
}

extension NoiseVector {
    static let prologue = hex("4a6f686e2047616c74")
    static let initiatorStatic = hex("e61ef9919cde45dd5f82166404bd08e38bceb5dfdfded0a34c8df7ed542214d1")
    static let initiatorEphemeral = hex("893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a")
    static let initiatorPublic = hex("6bc3822a2aa7f4e6981d6538692b3cdf3e6df9eea6ed269eb41d93c22757b75a")
    static let responderStatic = hex("4a3acbfdb163dec651dfa3194dece676d437029c62a408b4c5ea9114246e4893")
    static let responderEphemeral = hex("bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b")
    static let responderPublic = hex("31e0303fd6418d2f8c0e78b91f22e8caed0fbe48656dcf4767e4834f701b8f62")

    static let all = [xx, ik]

    static let xx = NoiseVector(
        pattern: .xx,
        handshakeHash: hex("c8e5f64e846193be2a834104c2a009868d6c9f3bd3c186299888b488b2f1f58e"),
        messages: [
            Message(
                payload: hex("4c756477696720766f6e204d69736573"),
                ciphertext: hex(
                    "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c79444c756477696720766f6e204d"
                        + "69736573")),
            Message(
                payload: hex("4d757272617920526f746862617264"),
                ciphertext: hex(
                    "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f14480884381cbad1f276e038c48378ffc"
                        + "e2b65285e08d6b68aaa3629a5a8639392490e5b9bd5269c2f1e4f488ed8831161f19b7815528f8982ffe09be"
                        + "9b5c412f8a0db50f8814c7194e83f23dbd8d162c9326ad")),
            Message(
                payload: hex("462e20412e20486179656b"),
                ciphertext: hex(
                    "c7195ffacac1307ff99046f219750fc47693e23c3cb08b89c2af808b444850a80ae475b9df0f169ae80a89be"
                        + "0865b57f58c9fea0d4ec82a286427402f113e4b6ae769a1d95941d49b25030")),
            Message(
                payload: hex("4361726c204d656e676572"),
                ciphertext: hex("96763ed773f8e47bb3712f0e29b3060ffc956ffc146cee53d5e1df")),
            Message(
                payload: hex("4a65616e2d426170746973746520536179"),
                ciphertext: hex("3e40f15f6f3a46ae446b253bf8b1d9ffb6ed9b174d272328ff91a7e2e5c79c07f5")),
            Message(
                payload: hex("457567656e2042f6686d20766f6e2042617765726b"),
                ciphertext: hex("eb3f3515110702e047a6c9da4478b6ead94873c11c0f2d710ddb3f09fce024b3a58502ae3f")),
        ])

    static let ik = NoiseVector(
        pattern: .ik,
        handshakeHash: hex("0b0f68fb0c27e03ce9b97565995ed4838cc0581b762ef72b062f6a546419fad7"),
        messages: [
            Message(
                payload: hex("4c756477696720766f6e204d69736573"),
                ciphertext: hex(
                    "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944718da798efbcd91528520204"
                        + "f904b9bd6c7413dccdc214d951e15253e39987f18146e8cd0873654207148333479d4d16c289f0294b29960a"
                        + "72f48e0b7bba2e89083169825e59642148d492020664ccf7")),
            Message(
                payload: hex("4d757272617920526f746862617264"),
                ciphertext: hex(
                    "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f1448088435361e70b2ed446e6c9ec387d"
                        + "1d6b3b840f194e373979d241b203c4acafccf5")),
            Message(
                payload: hex("462e20412e20486179656b"),
                ciphertext: hex("050e9f3c8fac16b68dbce8f8c4bfbf6617c897f9ada4aa29aa19c8")),
            Message(
                payload: hex("4361726c204d656e676572"),
                ciphertext: hex("344233a6cabb7141d80f3da2fedc311d9646bbb0f505afe403a667")),
            Message(
                payload: hex("4a65616e2d426170746973746520536179"),
                ciphertext: hex("62cdeeb172ad7ade7aa7d9e069da5790f12331bfa00177787a1d0810c67dc3b2b4")),
            Message(
                payload: hex("457567656e2042f6686d20766f6e2042617765726b"),
                ciphertext: hex("029bead1b40992327044d409d9a1f3ad8f36c3c452775d557e18bbeb2e8dfcead32d514024")),
        ])
}
