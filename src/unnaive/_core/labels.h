// Texts of a column, numbered.
#pragma once

#include <string_view>
#include <vector>

#include "border.h"

namespace unnaive {

using std::string_view;
using Texts = nb::typed<nb::list, nb::str>;

// Texts numbered in the order of their first appearance: open addressing, one cache line a look.
class Labels {
  public:
    Labels() : slots_(64, -1) {}

    // The number of a text. A new one gets the next number, or what `judge` returns if that is below 0.
    template <class Judge> INLINE std::int32_t number(string_view text, Judge judge) {
        const u64 word = word_of(text);
        u64 slot = hash_of(word) & (slots_.size() - 1);
        while (slots_[slot] >= 0) {
            const Entry &known = entries_[std::size_t(slots_[slot])];
            const bool same = known.word == word && known.text.size() == text.size();
            if (same && (text.size() <= 8 || known.text == text)) return known.number;
            slot = (slot + 1) & (slots_.size() - 1);
        }
        const std::int32_t judged = judge(text);
        slots_[slot] = std::int32_t(entries_.size());
        const std::int32_t number = judged < 0 ? judged : size_++;
        entries_.push_back({text, word, number});
        if (2 * entries_.size() > slots_.size()) grow();
        return number;
    }

    std::int32_t size() const { return size_; }

    Texts texts() const {
        Texts texts;
        for (const Entry &entry : entries_)
            if (entry.number >= 0) texts.append(nb::str(entry.text.data(), entry.text.size()));
        return texts;
    }

  private:
    struct Entry {
        string_view text;
        u64 word;
        std::int32_t number;
    };
    std::vector<std::int32_t> slots_;
    std::vector<Entry> entries_;
    std::int32_t size_ = 0;

    template <class Word> static INLINE u64 load(const char *at) {
        Word word;
        std::memcpy(&word, at, sizeof(Word));
        return word;
    }

    // Up to 8 bytes, the text itself, which no other text of its length shares; a hash of longer ones.
    static INLINE u64 word_of(string_view text) {
        const char *at = text.data();
        const std::size_t size = text.size();
        if (size > 8) {
            u64 hash = 0;
            for (std::size_t place = 0; place + 8 < size; place += 8)
                hash = hash_of(hash ^ load<u64>(at + place));
            return hash_of(hash ^ load<u64>(at + size - 8));
        }
        if (size >= 4) return load<u32>(at) | load<u32>(at + size - 4) << 32;
        return size == 0 ? 0 : load<u8>(at) | load<u8>(at + size / 2) << 8 | load<u8>(at + size - 1) << 16;
    }

    static INLINE u64 hash_of(u64 word) {
        word *= 0xff51afd7ed558ccdULL;
        return word ^ (word >> 32);
    }

    void grow() {
        std::vector<std::int32_t> larger(4 * slots_.size(), -1);
        for (std::size_t i = 0; i < entries_.size(); i++) {
            u64 slot = hash_of(entries_[i].word) & (larger.size() - 1);
            while (larger[slot] >= 0) slot = (slot + 1) & (larger.size() - 1);
            larger[slot] = std::int32_t(i);
        }
        slots_ = std::move(larger);
    }
};

}  // namespace unnaive
