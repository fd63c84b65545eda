// Loops over machine words, for each level of instructions.
#include "bits.h"

#if UNNAIVE_X86
#include <immintrin.h>
#endif

namespace unnaive {
namespace {

constexpr int WORD = 64;

void four_plain(const u64 *mine, const u64 *others, i64 stride, i64 length, i64 *cells) {
    u64 shared[4] = {0, 0, 0, 0};
    for (i64 word = 0; word < length; word++)
        for (int line = 0; line < 4; line++)
            shared[line] += std::popcount(mine[word] & others[line * stride + word]);
    for (int line = 0; line < 4; line++) cells[line] += i64(shared[line]);
}

i64 one_plain(const u64 *mine, const u64 *other, i64 length) {
    u64 shared = 0;
    for (i64 word = 0; word < length; word++) shared += std::popcount(mine[word] & other[word]);
    return i64(shared);
}

// One bit a comparison: eight bytes of 0 or 1 become eight bits by one multiplication.
template <class Code> INLINE u64 equal_bits(const Code *codes, Code value) {
    u8 equal[WORD];
    for (int place = 0; place < WORD; place++) equal[place] = codes[place] == value;
    u64 bits = 0;
    for (int byte = 0; byte < 8; byte++) {
        u64 eight;
        std::memcpy(&eight, equal + 8 * byte, 8);
        if constexpr (std::endian::native == std::endian::big)
            eight = (eight * 0x8040201008040201u) >> 56;
        else
            eight = (eight * 0x0102040810204080u) >> 56;
        bits |= eight << (8 * byte);
    }
    return bits;
}

template <class Code>
void mark_plain(const Code *codes, Code value, u64 *words, i64 length, i64 *total) {
    for (i64 word = 0; word < length; word++) {
        words[word] = equal_bits(codes + word * WORD, value);
        *total += std::popcount(words[word]);
    }
}

#if UNNAIVE_X86

AVX512 void four_avx512(const u64 *mine, const u64 *others, i64 stride, i64 length, i64 *cells) {
    const u64 *lines[4] = {others, others + stride, others + 2 * stride, others + 3 * stride};
    __m512i shared[4];
    for (auto &sum : shared) sum = _mm512_setzero_si512();
    i64 word = 0;
    for (; word + 8 <= length; word += 8) {
        const __m512i bits = _mm512_loadu_si512(mine + word);
#pragma GCC unroll 4
        for (int line = 0; line < 4; line++) {
            const __m512i both = _mm512_and_si512(bits, _mm512_loadu_si512(lines[line] + word));
            shared[line] = _mm512_add_epi64(shared[line], _mm512_popcnt_epi64(both));
        }
    }
    for (int line = 0; line < 4; line++) {
        cells[line] += _mm512_reduce_add_epi64(shared[line]);
        for (i64 rest = word; rest < length; rest++)
            cells[line] += _mm_popcnt_u64(mine[rest] & lines[line][rest]);
    }
}

AVX512 i64 one_avx512(const u64 *mine, const u64 *other, i64 length) {
    __m512i even = _mm512_setzero_si512(), odd = _mm512_setzero_si512();
    i64 word = 0;
    for (; word + 16 <= length; word += 16) {
        even = _mm512_add_epi64(
            even, _mm512_popcnt_epi64(_mm512_and_si512(_mm512_loadu_si512(mine + word),
                                                       _mm512_loadu_si512(other + word))));
        odd = _mm512_add_epi64(
            odd, _mm512_popcnt_epi64(_mm512_and_si512(_mm512_loadu_si512(mine + word + 8),
                                                      _mm512_loadu_si512(other + word + 8))));
    }
    i64 shared = _mm512_reduce_add_epi64(_mm512_add_epi64(even, odd));
    for (; word < length; word++) shared += _mm_popcnt_u64(mine[word] & other[word]);
    return shared;
}

template <class Code>
AVX512 void mark_avx512(const Code *codes, Code value, u64 *words, i64 length, i64 *total) {
    i64 marked = 0;
    for (i64 word = 0; word < length; word++) {
        const Code *block = codes + word * WORD;
        u64 bits = 0;
        if constexpr (sizeof(Code) == 1) {
            bits = _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(block), _mm512_set1_epi8(char(value)));
        } else if constexpr (sizeof(Code) == 2) {
            const __m512i every = _mm512_set1_epi16(short(value));
            bits = u64(_mm512_cmpeq_epi16_mask(_mm512_loadu_si512(block), every)) |
                   u64(_mm512_cmpeq_epi16_mask(_mm512_loadu_si512(block + 32), every)) << 32;
        } else {
            const __m512i every = _mm512_set1_epi32(int(value));
            for (int part = 0; part < 4; part++)
                bits |= u64(_mm512_cmpeq_epi32_mask(_mm512_loadu_si512(block + 16 * part), every))
                        << (16 * part);
        }
        words[word] = bits;
        marked += _mm_popcnt_u64(bits);
    }
    *total += marked;
}

// Carry-save addition: three lines of bits become a line of ones and a line of twos.
AVX2 INLINE void carry_save(__m256i &ones, __m256i first, __m256i second, __m256i &twos) {
    const __m256i either = _mm256_xor_si256(ones, first);
    twos = _mm256_or_si256(_mm256_and_si256(ones, first), _mm256_and_si256(either, second));
    ones = _mm256_xor_si256(either, second);
}

// Bits set in each of four words: half a byte at a time from a table of sixteen.
AVX2 INLINE __m256i bits_set(__m256i words) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                           2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i here = _mm256_shuffle_epi8(table, _mm256_and_si256(words, low));
    const __m256i there =
        _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(words, 4), low));
    return _mm256_sad_epu8(_mm256_add_epi8(here, there), _mm256_setzero_si256());
}

AVX2 INLINE __m256i vector_at(const u64 *words, int place) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(words) + place);
}

// Bits of one line so far: those that stand for one, two and four, and the number of eights.
struct Sums {
    __m256i ones, twos, fours, eights;
};

// Add two vectors of mine AND each line as bits; what is carried stands for two.
template <int lines>
AVX2 INLINE void add_two(const u64 *mine, const u64 *others, i64 stride, int place,
                         Sums (&sums)[lines], __m256i (&carried)[lines]) {
    const __m256i first = vector_at(mine, place), second = vector_at(mine, place + 1);
#pragma GCC unroll 2
    for (int line = 0; line < lines; line++) {
        const u64 *other = others + line * stride;
        carry_save(sums[line].ones, _mm256_and_si256(first, vector_at(other, place)),
                   _mm256_and_si256(second, vector_at(other, place + 1)), carried[line]);
    }
}

// Harley and Seal: bits of 32 words are added up as bits, and one vector in eight is counted. Two
// lines at a time share the loads of `mine`.
template <int lines>
AVX2 INLINE void count_lines(const u64 *mine, const u64 *others, i64 stride, i64 length,
                             i64 *cells) {
    const __m256i zero = _mm256_setzero_si256();
    Sums sums[lines];
    for (auto &sum : sums) sum = {zero, zero, zero, zero};
    i64 word = 0;
    for (; word + 32 <= length; word += 32) {
        __m256i two_a[lines], two_b[lines], four_a[lines], four_b[lines], eight;
        const u64 *a = mine + word, *b = others + word;
        add_two<lines>(a, b, stride, 0, sums, two_a);
        add_two<lines>(a, b, stride, 2, sums, two_b);
        for (int line = 0; line < lines; line++)
            carry_save(sums[line].twos, two_a[line], two_b[line], four_a[line]);
        add_two<lines>(a, b, stride, 4, sums, two_a);
        add_two<lines>(a, b, stride, 6, sums, two_b);
        for (int line = 0; line < lines; line++) {
            carry_save(sums[line].twos, two_a[line], two_b[line], four_b[line]);
            carry_save(sums[line].fours, four_a[line], four_b[line], eight);
            sums[line].eights = _mm256_add_epi64(sums[line].eights, bits_set(eight));
        }
    }
    for (int line = 0; line < lines; line++) {
        const Sums &sum = sums[line];
        const u64 *other = others + line * stride;
        __m256i total = _mm256_slli_epi64(sum.eights, 3);
        total = _mm256_add_epi64(total, _mm256_slli_epi64(bits_set(sum.fours), 2));
        total = _mm256_add_epi64(total, _mm256_slli_epi64(bits_set(sum.twos), 1));
        total = _mm256_add_epi64(total, bits_set(sum.ones));
        i64 rest = word;
        for (; rest + 4 <= length; rest += 4)
            total = _mm256_add_epi64(total, bits_set(_mm256_and_si256(vector_at(mine + rest, 0),
                                                                      vector_at(other + rest, 0))));
        cells[line] += _mm256_extract_epi64(total, 0) + _mm256_extract_epi64(total, 1) +
                       _mm256_extract_epi64(total, 2) + _mm256_extract_epi64(total, 3);
        for (; rest < length; rest++) cells[line] += _mm_popcnt_u64(mine[rest] & other[rest]);
    }
}

AVX2 i64 one_avx2(const u64 *mine, const u64 *other, i64 length) {
    i64 shared = 0;
    count_lines<1>(mine, other, 0, length, &shared);
    return shared;
}

AVX2 void four_avx2(const u64 *mine, const u64 *others, i64 stride, i64 length, i64 *cells) {
    count_lines<2>(mine, others, stride, length, cells);
    count_lines<2>(mine, others + 2 * stride, stride, length, cells + 2);
}

template <class Code>
AVX2 void mark_avx2(const Code *codes, Code value, u64 *words, i64 length, i64 *total) {
    i64 marked = 0;
    for (i64 word = 0; word < length; word++) {
        const Code *block = codes + word * WORD;
        u64 bits;
        if constexpr (sizeof(Code) == 1) {
            const __m256i every = _mm256_set1_epi8(char(value));
            const auto *lanes = reinterpret_cast<const __m256i *>(block);
            const __m256i low = _mm256_cmpeq_epi8(_mm256_loadu_si256(lanes), every);
            const __m256i high = _mm256_cmpeq_epi8(_mm256_loadu_si256(lanes + 1), every);
            bits = u64(u32(_mm256_movemask_epi8(low))) |
                   u64(u32(_mm256_movemask_epi8(high))) << 32;
        } else {
            bits = equal_bits(block, value);
        }
        words[word] = bits;
        marked += _mm_popcnt_u64(bits);
    }
    *total += marked;
}

#endif

}  // namespace

SharedFour *shared_four() {
#if UNNAIVE_X86
    if (level == Level::avx512) return four_avx512;
    if (level == Level::avx2) return four_avx2;
#endif
    return four_plain;
}

SharedOne *shared_one() {
#if UNNAIVE_X86
    if (level == Level::avx512) return one_avx512;
    if (level == Level::avx2) return one_avx2;
#endif
    return one_plain;
}

template <class Code>
void mark_equal(const Code *codes, Code value, u64 *words, i64 length, i64 *total) {
#if UNNAIVE_X86
    if (level == Level::avx512) return mark_avx512(codes, value, words, length, total);
    if (level == Level::avx2) return mark_avx2(codes, value, words, length, total);
#endif
    mark_plain(codes, value, words, length, total);
}

template void mark_equal(const u8 *, u8, u64 *, i64, i64 *);
template void mark_equal(const u16 *, u16, u64 *, i64, i64 *);
template void mark_equal(const u32 *, u32, u64 *, i64, i64 *);

}  // namespace unnaive
