// Information and scores of contingency tables.
#include <algorithm>
#include <cmath>
#include <utility>

#include "gamma.h"
#include "levels.h"

namespace unnaive {
namespace {

constexpr i64 MOST_CELLS = i64(1) << 31;   // of one table
constexpr i64 MOST_PACKED = i64(1) << 13;  // of a joint table: 32 kB, which the nearest cache holds
constexpr i64 ROWS_A_BLOCK = 2048;

using Shape = std::pair<i64, i64>;  // contexts, and the variable's values

// ------------------------------------------------------------------ conditional information

// Every pair names two columns, and its table begins where the one before ends.
void check_pairs(const char *kernel, In2<i64> pairs, In1<i64> starts, In1<i64> sizes, i64 cells) {
    require(pairs.shape(1) == 2 && starts.size() == pairs.shape(0) + 1, kernel,
            "pairs and starts differ in shape");
    require(within(pairs, 0, sizes.size()), kernel, "pairs name columns that are not there");
    require(within(sizes, 0, MOST_CELLS), kernel, "sizes are negative or too large");
    require(all_offsets(starts.data, starts.size(), cells), kernel, "starts lie beyond the tables");
    for (i64 pair = 0; pair < pairs.shape(0); pair++)
        require(starts[pair + 1] - starts[pair] == sizes[pairs(pair, 0)] * sizes[pairs(pair, 1)],
                kernel, "starts do not fit the sizes of the pairs");
}

// Add Σ N·log(N·N_c / (N_a·N_b)) over the cells of one class; `rows` and `columns` are scratch.
template <class Count>
double add_terms(double information, const Count *table, i64 size_i, i64 size_j, double least,
                 double *RESTRICT rows, double *RESTRICT columns) {
    std::fill(columns, columns + size_j, 0.0);
    double total = 0.0;
    for (i64 a = 0; a < size_i; a++) {
        const Count *line = table + a * size_j;
        double row = 0.0;
        for (i64 b = 0; b < size_j; b++) {
            const double count = double(line[b]);
            row += count;
            columns[b] += count;
            total += count;
        }
        rows[a] = row;
    }
    for (i64 a = 0; a < size_i; a++)
        for (i64 b = 0; b < size_j; b++) {
            const double count = double(table[a * size_j + b]);
            const double above = count * total, below = rows[a] * columns[b];
            if (count > 0.0 && above >= least && below >= least)
                information += count * std::log(above / below);
        }
    return information;
}

// I(X_i;X_j|Y) in nats of each pair from its table (k, v_i, v_j); cost of the tables.
// A term p·log(a/b) counts as 0 where a or b is below the guard.
template <class Count>
void conditional_information(In2<Count> tables, In2<i64> pairs, In1<i64> starts, In1<i64> sizes,
                             double guard, Out1<double> out) {
    check_pairs("conditional_information", pairs, starts, sizes, tables.shape(1));
    require(out.size() == pairs.shape(0), "conditional_information", "one result for each pair");
    i64 widest = 0;
    for (i64 place = 0; place < pairs.size(); place++)
        widest = std::max(widest, sizes[pairs.data[place]]);
    Room<double, 2> totals(2, widest);
    for (i64 pair = 0; pair < pairs.shape(0); pair++) {
        const i64 size_i = sizes[pairs(pair, 0)], size_j = sizes[pairs(pair, 1)];
        double grand_total = 0.0, information = 0.0;
        for (i64 label = 0; label < tables.shape(0); label++)
            for (i64 cell = starts[pair]; cell < starts[pair + 1]; cell++)
                grand_total += double(tables(label, cell));
        const double least = guard * grand_total * grand_total;
        for (i64 label = 0; label < tables.shape(0); label++)
            information = add_terms(information, tables.at(label).data + starts[pair], size_i,
                                    size_j, least, totals.data, totals.data + widest);
        out(pair) = grand_total > 0.0 ? information / grand_total : 0.0;
    }
}

// ------------------------------------------------------------------ scores of one table

// Σ N log N over values less that of the whole; by table where counts are whole.
double likelihood_score(const double *cells, i64 size, double total, In1<double> logs) {
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
double gamma_score(const double *cells, i64 size, double total, const Prior &prior) {
    double score = prior.of_mass - log_gamma(total + prior.mass);
    for (i64 value = 0; value < size; value++)
        if (cells[value] > 0.0) score += log_gamma(cells[value] + prior.alpha) - prior.of_alpha;
    return score;
}

// Whether all cells, and so their sums, are counts that a table of logarithms reaches.
bool all_reached(const double *cells, i64 size, i64 reach) {
    double total = 0.0;
    bool good = true;
    for (i64 cell = 0; cell < size; cell++) {
        good &= cells[cell] >= 0.0;
        total += cells[cell];
    }
    return good && total < double(reach);
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

void check_shape(const char *kernel, Shape shape) {
    require(shape.first >= 0 && shape.first < MOST_CELLS && shape.second >= 0 &&
                shape.second < MOST_CELLS && shape.first * shape.second < MOST_CELLS,
            kernel, "the shape is negative or too large");
}

// The same, of a table that Python holds.
void score_table(In2<double> table, Shape shape, i64 n_values, In1<double> settings,
                 In1<double> logs, Out1<double> out) {
    check_shape("score_table", shape);
    require(table.shape(0) >= shape.first * shape.second && table.shape(1) >= n_values,
            "score_table", "the table is smaller than its shape");
    require(settings.size() >= 2 && out.size() >= 2 && logs.size() >= 1, "score_table",
            "settings, logs or out are too short");
    score_lines(table, shape, n_values, settings.data, logs, out.data);
}

// Scores of each of two variables given the other, from their table; cost of the tables.
// `settings` (m, 2, 3) and `out` (m, 2, 2) as in score_additions, for the first given the second
// and the other way round.
void score_both_ways(In1<i64> tables, In2<i64> pairs, In1<i64> starts, In1<i64> sizes,
                     In1<double> logs, In3<double> settings, Out3<double> out) {
    const char *kernel = "score_both_ways";
    check_pairs(kernel, pairs, starts, sizes, tables.size());
    require(settings.shape(0) == pairs.shape(0) && settings.shape(1) == 2 &&
                settings.shape(2) >= 2 && out.shape(0) == pairs.shape(0) && out.shape(1) == 2 &&
                out.shape(2) == 2 && logs.size() >= 1,
            kernel, "pairs, settings and out differ in shape");
    std::vector<double> table, cells;
    for (i64 pair = 0; pair < pairs.shape(0); pair++) {
        table.assign(tables.data + starts[pair], tables.data + starts[pair + 1]);
        require(logs.size() == 1 || all_reached(table.data(), i64(table.size()), logs.size()),
                kernel, "counts that the logarithms do not reach");
        const i64 sides[2] = {sizes[pairs(pair, 0)], sizes[pairs(pair, 1)]};
        for (int way = 0; way < 2; way++) {
            const i64 size = sides[way], step = way == 0 ? sides[1] : 1;
            const bool by_gammas = settings(pair, way, 0) > 0.0;
            const Prior prior(by_gammas ? settings(pair, way, 1) : 1.0, size);
            double score = 0.0, rows = 0.0;
            cells.resize(std::size_t(size));
            for (i64 given = 0; given < sides[1 - way]; given++) {
                const double *first = table.data() + (way == 0 ? given : given * sides[1]);
                double total = 0.0;
                for (i64 own = 0; own < size; own++) {
                    cells[own] = first[own * step];
                    total += cells[own];
                }
                rows += total;
                if (!(total > 0.0)) continue;
                score += by_gammas ? gamma_score(cells.data(), size, total, prior)
                                   : likelihood_score(cells.data(), size, total, logs);
            }
            out(pair, way, 0) = score;
            out(pair, way, 1) = rows;
        }
    }
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

// Extend the numbers of joint values by a column; what was missing, or is, gets gap · size.
template <class Code>
void extend_groups(Out1<u32> groups, In1<Code> line, i64 size, i64 gap) {
    check_shape("extend_groups", {gap, size});
    require(line.size() == groups.size(), "extend_groups", "groups and line differ in size");
    extend(groups.data, line.data, groups.size(), u32(size), u32(gap), u32(gap * size));
}

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
void score_counts(In2<u32> table, Shape shape, i64 n_values, const double *logs, double *out) {
    double score = 0.0, rows = 0.0;
    for (i64 context = 0; context < shape.first; context++)
        for (i64 value = 0; value < n_values; value++) {
            u32 total = 0;
            for (i64 own = 0; own < shape.second; own++) {
                const u32 count = table(context * shape.second + own, value);
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

// Score one or two candidates by sums of weights; two do not wait for each other; n.
template <int columns, class Code>
void score_weighed(const Rows<Code> &rows, const i64 *candidates, const i64 *extents,
                   const double *settings, double *out) {
    const i64 n_groups = rows.shape.first * rows.shape.second + 1;
    Room<double, 2> one(n_groups, extents[1]), other(n_groups, extents[2 * columns - 1]);
    double *RESTRICT first = one.data, *RESTRICT second = other.data;
    u32 cells[columns][ROWS_A_BLOCK];
    for (i64 start = 0; start < rows.groups.size(); start += ROWS_A_BLOCK) {
        const i64 n_rows = std::min(ROWS_A_BLOCK, rows.groups.size() - start);
        for (int own = 0; own < columns; own++)
            joint_cells(rows.codes, Packed{candidates + own, extents + 2 * own, 1, n_groups, 0},
                        rows.groups, start, n_rows, cells[own]);
        for (i64 row = 0; row < n_rows; row++) {
            first[cells[0][row]] += rows.weights[start + row];
            if constexpr (columns == 2) second[cells[1][row]] += rows.weights[start + row];
        }
    }
    score_lines<double>(one, rows.shape, extents[0], settings, rows.logs, out);
    if constexpr (columns == 2)
        score_lines<double>(other, rows.shape, extents[2], settings + 3, rows.logs, out + 2);
}

template <class Code>
void check_additions(const Rows<Code> &rows, In1<i64> candidates, In2<i64> extents,
                     In2<double> settings, In2<double> out) {
    const char *kernel = "score_additions";
    const i64 n_rows = rows.groups.size(), n_candidates = candidates.size();
    check_shape(kernel, rows.shape);
    require(rows.codes.shape(1) == n_rows && n_rows < MOST_CELLS &&
                (rows.weights.size() == 0 || rows.weights.size() == n_rows),
            kernel, "codes, groups and weights differ in rows");
    require(rows.logs.size() >= 1 && (rows.weights.size() > 0 || rows.logs.size() > n_rows), kernel,
            "counts that the logarithms do not reach");
    require(within(candidates, 0, rows.codes.shape(0)), kernel, "candidates are not there");
    require(extents.shape(0) == n_candidates && extents.shape(1) == 2 &&
                settings.shape(0) == n_candidates && settings.shape(1) == 3 &&
                out.shape(0) == n_candidates && out.shape(1) == 2,
            kernel, "candidates, extents, settings and out differ in shape");
    const i64 n_groups = rows.shape.first * rows.shape.second + 1;
    for (i64 place = 0; place < n_candidates; place++)
        require(extents(place, 0) >= 0 && extents(place, 0) <= extents(place, 1) &&
                    extents(place, 1) >= 1 && extents(place, 1) <= MOST_CELLS / n_groups,
                kernel, "extents are negative, too small or too large");
}

// Score a variable with each candidate as a further parent.
//
// `groups` (n,) is context · v + value, or contexts · v where a cell is missing; `shape` holds
// contexts and v; `extents` (m, 2) the values of each candidate, and its codes: one more if some
// are missing. `settings` (m, 3) holds whether gammas are summed, and α; `logs[x]` is x·log x for
// plain rows. `out` (m, 2) gets scores and rows.
//
// Plain rows are counted for several candidates at a time, as for one joint variable, while its
// table fits the cache: the counting is what takes the time.
template <class Code>
void score_additions(In2<Code> codes, In1<i64> candidates, In2<i64> extents, In1<u32> groups,
                     Shape shape, In1<double> weights, In1<double> logs, In2<double> settings,
                     Out2<double> out) {
    const Rows<Code> rows{codes, groups, weights, logs, shape};
    check_additions<Code>(rows, candidates, extents, settings, out);
    const i64 n_groups = shape.first * shape.second + 1;
    if (weights.size() > 0) {
        for (i64 place = 0; place < candidates.size(); place += 2) {
            auto *score = place + 1 < candidates.size() ? score_weighed<2, Code>
                                                        : score_weighed<1, Code>;
            score(rows, &candidates[place], &extents(place, 0), &settings(place, 0),
                  &out(place, 0));
        }
        return;
    }
    const i64 most = std::min(MOST_PACKED, groups.size() / 2);
    for (i64 first = 0, last; first < candidates.size(); first = last) {
        i64 width = extents(first, 1);
        for (last = first + 1; last < candidates.size(); last++) {
            if (n_groups * width > most / extents(last, 1)) break;
            width *= extents(last, 1);
        }
        const Packed packed{&candidates[first], &extents(first, 0), last - first, n_groups,
                            n_groups * width};
        score_packed(rows, packed, &settings(first, 0), &out(first, 0));
    }
}

template <class Code> void bind_codes(nb::module_ &room) {
    bind(room, "extend_groups", "Extend the numbers of joint values by a column.",
         extend_groups<Code>, "groups", "line", "size", "gap");
    bind(room, "score_additions", "Score a variable with each candidate as a further parent.",
         score_additions<Code>, "codes", "candidates", "extents", "groups", "shape", "weights",
         "logs", "settings", "out");
}

}  // namespace

void bind_information(nb::module_ &room) {
    const char *text = "I(X_i;X_j|Y) in nats of each pair from its table.";
    bind(room, "conditional_information", text, conditional_information<i64>, "tables", "pairs",
         "starts", "sizes", "guard", "out");
    bind(room, "conditional_information", text, conditional_information<double>, "tables", "pairs",
         "starts", "sizes", "guard", "out");
    bind_codes<u8>(room);
    bind_codes<u16>(room);
    bind_codes<u32>(room);
    bind(room, "score_both_ways", "Score each of two variables given the other.", score_both_ways,
         "tables", "pairs", "starts", "sizes", "logs", "settings", "out");
    bind(room, "score_table", "Score a table of a variable and one of its parents.", score_table,
         "table", "shape", "n_values", "settings", "logs", "out");
}

}  // namespace unnaive
