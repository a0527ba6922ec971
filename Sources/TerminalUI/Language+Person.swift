// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials

extension Language {
    /// The language of the person at this terminal.
    static var ofPerson: Language { Language(environment: ProcessInfo.processInfo.environment) }
}
