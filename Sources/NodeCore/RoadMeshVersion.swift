// SPDX-License-Identifier: Apache-2.0

/// The version of RoadMesh. It is defined here only; CHANGELOG.md describes it.
public enum RoadMeshVersion {
    /// Major, minor and patch, with `+debug` in a debug build (Semantic Versioning 2.0, section 10), so that a
    /// measurement or report shows which build made it.
    public static let text = number + (isDebug ? "+debug" : "")

    private static let number = "0.2.0"
    #if DEBUG
        private static let isDebug = true
    #else
        private static let isDebug = false
    #endif
}
