// Sums of table entries: rows in blocks, the classes of a cell side by side.
#pragma once

#include <array>

#include "levels.h"

namespace unnaive {

constexpr i64 BLOCK = 256;   // rows whose sums stay in the cache
constexpr int TOGETHER = 8;  // factors whose entries are added while a row's sums are in registers

// Add the entries of up to eight factors to the sums of a block of rows, factor by factor.
//
// `entries` holds the classes of a cell side by side, and behind them those of leave-one-out;
// `cells` says where each row's begin. K is the number of classes where it is small.
template <int K, bool LEAVES_OUT>
INLINE void add_entries_loop(std::integral_constant<int, K>, std::bool_constant<LEAVES_OUT>,
                             const double *entries, const u32 *cells, int members,
                             const i64 *held, i64 n_classes, i64 rows, double *RESTRICT joint) {
    const i64 k = K > 0 ? K : n_classes;
    for (i64 row = 0; row < rows; row++) {
        double *sums = joint + row * k;
        if constexpr (K > 0) {
            std::array<double, K> sum;
            std::array<int, K> place;
            for (int label = 0; label < K; label++) {
                sum[label] = sums[label];
                place[label] = LEAVES_OUT && held[row] == label ? label + K : label;
            }
            for (int member = 0; member < members; member++) {
                const double *entry = entries + cells[member * BLOCK + row];
                for (int label = 0; label < K; label++)
                    sum[label] += entry[LEAVES_OUT ? place[label] : label];
            }
            for (int label = 0; label < K; label++) sums[label] = sum[label];
        } else if constexpr (LEAVES_OUT) {
            for (int member = 0; member < members; member++) {
                const double *entry = entries + cells[member * BLOCK + row];
                for (i64 label = 0; label < k; label++)
                    sums[label] += entry[held[row] == label ? label + k : label];
            }
        } else {
            for (int member = 0; member < members; member++) {
                const double *entry = entries + cells[member * BLOCK + row];
                for (i64 label = 0; label < k; label++) sums[label] += entry[label];
            }
        }
    }
}
LEVELS(add_entries)

template <bool LEAVES_OUT>
void add_block(const double *entries, const u32 *cells, int members, const i64 *held, i64 n_classes,
               i64 rows, double *joint) {
    const auto add = [&](auto known) {
        add_entries(known, std::bool_constant<LEAVES_OUT>{}, entries, cells, members, held,
                    n_classes, rows, joint);
    };
    switch (n_classes) {
        case 1: return add(std::integral_constant<int, 1>{});
        case 2: return add(std::integral_constant<int, 2>{});
        case 3: return add(std::integral_constant<int, 3>{});
        case 4: return add(std::integral_constant<int, 4>{});
        default: return add(std::integral_constant<int, 0>{});
    }
}

}  // namespace unnaive
