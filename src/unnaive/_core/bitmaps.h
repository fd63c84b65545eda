// Rows of every value as bits, and tables of joint values counted by AND + popcount.
#pragma once

#include <algorithm>
#include <vector>

#include "bits.h"

namespace unnaive {

constexpr i64 MOST_BITMAPS = 32;  // of a column; a column with more values has none
constexpr i64 TILE_OF_WORDS = 256;

using Lines = std::vector<u64, Aligned<u64>>;

// The bitmaps of all columns: first those that are counted, then the last one of complete columns,
// whose counts are what the others leave over.
struct Bitmaps {
    i64 words = 0;
    std::vector<i64> first, values, used, last;  // of each column
    Lines bits;

    bool has(i64 column) const { return values[std::size_t(column)] > 0; }
    const u64 *line(i64 column, i64 value) const {
        const auto place = std::size_t(column);
        return bits.data() + (value < used[place] ? first[place] + value : last[place]) * words;
    }
};

// Make the bitmaps of columns; the cell of a row with a missing value is in none.
template <class Code>
Bitmaps bitmaps_of(In2<Code> codes, In1<i64> sizes, const std::vector<bool> &complete) {
    const i64 n_rows = codes.shape(1), whole = n_rows / 64;
    Bitmaps made;
    made.words = (n_rows + 63) / 64;
    i64 lines = 0;
    for (i64 column = 0; column < codes.shape(0); column++) {
        const i64 values = sizes[column] <= MOST_BITMAPS ? sizes[column] : 0;
        made.values.push_back(values);
        made.first.push_back(lines);
        made.used.push_back(values - (values > 0 && complete[std::size_t(column)]));
        lines += made.used.back();
    }
    for (std::size_t column = 0; column < made.values.size(); column++) {
        made.last.push_back(lines);
        lines += made.values[column] - made.used[column];
    }
    made.bits.assign(std::size_t(lines * made.words), 0);
    for (i64 column = 0; column < codes.shape(0); column++) {
        const Code *line = codes.data + column * n_rows;
        for (i64 value = 0; value < made.values[std::size_t(column)]; value++) {
            u64 *bits = const_cast<u64 *>(made.line(column, value));
            i64 total = 0;
            mark_equal(line, Code(value), bits, whole, &total);
            for (i64 row = whole * 64; row < n_rows; row++)
                bits[whole] |= u64(i64(line[row]) == value) << (row % 64);
        }
    }
    return made;
}

// Counts of joint values, and the bitmaps of a tile of words that they are counted from.
struct Counted {
    std::vector<i64> cells, totals;
    Lines joint, before;
};

// Bitmaps of the joint values of some columns in a tile of words, the last column's fastest.
inline void join(const Bitmaps &all, const std::vector<i64> &columns, i64 low, i64 length,
                 Counted &out) {
    i64 n_groups = 0;
    for (const i64 column : columns) {
        const i64 values = all.values[std::size_t(column)];
        const i64 now = (n_groups == 0 ? 1 : n_groups) * values;
        out.before.swap(out.joint);
        if (i64(out.joint.size()) < now * length) out.joint.resize(std::size_t(now * length));
        for (i64 group = 0; group < now; group++) {
            const u64 *mine = all.line(column, group % values) + low;
            u64 *RESTRICT both = out.joint.data() + group * length;
            if (n_groups == 0) {
                std::copy_n(mine, length, both);
                continue;
            }
            const u64 *RESTRICT above = out.before.data() + group / values * length;
            for (i64 word = 0; word < length; word++) both[word] = mine[word] & above[word];
        }
        n_groups = now;
    }
}

// Bitmaps of neighbouring candidates, which are counted four at a time.
using Runs = std::vector<std::pair<i64, i64>>;  // first line, and how many

inline Runs runs_of(const Bitmaps &all, const std::vector<i64> &candidates) {
    Runs runs;
    for (const i64 candidate : candidates) {
        const i64 first = all.first[std::size_t(candidate)], used = all.used[std::size_t(candidate)];
        if (!runs.empty() && runs.back().first + runs.back().second == first)
            runs.back().second += used;
        else
            runs.emplace_back(first, used);
    }
    return runs;
}

// Count the joint values of some columns with every line of each candidate that is used.
//
// The cells (groups, lines) hold the used lines of the candidates side by side, and the totals the
// rows of each group.
inline void count_joint(const Bitmaps &all, const std::vector<i64> &columns, const Runs &runs,
                        i64 n_groups, Counted &out) {
    i64 lines = 0;
    for (const auto &[first, used] : runs) lines += used;
    out.cells.assign(std::size_t(n_groups * lines), 0);
    out.totals.assign(std::size_t(n_groups), 0);
    SharedFour *four = shared_four();
    SharedOne *one = shared_one();
    const i64 stride = all.words;
    for (i64 low = 0; low < stride; low += TILE_OF_WORDS) {
        const i64 length = std::min(TILE_OF_WORDS, stride - low);
        join(all, columns, low, length, out);
        for (i64 group = 0; group < n_groups; group++) {
            const u64 *mine = out.joint.data() + group * length;
            const i64 rows = one(mine, mine, length);
            i64 *cell = out.cells.data() + group * lines;
            if (rows == 0) continue;
            out.totals[std::size_t(group)] += rows;
            for (const auto &[first, used] : runs) {
                const u64 *others = all.bits.data() + first * stride + low;
                const i64 together = used - used % 4;
                for (i64 line = 0; line < together; line += 4)
                    four(mine, others + line * stride, stride, length, cell + line);
                for (i64 line = together; line < used; line++)
                    cell[line] += one(mine, others + line * stride, length);
                cell += used;
            }
        }
    }
}

}  // namespace unnaive
