// Sums of table entries: rows in blocks, the classes of a cell side by side.
#pragma once

#include <algorithm>
#include <array>

#include "levels.h"

namespace unnaive {

constexpr i64 BLOCK = 256;   // rows whose sums stay in the cache
constexpr int TOGETHER = 8;  // factors whose entries are added while a row's sums are in registers

// Four sums side by side. Compilers take eight of an array one by one.
struct Four {
#if defined(__GNUC__) || defined(__clang__)
    typedef double Values __attribute__((vector_size(32), aligned(8), may_alias));
    Values values;
    INLINE void add(const Four &other) { values += other.values; }
#else
    double values[4];
    INLINE void add(const Four &other) {
        for (int place = 0; place < 4; place++) values[place] += other.values[place];
    }
#endif
    INLINE static Four at(const double *from) {
        Four four;
        std::memcpy(&four.values, from, sizeof four.values);
        return four;
    }
    INLINE void put(double *into) const { std::memcpy(into, &values, sizeof values); }
};

// Add the entries of up to eight factors to the sums of a block of rows, factor by factor.
//
// `entries` holds the classes of a cell side by side, and behind them those of leave-one-out;
// `cells` says where each row's begin. The sums of K classes, from `low` on, stay in registers.
template <int K, bool LEAVES_OUT>
INLINE void add_entries_loop(std::integral_constant<int, K>, std::bool_constant<LEAVES_OUT>,
                             const double *entries, const u32 *cells, int members,
                             const i64 *held, i64 low, i64 n_classes, i64 rows,
                             double *RESTRICT joint) {
    constexpr int FOURS = LEAVES_OUT ? 0 : K / 4, REST = K - 4 * FOURS;
    for (i64 row = 0; row < rows; row++) {
        double *sums = joint + row * n_classes + low;
        std::array<Four, FOURS> four;
        std::array<double, REST> sum;
        std::array<int, REST> place;
        for (int part = 0; part < FOURS; part++) four[part] = Four::at(sums + 4 * part);
        for (int label = 0; label < REST; label++) {
            sum[label] = sums[4 * FOURS + label];
            place[label] = LEAVES_OUT && held[row] == low + label ? label + int(n_classes) : label;
        }
        for (int member = 0; member < members; member++) {
            const double *entry = entries + cells[member * BLOCK + row] + low;
            for (int part = 0; part < FOURS; part++) four[part].add(Four::at(entry + 4 * part));
            for (int label = 0; label < REST; label++)
                sum[label] += entry[LEAVES_OUT ? place[label] : 4 * FOURS + label];
        }
        for (int part = 0; part < FOURS; part++) four[part].put(sums + 4 * part);
        for (int label = 0; label < REST; label++) sums[4 * FOURS + label] = sum[label];
    }
}
LEVELS(add_entries)

template <bool LEAVES_OUT>
void add_block(const double *entries, const u32 *cells, int members, const i64 *held, i64 n_classes,
               i64 rows, double *joint) {
    for (i64 low = 0; low < n_classes; low += 8) {
        const auto add = [&](auto known) {
            add_entries(known, std::bool_constant<LEAVES_OUT>{}, entries, cells, members, held, low,
                        n_classes, rows, joint);
        };
        switch (std::min<i64>(n_classes - low, 8)) {
            case 1: add(std::integral_constant<int, 1>{}); break;
            case 2: add(std::integral_constant<int, 2>{}); break;
            case 3: add(std::integral_constant<int, 3>{}); break;
            case 4: add(std::integral_constant<int, 4>{}); break;
            case 5: add(std::integral_constant<int, 5>{}); break;
            case 6: add(std::integral_constant<int, 6>{}); break;
            case 7: add(std::integral_constant<int, 7>{}); break;
            default: add(std::integral_constant<int, 8>{}); break;
        }
    }
}

}  // namespace unnaive
