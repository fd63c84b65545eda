// Scores of a variable given its parents: from tables of counts, and from rows in groups.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "gamma.h"
#include "levels.h"

namespace unnaive {

constexpr i64 MOST_CELLS = i64(1) << 31;   // of one table
constexpr i64 MOST_PACKED = i64(1) << 13;  // of a joint table: 32 kB, which the nearest cache holds
constexpr i64 ROWS_A_BLOCK = 2048;

using Shape = std::pair<i64, i64>;  // contexts, and the variable's values

// ------------------------------------------------------------------ scores of one table

// Σ N log N over values less that of the whole; by table where counts are whole.
inline double likelihood_score(const double *cells, i64 size, double total, In1<double> logs) {
    if (logs.size() > 1) {
        double score = -logs[i64(total)];
        for (i64 value = 0; value < size; value++) score += logs[i64(cells[value])];
        return score;
    }
    double score = -total * std::log(total);
    for (i64 value = 0; value < size; value++)
        if (cells[value] > 0.0) score += cells[value] * std::log(cells[value]);
    return score;
}

// What does not change between the contexts of a score by gammas.
struct Prior {
    double alpha, mass, of_alpha, of_mass;
    Prior(double alpha, i64 size)
        : alpha(alpha), mass(double(size) * alpha), of_alpha(log_gamma(alpha)),
          of_mass(log_gamma(mass)) {}
};

// Log marginal likelihood of one context under a Dirichlet prior of α a value.
inline double gamma_score(const double *cells, i64 size, double total, const Prior &prior) {
    double score = prior.of_mass - log_gamma(total + prior.mass);
    for (i64 value = 0; value < size; value++)
        if (cells[value] > 0.0) score += log_gamma(cells[value] + prior.alpha) - prior.of_alpha;
    return score;
}

// Whether all cells, and so their sums, are counts that a table of logarithms reaches.
inline bool all_reached(const double *cells, i64 size, i64 reach) {
    double total = 0.0;
    bool good = true;
    for (i64 cell = 0; cell < size; cell++) {
        good &= cells[cell] >= 0.0;
        total += cells[cell];
    }
    return good && total < double(reach);
}

// Score of one of two variables given the other, from their table, and its rows; `cells` is scratch.
inline double score_way(const double *table, const i64 (&sides)[2], int way, const double *settings,
                        In1<double> logs, std::vector<double> &cells, double &rows) {
    const i64 size = sides[way], step = way == 0 ? sides[1] : 1;
    const bool by_gammas = settings[0] > 0.0;
    const Prior prior(by_gammas ? settings[1] : 1.0, size);
    double score = 0.0;
    rows = 0.0;
    cells.resize(std::size_t(size));
    for (i64 given = 0; given < sides[1 - way]; given++) {
        const double *first = table + (way == 0 ? given : given * sides[1]);
        double total = 0.0;
        for (i64 own = 0; own < size; own++) {
            cells[std::size_t(own)] = first[own * step];
            total += first[own * step];
        }
        rows += total;
        if (!(total > 0.0)) continue;
        score += by_gammas ? gamma_score(cells.data(), size, total, prior)
                           : likelihood_score(cells.data(), size, total, logs);
    }
    return score;
}

// Score of a table (contexts · v + 1, codes) of a variable and one of its parents; its cost.
template <class Count>
void score_lines(In2<Count> table, Shape shape, i64 n_values, const double *settings,
                 In1<double> logs, double *out) {
    const i64 size = shape.second;
    const bool by_gammas = settings[0] > 0.0;
    const Prior prior(by_gammas ? settings[1] : 1.0, size);
    Room<double, 1> cells(size);
    double score = 0.0, rows = 0.0;
    for (i64 context = 0; context < shape.first; context++)
        for (i64 value = 0; value < n_values; value++) {
            double total = 0.0;
            for (i64 own = 0; own < size; own++) {
                cells[own] = double(table(context * size + own, value));
                total += cells[own];
            }
            rows += total;
            if (!(total > 0.0)) continue;
            if (by_gammas) {
                score += gamma_score(cells.data, size, total, prior);
                continue;
            }
            require(logs.size() == 1 || all_reached(cells.data, size, logs.size()), "score_table",
                    "counts that the logarithms do not reach");
            score += likelihood_score(cells.data, size, total, logs);
        }
    out[0] = score;
    out[1] = rows;
}

inline void check_shape(const char *kernel, Shape shape) {
    require(shape.first >= 0 && shape.first < MOST_CELLS && shape.second >= 0 &&
                shape.second < MOST_CELLS && shape.first * shape.second < MOST_CELLS,
            kernel, "the shape is negative or too large");
}

// ------------------------------------------------------------------ rows in groups

// `missing` where either of the two was missing; loops without branches.
template <class Code>
INLINE void extend_loop(u32 *RESTRICT groups, const Code *RESTRICT line, i64 n_rows, u32 size,
                        u32 gap, u32 missing) {
    for (i64 row = 0; row < n_rows; row++) {
        const bool known = (groups[row] < gap) & (u32(line[row]) < size);
        const u32 joint = groups[row] * size + u32(line[row]);
        groups[row] = known ? joint : missing;
    }
}
LEVELS(extend)

// A block's groups, and the largest of them.
template <class Cell>
INLINE void begin_cells_loop(const u32 *RESTRICT groups, i64 n_rows, Cell *RESTRICT cells,
                             u32 *most) {
    for (i64 row = 0; row < n_rows; row++) cells[row] = Cell(groups[row]);
    *most = largest(groups, n_rows);
}
LEVELS(begin_cells)

// Append a column to joint values; and its largest code.
template <class Code, class Cell>
INLINE void append_cells_loop(const Code *RESTRICT line, i64 n_rows, Cell width,
                              Cell *RESTRICT cells, u32 *most) {
    for (i64 row = 0; row < n_rows; row++) cells[row] = Cell(cells[row] * width + line[row]);
    *most = largest(line, n_rows);
}
LEVELS(append_cells)

// Count cells, every other row into a table of its own: neighbours often have the same cell, and
// the second of two would wait for the first. Both tables may be one.
template <class Cell>
void tally(const Cell *RESTRICT cells, i64 n_rows, u32 *even, u32 *odd) {
    i64 row = 0;
    for (; row < n_rows - 1; row += 2) {
        even[cells[row]]++;
        odd[cells[row + 1]]++;
    }
    if (row < n_rows) even[cells[row]]++;
}

// Candidates counted together: columns, how many codes each has, groups and cells in all.
struct Packed {
    const i64 *lines;
    const i64 *extents;  // (m, 2)
    i64 size, n_groups, n_cells;
};

// A block's cells: the joint values of group and columns. A cell's number must fit into Cell, whose
// narrowness is what makes appending fast.
template <class Cell, class Code>
void joint_cells(In2<Code> codes, const Packed &packed, In1<u32> groups, i64 start, i64 n_rows,
                 Cell *cells) {
    u32 most = 0;
    begin_cells(groups.data + start, n_rows, cells, &most);
    require(most < packed.n_groups, "score_additions", "groups lie beyond the shape");
    for (i64 place = 0; place < packed.size; place++) {
        const i64 width = packed.extents[2 * place + 1];
        append_cells(&codes(packed.lines[place], start), n_rows, Cell(width), cells, &most);
        require(most < width, "score_additions", "codes lie beyond their extents");
    }
}

// Count rows by group and the joint value of some columns; a flat table; n·m.
template <class Cell, class Code>
void count_rows(In2<Code> codes, const Packed &packed, In1<u32> groups,
                std::vector<u32> &counts) {
    Cell cells[ROWS_A_BLOCK];
    const i64 n_cells = packed.n_cells;
    const bool twice = n_cells <= std::min(MOST_PACKED / 2, groups.size() / 4);
    counts.assign(std::size_t(twice ? 2 * n_cells : n_cells), 0);
    u32 *odd = counts.data() + (twice ? n_cells : 0);
    for (i64 start = 0; start < groups.size(); start += ROWS_A_BLOCK) {
        const i64 n_rows = std::min(ROWS_A_BLOCK, groups.size() - start);
        joint_cells(codes, packed, groups, start, n_rows, cells);
        tally(cells, n_rows, counts.data(), odd);
    }
    if (twice)
        for (i64 cell = 0; cell < n_cells; cell++) counts[cell] += odd[cell];
}

// Sum a flat table over all but the groups and the first part of its joint variable.
INLINE void first_margin_loop(const u32 *RESTRICT table, i64 size, i64 inner, u32 *RESTRICT own) {
    for (i64 cell = 0; cell < size; cell++) {
        u32 total = 0;
        for (i64 place = cell * inner; place < (cell + 1) * inner; place++) total += table[place];
        own[cell] = total;
    }
}
LEVELS(first_margin)

// Sum a flat table over the first part of its joint variable; `rest` is zeros.
INLINE void without_first_loop(const u32 *RESTRICT table, i64 n_groups, i64 width, i64 inner,
                               u32 *RESTRICT rest) {
    for (i64 line = 0; line < n_groups * width; line++) {
        u32 *own = rest + line / width * inner;
        for (i64 place = 0; place < inner; place++) own[place] += table[line * inner + place];
    }
}
LEVELS(without_first)

// Log-likelihood of a table (contexts · v + 1, codes) of whole numbers, without branches.
template <class Count>
void score_counts(In2<Count> table, Shape shape, i64 n_values, const double *logs, double *out) {
    double score = 0.0, rows = 0.0;
    for (i64 context = 0; context < shape.first; context++)
        for (i64 value = 0; value < n_values; value++) {
            Count total = 0;
            for (i64 own = 0; own < shape.second; own++) {
                const Count count = table(context * shape.second + own, value);
                total += count;
                score += logs[count];
            }
            score -= logs[total];
            rows += double(total);
        }
    out[0] = score;
    out[1] = rows;
}

// Rows, and how they are scored.
template <class Code> struct Rows {
    In2<Code> codes;
    In1<u32> groups;
    In1<double> weights, logs;
    Shape shape;
};

// Score each of some candidates that are counted together.
template <class Code>
void score_packed(const Rows<Code> &rows, const Packed &packed, const double *settings,
                  double *out) {
    std::vector<u32> table, own, rest;
    if (packed.n_cells <= MOST_PACKED)
        count_rows<u16>(rows.codes, packed, rows.groups, table);
    else
        count_rows<u32>(rows.codes, packed, rows.groups, table);
    i64 n_cells = packed.n_cells;
    for (i64 place = 0; place < packed.size; place++) {
        const i64 n_values = packed.extents[2 * place], width = packed.extents[2 * place + 1];
        const i64 size = packed.n_groups * width, inner = n_cells / size;
        In2<u32> margin{table.data(), {packed.n_groups, width}};
        if (inner > 1) {
            own.resize(std::size_t(size));
            first_margin(table.data(), size, inner, own.data());
            margin.data = own.data();
        }
        if (settings[3 * place] > 0.0)
            score_lines(margin, rows.shape, n_values, settings + 3 * place, rows.logs,
                        out + 2 * place);
        else
            score_counts(margin, rows.shape, n_values, rows.logs.data, out + 2 * place);
        if (place + 1 == packed.size) break;
        n_cells = packed.n_groups * inner;
        rest.assign(std::size_t(n_cells), 0);
        without_first(table.data(), packed.n_groups, width, inner, rest.data());
        table.swap(rest);
    }
}

// Score a variable with each candidate as a further parent, of plain rows.
//
// They are counted for several candidates at a time, as for one joint variable, while its table
// fits the cache: the counting is what takes the time.
template <class Code>
void score_plain(const Rows<Code> &rows, const i64 *candidates, const i64 *extents, i64 size,
                 const double *settings, double *out) {
    const i64 n_groups = rows.shape.first * rows.shape.second + 1;
    const i64 most = std::min(MOST_PACKED, rows.groups.size() / 2);
    for (i64 first = 0, last; first < size; first = last) {
        i64 width = extents[2 * first + 1];
        for (last = first + 1; last < size; last++) {
            if (n_groups * width > most / extents[2 * last + 1]) break;
            width *= extents[2 * last + 1];
        }
        const Packed packed{candidates + first, extents + 2 * first, last - first, n_groups,
                            n_groups * width};
        score_packed(rows, packed, settings + 3 * first, out + 2 * first);
    }
}

}  // namespace unnaive
