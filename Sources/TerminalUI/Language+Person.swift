// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials

extension Language {
    /// What the person at this terminal reads.
    static var ofPerson: Language { Language(environment: ProcessInfo.processInfo.environment) }
}
