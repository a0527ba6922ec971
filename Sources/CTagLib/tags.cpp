// SPDX-License-Identifier: Apache-2.0

#include "CTagLib.h"
#include "encodings.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <taglib/aifffile.h>
#include <taglib/apefile.h>
#include <taglib/apetag.h>
#include <taglib/asffile.h>
#include <taglib/attachedpictureframe.h>
#include <taglib/fileref.h>
#include <taglib/flacfile.h>
#include <taglib/id3v1tag.h>
#include <taglib/id3v2tag.h>
#include <taglib/infotag.h>
#include <taglib/mp4file.h>
#include <taglib/mpcfile.h>
#include <taglib/mpegfile.h>
#include <taglib/relativevolumeframe.h>
#include <taglib/textidentificationframe.h>
#include <taglib/tfilestream.h>
#include <taglib/tpropertymap.h>
#include <taglib/trueaudiofile.h>
#include <taglib/wavfile.h>
#include <taglib/wavpackfile.h>
#include <taglib/xingheader.h>
#include <taglib/xiphcomment.h>

namespace {

using TagLib::ByteVector;

// A file that seems to end when a parser has read too much of it.
class LimitedStream final : public TagLib::FileStream {
public:
    LimitedStream(const char *path, const ctaglib_tags_limits &limits, bool hasName)
        : FileStream(path, true), bytes(limits.read_bytes), small(limits.small_reads), hasName(hasName) {}

    TagLib::FileName name() const override { return hasName ? FileStream::name() : ""; }

    ByteVector readBlock(unsigned long length) override {
        if (length <= smallRead) {
            if (small == 0) return ByteVector();
            small -= 1;
        }
        ByteVector block = FileStream::readBlock(std::min<uint64_t>(length, bytes));
        bytes -= std::min<uint64_t>(block.size(), bytes);
        return block;
    }

private:
    static const unsigned long smallRead = 16;
    uint64_t bytes;
    uint32_t small;
    bool hasName;
};

// A file in the format of its name's suffix, or else in the format that its bytes show.
class OpenedFile {
public:
    OpenedFile(const char *path, const ctaglib_tags_limits &limits) {
        for (bool hasName : {true, false}) {
            open(path, limits, hasName);
            if (!ref->isNull() && milliseconds() > 0) return;
        }
        // TagLib has no raw AAC format, but such files often begin with the tags of MPEG files.
        const char *suffix = std::strrchr(path, '.');
        if (!suffix || strcasecmp(suffix, ".aac") != 0) return;
        ref.reset();
        stream = std::make_unique<LimitedStream>(path, limits, true);
        if (!stream->isOpen()) return;
#if TAGLIB_MAJOR_VERSION >= 2
        ref = std::make_unique<TagLib::FileRef>(new TagLib::MPEG::File(stream.get(), false));
#else
        ref = std::make_unique<TagLib::FileRef>(
            new TagLib::MPEG::File(stream.get(), TagLib::ID3v2::FrameFactory::instance(), false));
#endif
    }

    bool isKnown() const { return ref && !ref->isNull(); }
    TagLib::File *file() const { return ref->file(); }
    TagLib::Tag *tag() const { return ref->tag(); }

    int milliseconds() const {
        TagLib::AudioProperties *properties = ref->audioProperties();
        return properties ? properties->lengthInMilliseconds() : 0;
    }

private:
    void open(const char *path, const ctaglib_tags_limits &limits, bool hasName) {
        ref.reset();
        stream = std::make_unique<LimitedStream>(path, limits, hasName);
        if (!stream->isOpen()) {
            ref = std::make_unique<TagLib::FileRef>();
        } else if (!hasName && TagLib::FLAC::File::isSupported(stream.get())) {
            // TagLib 2 looks for AAC first, and a frame of FLAC begins like one of AAC.
#if TAGLIB_MAJOR_VERSION >= 2
            ref = std::make_unique<TagLib::FileRef>(new TagLib::FLAC::File(stream.get()));
#else
            ref = std::make_unique<TagLib::FileRef>(
                new TagLib::FLAC::File(stream.get(), TagLib::ID3v2::FrameFactory::instance()));
#endif
        } else {
            ref = std::make_unique<TagLib::FileRef>(stream.get());
        }
    }

    // The file reference uses the stream until it is destroyed.
    std::unique_ptr<LimitedStream> stream;
    std::unique_ptr<TagLib::FileRef> ref;
};

// Receives a picture. Returns true if it needs no other.
using Taker = std::function<bool(const ByteVector &, bool isFront)>;

const int frontCover = 3;

void takeFrom(const TagLib::List<TagLib::FLAC::Picture *> &pictures, const Taker &take) {
    for (auto picture : pictures)
        if (take(picture->data(), picture->type() == frontCover)) return;
}

void takeFrom(TagLib::ID3v2::Tag *tag, const Taker &take) {
    if (!tag) return;
    for (auto frame : tag->frameList("APIC")) {
        auto picture = dynamic_cast<TagLib::ID3v2::AttachedPictureFrame *>(frame);
        if (picture && take(picture->picture(), picture->type() == frontCover)) return;
    }
}

void takeFrom(TagLib::APE::Tag *tag, const Taker &take) {
    if (!tag) return;
    for (const auto &item : tag->itemListMap()) {
        if (!item.first.startsWith("COVER ART") || item.second.type() != TagLib::APE::Item::Binary) continue;
        // The picture follows a file name and a zero byte.
        ByteVector data = item.second.binaryData();
        int end = data.find('\0');
        if (end >= 0 && take(data.mid(end + 1), item.first == "COVER ART (FRONT)")) return;
    }
}

void takeFrom(TagLib::MP4::Tag *tag, const Taker &take) {
    if (!tag || !tag->contains("covr")) return;
    for (const auto &picture : tag->item("covr").toCoverArtList())
        if (take(picture.data(), true)) return;
}

void takeFrom(TagLib::ASF::Tag *tag, const Taker &take) {
    if (!tag || !tag->contains("WM/Picture")) return;
    for (const auto &attribute : tag->attribute("WM/Picture")) {
        TagLib::ASF::Picture picture = attribute.toPicture();
        if (picture.isValid() && take(picture.picture(), picture.type() == frontCover)) return;
    }
}

void takeFrom(const OpenedFile &opened, const Taker &take) {
    TagLib::File *file = opened.file();
    if (auto mpeg = dynamic_cast<TagLib::MPEG::File *>(file)) {
        takeFrom(mpeg->ID3v2Tag(), take);
        takeFrom(mpeg->APETag(), take);
    } else if (auto flac = dynamic_cast<TagLib::FLAC::File *>(file)) {
        takeFrom(flac->pictureList(), take);
        takeFrom(flac->ID3v2Tag(), take);
    } else if (auto wav = dynamic_cast<TagLib::RIFF::WAV::File *>(file)) {
        takeFrom(wav->ID3v2Tag(), take);
    } else if (auto aiff = dynamic_cast<TagLib::RIFF::AIFF::File *>(file)) {
        takeFrom(aiff->tag(), take);
    } else if (auto mp4 = dynamic_cast<TagLib::MP4::File *>(file)) {
        takeFrom(mp4->tag(), take);
    } else if (auto asf = dynamic_cast<TagLib::ASF::File *>(file)) {
        takeFrom(asf->tag(), take);
    } else if (auto ape = dynamic_cast<TagLib::APE::File *>(file)) {
        takeFrom(ape->APETag(), take);
    } else if (auto mpc = dynamic_cast<TagLib::MPC::File *>(file)) {
        takeFrom(mpc->APETag(), take);
    } else if (auto trueAudio = dynamic_cast<TagLib::TrueAudio::File *>(file)) {
        takeFrom(trueAudio->ID3v2Tag(), take);
    } else if (auto wavpack = dynamic_cast<TagLib::WavPack::File *>(file)) {
        takeFrom(wavpack->APETag(), take);
    } else if (auto xiph = dynamic_cast<TagLib::Ogg::XiphComment *>(opened.tag())) {
        takeFrom(xiph->pictureList(), take);
    }
}

using TagLib::String;
using TagLib::StringList;

// Texts of tags that have no encoding, as bytes.
class Bytes final : public TagLib::ID3v1::StringHandler, public TagLib::RIFF::Info::StringHandler {
public:
    String parse(const ByteVector &data) const override { return String(data.data(), String::Latin1).stripWhiteSpace(); }
    ByteVector render(const String &) const override { return ByteVector(); }
};

// TagLib reads RIFF's texts as UTF-8, and drops all others.
void keepBytes() {
    static const Bytes handler;
    static const bool isSet = [] {
        TagLib::ID3v1::Tag::setStringHandler(&handler);
        TagLib::RIFF::Info::Tag::setStringHandler(&handler);
        return true;
    }();
    (void)isSet;
}

// The texts of one file. Each comes from the first tag that has it: ID3v2, then APE, Vorbis and others, then tags
// without an encoding.
class Texts {
public:
    explicit Texts(const OpenedFile &opened) : properties(opened.file()->properties()) {
        TagLib::File *file = opened.file();
        if (auto mpeg = dynamic_cast<TagLib::MPEG::File *>(file)) {
            (id3 = mpeg->ID3v2Tag(), old = mpeg->ID3v1Tag(), ape = mpeg->APETag());
        } else if (auto wav = dynamic_cast<TagLib::RIFF::WAV::File *>(file)) {
            (id3 = wav->ID3v2Tag(), old = wav->InfoTag());
        } else if (auto aiff = dynamic_cast<TagLib::RIFF::AIFF::File *>(file)) {
            id3 = aiff->tag();
        } else if (auto flac = dynamic_cast<TagLib::FLAC::File *>(file)) {
            (id3 = flac->ID3v2Tag(), old = flac->ID3v1Tag());
        } else if (auto trueAudio = dynamic_cast<TagLib::TrueAudio::File *>(file)) {
            (id3 = trueAudio->ID3v2Tag(), old = trueAudio->ID3v1Tag());
        } else if (auto packed = dynamic_cast<TagLib::APE::File *>(file)) {
            (ape = packed->APETag(), old = packed->ID3v1Tag());
        }
        TagLib::Tag *tag = opened.tag();
        title = values("TIT2", "TITLE", old ? old->title() : String(), tag ? tag->title() : String());
        artists = values("TPE1", "ARTIST", old ? old->artist() : String(), tag ? tag->artist() : String());
        album = values("TALB", "ALBUM", old ? old->album() : String(), tag ? tag->album() : String());
        albumArtist = values("TPE2", "ALBUMARTIST", String(), String());
        track = tag ? tag->track() : 0;
        if (track == 0 && old) track = old->track();
        // A list tag is preferred to one text with all artists.
        if (artists.values.size() < 2) {
            auto list = values("TXXX:ARTISTS", "ARTISTS", String(), String());
            if (list.values.size() > 1) artists = list;
        }
        for (Value *value : {&title, &artists, &album, &albumArtist})
            if (value->isLegacy)
                for (const auto &text : value->values) guess.addLegacy(text.toWString());
    }

    struct Value {
        StringList values;
        bool isLegacy = false;
    };

    Value title, artists, album, albumArtist;
    unsigned int track = 0;

    // All values of a text in UTF-8, with a separator between two, or only the first.
    std::string text(const Value &value, size_t limit, bool isList = false) {
        std::string result;
        for (const auto &each : value.values) {
            if (!result.empty()) result.push_back(CTAGLIB_SEPARATOR);
            // A scalar has up to four bytes. Cutting here avoids converting a very long text.
            std::string part = guess.decoded(each.substr(0, limit).toWString(), value.isLegacy);
            for (char letter : part)
                if (letter != 0 && letter != CTAGLIB_SEPARATOR) result.push_back(letter);
            if (!isList || result.size() >= limit) break;
        }
        return result.substr(0, limit);
    }

    std::string gain(const char *name) {
        String key(name);
        if (properties.contains(key) && !properties[key].isEmpty()) return properties[key].front().to8Bit(true);
        if (ape && ape->itemListMap().contains(key)) return ape->itemListMap()[key].toString().to8Bit(true);
        return "";
    }

    // ID3v2's frames for the gain of a track or an album. They are used if the text tag is missing.
    std::string adjusted(const char *what) {
        if (!id3) return "";
        for (auto frame : id3->frameList("RVA2")) {
            auto volume = dynamic_cast<TagLib::ID3v2::RelativeVolumeFrame *>(frame);
            if (volume && volume->identification().upper() == what) return std::to_string(volume->volumeAdjustment());
        }
        return "";
    }

private:
    Value values(const char *frame, const char *property, const String &oldText, const String &other) {
        Value value;
        if (id3 && id3->frameListMap().contains(frame)) {
            for (auto each : id3->frameListMap()[frame]) {
                auto text = dynamic_cast<TagLib::ID3v2::TextIdentificationFrame *>(each);
                if (!text) continue;
                for (const auto &part : text->fieldList())
                    if (!part.isEmpty()) value.values.append(part);
                value.isLegacy = text->textEncoding() == String::Latin1;
            }
        }
        if (!value.values.isEmpty()) return value;
        String key(property);
        // In some files the properties come from tags without an encoding.
        if (properties.contains(key) && (oldText.isEmpty() || properties[key].toString() != oldText)) {
            for (const auto &part : properties[key])
                if (!part.isEmpty()) value.values.append(part);
        } else if (ape && ape->itemListMap().contains(key)) {
            value.values = ape->itemListMap()[key].values();
        }
        if (value.values.isEmpty() && !oldText.isEmpty()) {
            value.values = StringList(oldText);
            value.isLegacy = true;
        }
        if (value.values.isEmpty() && !other.isEmpty()) value.values = StringList(other);
        return value;
    }

    TagLib::PropertyMap properties;
    TagLib::ID3v2::Tag *id3 = nullptr;
    TagLib::APE::Tag *ape = nullptr;
    // ID3v1, or RIFF's list.
    TagLib::Tag *old = nullptr;
    encodings::Guess guess;
};

char *copy(const std::string &text, uint32_t limit) {
    size_t count = std::min<size_t>(text.size(), limit);
    char *copy = static_cast<char *>(std::malloc(count + 1));
    if (!copy) throw std::bad_alloc();
    std::memcpy(copy, text.data(), count);
    copy[count] = 0;
    return copy;
}

// ReplayGain's names, which each format spells differently.
std::string gains(const OpenedFile &opened, Texts &texts) {
    static const char *const names[] = {
        "REPLAYGAIN_TRACK_GAIN", "REPLAYGAIN_TRACK_PEAK", "REPLAYGAIN_ALBUM_GAIN",
        "REPLAYGAIN_ALBUM_PEAK", "R128_TRACK_GAIN",       "R128_ALBUM_GAIN",
    };
    std::string result;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (i > 0) result.push_back(CTAGLIB_SEPARATOR);
        std::string text = texts.gain(names[i]);
        if (auto mp4 = dynamic_cast<TagLib::MP4::File *>(opened.file())) {
            for (const auto &item : mp4->tag() ? mp4->tag()->itemMap() : TagLib::MP4::ItemMap())
                if (item.first.upper() == String("----:COM.APPLE.ITUNES:") + names[i]) text = item.second.toStringList().toString().to8Bit(true);
        } else if (auto asf = dynamic_cast<TagLib::ASF::File *>(opened.file())) {
            for (const auto &item : asf->tag() ? asf->tag()->attributeListMap() : TagLib::ASF::AttributeListMap())
                if (item.first.upper() == names[i] && !item.second.isEmpty()) text = item.second.front().toString().to8Bit(true);
        }
        if (text.empty() && i == 0) text = texts.adjusted("TRACK");
        if (text.empty() && i == 2) text = texts.adjusted("ALBUM");
        result += text.substr(0, 24);
    }
    return result;
}

// Whether a length may be wrong: no header contains it, or the file is too small or too large for it.
bool isDoubtful(const OpenedFile &opened, double bytes) {
    double seconds = opened.milliseconds() / 1000.0;
    if (seconds <= 0) return true;
    TagLib::AudioProperties *properties = opened.file()->audioProperties();
    if (auto mpeg = dynamic_cast<TagLib::MPEG::Properties *>(properties)) {
        const TagLib::MPEG::XingHeader *header = mpeg->xingHeader();
        if (!header || !header->isValid()) return true;
        return header->totalSize() > bytes * 1.02;
    }
    if (auto wav = dynamic_cast<TagLib::RIFF::WAV::Properties *>(properties)) {
        double wanted = seconds * wav->sampleRate() * wav->channels() * wav->bitsPerSample() / 8;
        return wav->format() == 1 && wanted > bytes * 1.02;
    }
    if (auto aiff = dynamic_cast<TagLib::RIFF::AIFF::Properties *>(properties))
        return seconds * aiff->sampleRate() * aiff->channels() * aiff->bitsPerSample() / 8 > bytes * 1.02 && !aiff->isAiffC();
    double leastRate = dynamic_cast<TagLib::FLAC::Properties *>(properties) ? 200e3 : 24e3;
    return bytes * 8 / seconds < leastRate;
}

}  // namespace

int ctaglib_tags_read(const char *path, const ctaglib_tags_limits *limits, ctaglib_tags *tags) try {
    std::memset(tags, 0, sizeof *tags);
    keepBytes();
    OpenedFile opened(path, *limits);
    if (!opened.isKnown()) return -1;
    Texts texts(opened);
    tags->title = copy(texts.text(texts.title, limits->text_bytes), limits->text_bytes);
    tags->artists = copy(texts.text(texts.artists, limits->text_bytes, true), limits->text_bytes);
    tags->album = copy(texts.text(texts.album, limits->text_bytes), limits->text_bytes);
    tags->album_artist = copy(texts.text(texts.albumArtist, limits->text_bytes), limits->text_bytes);
    tags->gains = copy(gains(opened, texts), limits->text_bytes);
    tags->track = texts.track;
    TagLib::PropertyMap properties = opened.file()->properties();
    auto disc = properties.find("DISCNUMBER");
    if (disc != properties.end() && !disc->second.isEmpty()) tags->disc = std::max(disc->second.front().toInt(), 0);
    tags->milliseconds = std::max(opened.milliseconds(), 0);
    tags->is_doubtful = isDoubtful(opened, static_cast<double>(opened.file()->length()));
    takeFrom(opened, [&](const ByteVector &data, bool) {
        tags->has_cover = !data.isEmpty() && data.size() <= limits->cover_bytes;
        return tags->has_cover != 0;
    });
    return 0;
} catch (...) {
    ctaglib_tags_free(tags);
    return -1;
}

void ctaglib_tags_free(ctaglib_tags *tags) {
    std::free(tags->title);
    std::free(tags->artists);
    std::free(tags->album);
    std::free(tags->album_artist);
    std::free(tags->gains);
    std::memset(tags, 0, sizeof *tags);
}

int ctaglib_cover_read(const char *path, const ctaglib_tags_limits *limits, ctaglib_cover *cover) try {
    std::memset(cover, 0, sizeof *cover);
    OpenedFile opened(path, *limits);
    if (!opened.isKnown()) return -1;
    ByteVector best;
    takeFrom(opened, [&](const ByteVector &data, bool isFront) {
        if (data.isEmpty() || data.size() > limits->cover_bytes) return false;
        if (isFront || best.isEmpty()) best = data;
        return isFront;
    });
    if (best.isEmpty()) return -1;
    cover->bytes = static_cast<uint8_t *>(std::malloc(best.size()));
    if (!cover->bytes) return -1;
    cover->count = best.size();
    std::memcpy(cover->bytes, best.data(), best.size());
    return 0;
} catch (...) {
    ctaglib_cover_free(cover);
    return -1;
}

void ctaglib_cover_free(ctaglib_cover *cover) {
    std::free(cover->bytes);
    std::memset(cover, 0, sizeof *cover);
}
