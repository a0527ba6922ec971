// SPDX-License-Identifier: Apache-2.0

#include "encodings.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iconv.h>
#include <set>
#include <uchardet/uchardet.h>

namespace encodings {

namespace {

// The characters of Windows-1252 between 0x80 and 0x9F. Unassigned bytes map to themselves.
const wchar_t windows[32] = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
    0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178,
};

// The original bytes of a text that was decoded as Latin-1 or as Windows-1252. False for any other text.
bool bytes(const std::wstring &text, std::string &bytes) {
    for (wchar_t letter : text) {
        if (letter > 0xFF) {
            auto place = std::find(std::begin(windows), std::end(windows), letter);
            if (place == std::end(windows)) return false;
            letter = static_cast<wchar_t>(0x80 + (place - windows));
        }
        bytes.push_back(static_cast<char>(letter));
    }
    return true;
}

bool isHigh(char byte) { return static_cast<unsigned char>(byte) >= 0x80; }

void append(std::string &text, uint32_t scalar) {
    if (scalar < 0x80) {
        text.push_back(static_cast<char>(scalar));
    } else if (scalar < 0x800) {
        text.push_back(static_cast<char>(0xC0 | scalar >> 6));
        text.push_back(static_cast<char>(0x80 | (scalar & 63)));
    } else if (scalar < 0x10000) {
        text.push_back(static_cast<char>(0xE0 | scalar >> 12));
        text.push_back(static_cast<char>(0x80 | (scalar >> 6 & 63)));
        text.push_back(static_cast<char>(0x80 | (scalar & 63)));
    } else {
        text.push_back(static_cast<char>(0xF0 | (scalar >> 18 & 7)));
        text.push_back(static_cast<char>(0x80 | (scalar >> 12 & 63)));
        text.push_back(static_cast<char>(0x80 | (scalar >> 6 & 63)));
        text.push_back(static_cast<char>(0x80 | (scalar & 63)));
    }
}

// A wide character is a scalar or a surrogate: TagLib uses UTF-16.
std::string utf8(const std::wstring &text) {
    std::string result;
    for (size_t i = 0; i < text.size(); i++) {
        uint32_t scalar = static_cast<uint32_t>(text[i]);
        if (scalar >= 0xD800 && scalar < 0xDC00 && i + 1 < text.size() && (text[i + 1] & 0xFC00) == 0xDC00)
            scalar = 0x10000 + ((scalar & 0x3FF) << 10) + (static_cast<uint32_t>(text[++i]) & 0x3FF);
        // These control characters do not occur in texts: they are Windows-1252 that was decoded as Latin-1.
        if (scalar >= 0x80 && scalar < 0xA0) scalar = static_cast<uint32_t>(windows[scalar - 0x80]);
        append(result, scalar >= 0xD800 && scalar < 0xE000 ? 0xFFFD : scalar);
    }
    return result;
}

// False if a byte is invalid in the encoding.
bool convert(const std::string &bytes, const char *encoding, std::string &text) {
    iconv_t converter = iconv_open("UTF-8", encoding);
    if (converter == reinterpret_cast<iconv_t>(-1)) return false;
    std::string in = bytes;
    char *from = in.data();
    size_t left = in.size();
    text.resize(bytes.size() * 4 + 4);
    char *to = text.data();
    size_t room = text.size();
    bool isWhole = iconv(converter, &from, &left, &to, &room) != static_cast<size_t>(-1);
    // Flushes a letter that waits for a combining mark.
    isWhole = isWhole && iconv(converter, nullptr, nullptr, &to, &room) != static_cast<size_t>(-1);
    iconv_close(converter);
    text.resize(text.size() - room);
    return isWhole;
}

bool isUTF8(const std::string &bytes) {
    std::string text;
    return std::any_of(bytes.begin(), bytes.end(), isHigh) && convert(bytes, "UTF-8", text);
}

// Statistics of a text's bytes.
struct Look {
    size_t letters = 0;
    size_t high = 0;
    size_t longestRun = 0;

    explicit Look(const std::string &bytes) {
        size_t run = 0;
        for (char byte : bytes) {
            run = isHigh(byte) ? run + 1 : 0;
            longestRun = std::max(longestRun, run);
            high += isHigh(byte);
            letters += isHigh(byte) || std::isalpha(static_cast<unsigned char>(byte));
        }
    }

    // Latin text has few accented letters, and few of them are adjacent.
    bool isLatin() const { return longestRun <= 2 && high * 3 <= letters; }
    bool isForeign() const { return high >= 4 && high * 10 >= letters * 6 && longestRun >= 3; }
};

std::string detected(const std::string &bytes) {
    uchardet_t detector = uchardet_new();
    uchardet_handle_data(detector, bytes.data(), bytes.size());
    uchardet_data_end(detector);
    std::string name = uchardet_get_charset(detector);
    uchardet_delete(detector);
    return name;
}

// Whether all letters are Russian letters in Windows-1251.
bool isRussian(const std::string &bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](char byte) {
        unsigned char value = static_cast<unsigned char>(byte);
        return value < 0x80 || value >= 0xC0 || value == 0xA8 || value == 0xB8;
    });
}

// The first byte of each two-byte character, if a text contains only these and ASCII. Empty for all other texts.
std::string pairs(const std::string &bytes) {
    std::string leads;
    for (size_t i = 0; i < bytes.size(); i++) {
        if (!isHigh(bytes[i])) continue;
        if (i + 1 == bytes.size() || !isHigh(bytes[i + 1])) return "";
        leads.push_back(bytes[i++]);
    }
    return leads;
}

// Whether a text contains Japanese syllables in Shift-JIS. In Windows-1252 the characters at these bytes are rare.
bool isJapanese(const std::string &bytes) {
    int syllables = 0;
    for (size_t i = 0; i + 1 < bytes.size(); i++) {
        unsigned char lead = static_cast<unsigned char>(bytes[i]), trail = static_cast<unsigned char>(bytes[i + 1]);
        if ((lead == 0x82 || lead == 0x83) && trail >= 0x40 && trail != 0x7F && trail <= 0xFC) syllables++, i++;
    }
    std::string text;
    return syllables >= 2 && convert(bytes, "CP932", text);
}

// The name of an encoding for iconv. The Windows encodings have more characters than the standards that they extend.
std::string named(const std::string &name, const std::string &bytes) {
    // Arabic music is tagged in Windows-1256. Text that looks like the standard is usually a short Russian name.
    if (name == "ISO-8859-6") return isRussian(bytes) ? "CP1251" : "CP1256";
    // A UTF-8 text does not get here.
    static const std::set<std::string> unknown = {"", "ASCII", "ISO-8859-1", "ISO-8859-15", "UTF-8"};
    if (unknown.count(name) > 0) return "CP1252";
    bool hasWindows = std::any_of(bytes.begin(), bytes.end(), [](char byte) { return (byte & 0xE0) == 0x80; });
    if (name == "ISO-8859-2" && hasWindows) return "CP1250";
    if (name == "ISO-8859-7") return "CP1253";
    if (name == "ISO-8859-8") return "CP1255";
    if (name == "ISO-8859-9") return "CP1254";
    if (name == "SHIFT_JIS") return "CP932";
    if (name == "EUC-KR") return "UHC";
    if (name == "MAC-CYRILLIC") return isRussian(bytes) ? "CP1251" : "MAC-CYRILLIC";
    return name;
}

// Encodings of the Latin script. A text that was decoded in another of them is not corrected.
bool isOfLatin(const std::string &name) {
    static const std::set<std::string> names = {
        "CP1250",     "CP1252",      "CP1254",      "WINDOWS-1250", "WINDOWS-1252", "WINDOWS-1257",      "WINDOWS-1258",
        "ISO-8859-2", "ISO-8859-3",  "ISO-8859-4",  "ISO-8859-10",  "ISO-8859-13",  "ISO-8859-16",       "IBM850",
        "IBM852",     "ISO-8859-14", "IBM865",      "MAC-CENTRALEUROPE", "VISCII",
    };
    return names.count(name) > 0;
}

std::string encodingOf(const std::string &bytes) {
    if (isUTF8(bytes)) return "UTF-8";
    if (isJapanese(bytes)) return "CP932";
    std::string name = named(detected(bytes), bytes);
    Look look(bytes);
    if (look.isLatin()) {
        // Few accented letters prove little, so only the most frequent encodings are accepted.
        static const std::set<std::string> frequent = {"CP1250", "WINDOWS-1250", "ISO-8859-2", "CP1254"};
        return look.high >= 2 && frequent.count(name) > 0 ? name : "CP1252";
    }
    // A few Chinese or Korean characters are not enough for the detector. Korean syllables begin with bytes below C9.
    std::string leads = pairs(bytes);
    if (isOfLatin(name) && leads.size() >= 2) {
        auto isFrequent = [](char lead) { return (lead & 0xFF) >= 0xB0 && (lead & 0xFF) <= 0xF7; };
        bool isKorean = std::all_of(leads.begin(), leads.end(), [](char lead) { return (lead & 0xFF) <= 0xC8; });
        if (std::all_of(leads.begin(), leads.end(), isFrequent)) return isKorean ? "UHC" : "GBK";
    }
    return name;
}

}  // namespace

void Guess::addLegacy(const std::wstring &text) {
    std::string added;
    if (!bytes(text, added) || std::none_of(added.begin(), added.end(), isHigh)) return;
    sample += added + "\n";
    guessed.clear();
}

const std::string &Guess::encoding() {
    if (guessed.empty()) guessed = encodingOf(sample);
    return guessed;
}

std::string Guess::decoded(const std::wstring &text, bool isLegacy) {
    std::string read, result;
    if (!bytes(text, read) || std::none_of(read.begin(), read.end(), isHigh)) return utf8(text);
    if (isLegacy) {
        if (convert(read, encoding().c_str(), result) || convert(read, "CP1252", result)) return result;
    } else if (isUTF8(read)) {
        return convert(read, "UTF-8", result) ? result : utf8(text);
    } else if (Look(read).isForeign()) {
        std::string name = named(detected(read), read);
        if (!isOfLatin(name) && convert(read, name.c_str(), result)) return result;
    }
    return utf8(text);
}

}  // namespace encodings
