// SPDX-License-Identifier: Apache-2.0

// Decodes texts of tags with a missing or wrong encoding.

#ifndef CTAGLIB_ENCODINGS_H
#define CTAGLIB_ENCODINGS_H

#include <string>

namespace encodings {

// The texts of one file's tags. They share one encoding, and a longer sample makes detection more reliable.
class Guess {
public:
    // Adds a text that was read as Latin-1 because its tag has no other encoding.
    void addLegacy(const std::wstring &text);
    // The text in UTF-8. `isLegacy` says that it was added. A Unicode text is corrected only if it is implausible.
    std::string decoded(const std::wstring &text, bool isLegacy);

private:
    const std::string &encoding();

    std::string sample;
    std::string guessed;
};

}  // namespace encodings

#endif
