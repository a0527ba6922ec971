// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import DemocracyDJ
import DemocracyDJTesting
import MeshProtocol
import Testing

/// A counter that records its calls: small enough to see what a store does with it.
private struct Counter: Feature {
    enum Event: Sendable { case add, addSilently, say([String]), note }
    enum Effect: Hashable, Sendable { case said(String) }
    struct State: Hashable, Sendable {
        var count = 0
        var notedAt: MeshInstant?
    }

    private(set) var state = State()

    mutating func handle(_ event: Event, now: MeshInstant) -> [Effect] {
        switch event {
        case .add:
            state.count += 1
            return [.said("added")]
        case .addSilently:
            state.count += 1
            return []
        case .say(let words): return words.map(Effect.said)
        case .note:
            state.notedAt = now
            return []
        }
    }
}

@Suite("A store that checks every change and effect of a test")
struct TestStoreTests {
    private let store = TestStore(Counter())

    /// The issues that are recorded while a step runs, as in the test's output.
    private func issues(_ step: () async -> Void) async -> [String] {
        let seen = NIOLockedValueBox<[String]>([])
        await withKnownIssue(isIntermittent: true) {
            await step()
        } matching: { issue in
            seen.withLockedValue { $0.append(issue.comments.map(\.rawValue).joined(separator: "\n")) }
            return true
        }
        return seen.withLockedValue(\.self)
    }

    @Test("an expected change that happens is not an issue")
    func told() async {
        let issues = await issues {
            await store.send(.add, effects: [.said("added")]) { $0.count = 1 }
            await store.send(.say([]))
        }
        #expect(issues == [])
        #expect(await store.state.count == 1)
    }

    @Test("an unexpected change is an issue that shows both values")
    func untoldChange() async throws {
        let issues = await issues { await store.send(.addSilently) }
        let issue = try #require(issues.first)
        #expect(issues.count == 1)
        #expect(issue.contains("The state is not the expected one."))
        #expect(issue.contains("-   count: 0"))
        #expect(issue.contains("+   count: 1"))
    }

    @Test("an expected change that does not happen is an issue")
    func missingChange() async throws {
        let issues = await issues { await store.send(.say([])) { $0.count = 7 } }
        #expect(issues.count == 1)
        #expect(try #require(issues.first).contains("-   count: 7"))
    }

    @Test("an unexpected effect is an issue that names it")
    func untoldEffect() async throws {
        let issues = await issues { await store.send(.add) { $0.count = 1 } }
        #expect(issues.count == 1)
        let issue = try #require(issues.first)
        #expect(issue.contains("The effects are not the expected ones."))
        #expect(issue.contains(#"+   [0]: .said("added")"#))
    }

    @Test("an expected effect that does not happen is an issue")
    func missingEffect() async throws {
        let issues = await issues { await store.send(.say([]), effects: [.said("hello")]) }
        #expect(issues.count == 1)
        #expect(try #require(issues.first).contains(#"-   [0]: .said("hello")"#))
    }

    @Test("effects in another order are an issue")
    func otherOrder() async {
        let issues = await issues {
            await store.send(.say(["one", "two"]), effects: [.said("two"), .said("one")])
        }
        #expect(issues.count == 1)
        #expect(issues.first?.contains("one") == true)
    }

    @Test("state and effects are both checked: one fault does not hide the other")
    func both() async {
        let issues = await issues { await store.send(.add) }
        #expect(issues.count == 2)
    }

    @Test("after an issue the store continues from the real state, so that one fault is reported once")
    func goesOn() async {
        let first = await issues { await store.send(.addSilently) }
        let second = await issues { await store.send(.addSilently) { $0.count = 2 } }
        #expect(first.count == 1)
        #expect(second == [])
    }

    @Test("an issue points at the line that sent the event")
    func place() async {
        let lines = NIOLockedValueBox<[Int?]>([])
        let line = #line + 2
        await withKnownIssue {
            await store.send(.addSilently)
        } matching: { issue in
            lines.withLockedValue { $0.append(issue.sourceLocation?.line) }
            return true
        }
        #expect(lines.withLockedValue(\.self) == [line])
    }

    @Test("time advances only on command, and the feature gets it")
    func time() async {
        await store.advance(by: .seconds(3))
        await store.advance(by: .seconds(4))
        #expect(await store.now == .seconds(7))
        let issues = await issues { await store.send(.note) { $0.notedAt = .seconds(7) } }
        #expect(issues == [])
    }
}
