// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Descriptors that a child process of a test must close, from `first` on. The range is larger than the number of open
/// ones, since other tests run at the same time. Otherwise the ports of other tests would stay in use while the child
/// lives.
package func descriptorsToClose(from first: Int32) -> Range<Int32> {
    let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.compactMap(Int32.init)
    return first..<max(first, open?.max() ?? 0) + 1_024
}
