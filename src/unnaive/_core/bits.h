// Loops over machine words: which codes equal a value, and how many bits two words share.
#pragma once

#include "levels.h"

namespace unnaive {

// Add to cells[0 … 3] the bits that `mine` shares with each of four lines, `stride` words apart.
using SharedFour = void(const u64 *mine, const u64 *others, i64 stride, i64 length, i64 *cells);

// Number of bits that two lines of words share.
using SharedOne = i64(const u64 *mine, const u64 *other, i64 length);

SharedFour *shared_four();
SharedOne *shared_one();

// Bit b of words[w] says whether codes[64·w + b] == value; the bits set are added to total.
template <class Code>
void mark_equal(const Code *codes, Code value, u64 *words, i64 length, i64 *total);

}  // namespace unnaive
