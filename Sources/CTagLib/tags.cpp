// SPDX-License-Identifier: Apache-2.0

#include "CTagLib.h"

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
#include <taglib/id3v2tag.h>
#include <taglib/mp4file.h>
#include <taglib/mpcfile.h>
#include <taglib/mpegfile.h>
#include <taglib/tfilestream.h>
#include <taglib/tpropertymap.h>
#include <taglib/wavfile.h>
#include <taglib/wavpackfile.h>
#include <taglib/xiphcomment.h>

namespace {

using TagLib::ByteVector;

// A file that ends early for a parser that reads too much of it.
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

// A file as its name says, or where that is not so, as its bytes do.
class OpenedFile {
public:
    OpenedFile(const char *path, const ctaglib_tags_limits &limits) {
        for (bool hasName : {true, false}) {
            open(path, limits, hasName);
            if (!ref->isNull() && milliseconds() > 0) return;
        }
        // Raw AAC is none of TagLib's formats, but people put the tags of MPEG files before it.
        const char *suffix = std::strrchr(path, '.');
        if (!suffix || strcasecmp(suffix, ".aac") != 0) return;
        ref.reset();
        stream = std::make_unique<LimitedStream>(path, limits, true);
        if (!stream->isOpen()) return;
        ref = std::make_unique<TagLib::FileRef>(
            new TagLib::MPEG::File(stream.get(), TagLib::ID3v2::FrameFactory::instance(), false));
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
        ref = stream->isOpen() ? std::make_unique<TagLib::FileRef>(stream.get())
                               : std::make_unique<TagLib::FileRef>();
    }

    // The reference uses the stream to its end.
    std::unique_ptr<LimitedStream> stream;
    std::unique_ptr<TagLib::FileRef> ref;
};

// Takes a picture, and says whether it wants no other.
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
        // A file's name and a zero come before the picture.
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
    } else if (auto wavpack = dynamic_cast<TagLib::WavPack::File *>(file)) {
        takeFrom(wavpack->APETag(), take);
    } else if (auto xiph = dynamic_cast<TagLib::Ogg::XiphComment *>(opened.tag())) {
        takeFrom(xiph->pictureList(), take);
    }
}

// Of a WAV's two kinds of tags TagLib 1.13 gives the texts of the first, also where it is not there.
TagLib::Tag *textTag(const OpenedFile &opened) {
    auto wav = dynamic_cast<TagLib::RIFF::WAV::File *>(opened.file());
    if (wav && wav->hasInfoTag() && !wav->hasID3v2Tag()) return wav->InfoTag();
    return opened.tag();
}

char *copy(const TagLib::String &text, uint32_t limit) {
    // A scalar is as much as four bytes in UTF-8, and cutting here keeps a book from being made UTF-8 first.
    std::string bytes = text.substr(0, limit).to8Bit(true);
    size_t count = std::min<size_t>(bytes.size(), limit);
    char *copy = static_cast<char *>(std::malloc(count + 1));
    if (!copy) throw std::bad_alloc();
    std::memcpy(copy, bytes.data(), count);
    copy[count] = 0;
    return copy;
}

// The first value that a tag has under a name, which TagLib has for each format's own name.
TagLib::String first(const TagLib::PropertyMap &properties, const char *name) {
    auto found = properties.find(name);
    return found == properties.end() || found->second.isEmpty() ? TagLib::String() : found->second.front();
}

}  // namespace

int ctaglib_tags_read(const char *path, const ctaglib_tags_limits *limits, ctaglib_tags *tags) try {
    std::memset(tags, 0, sizeof *tags);
    OpenedFile opened(path, *limits);
    if (!opened.isKnown()) return -1;
    TagLib::Tag *tag = textTag(opened);
    tags->title = copy(tag ? tag->title() : TagLib::String(), limits->text_bytes);
    tags->artist = copy(tag ? tag->artist() : TagLib::String(), limits->text_bytes);
    tags->album = copy(tag ? tag->album() : TagLib::String(), limits->text_bytes);
    tags->track = tag ? tag->track() : 0;
    TagLib::PropertyMap properties = opened.file()->properties();
    tags->album_artist = copy(first(properties, "ALBUMARTIST"), limits->text_bytes);
    tags->disc = std::max(first(properties, "DISCNUMBER").toInt(), 0);
    tags->milliseconds = std::max(opened.milliseconds(), 0);
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
    std::free(tags->artist);
    std::free(tags->album);
    std::free(tags->album_artist);
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
