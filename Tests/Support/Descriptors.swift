// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Descriptors that a child process of a test has to close, from `first` on: more than this process has open now, since other
/// tests run at the same time. What another test listens on would stay taken for as long as the child lives.
package func descriptorsToClose(from first: Int32) -> Range<Int32> {
    let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.compactMap(Int32.init)
    return first..<max(first, open?.max() ?? 0) + 1_024
}
