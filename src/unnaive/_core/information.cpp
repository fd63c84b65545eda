// Information and scores of contingency tables.
#include "scores.h"

namespace unnaive {
namespace {

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
            double rows;
            out(pair, way, 0) =
                score_way(table.data(), sides, way, &settings(pair, way, 0), logs, cells, rows);
            out(pair, way, 1) = rows;
        }
    }
}

// Extend the numbers of joint values by a column; what was missing, or is, gets gap · size.
template <class Code>
void extend_groups(Out1<u32> groups, In1<Code> line, i64 size, i64 gap) {
    check_shape("extend_groups", {gap, size});
    require(line.size() == groups.size(), "extend_groups", "groups and line differ in size");
    extend(groups.data, line.data, groups.size(), u32(size), u32(gap), u32(gap * size));
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
template <class Code>
void score_additions(In2<Code> codes, In1<i64> candidates, In2<i64> extents, In1<u32> groups,
                     Shape shape, In1<double> weights, In1<double> logs, In2<double> settings,
                     Out2<double> out) {
    const Rows<Code> rows{codes, groups, weights, logs, shape};
    check_additions<Code>(rows, candidates, extents, settings, out);
    if (weights.size() > 0) {
        for (i64 place = 0; place < candidates.size(); place += 2) {
            auto *score = place + 1 < candidates.size() ? score_weighed<2, Code>
                                                        : score_weighed<1, Code>;
            score(rows, &candidates[place], &extents(place, 0), &settings(place, 0),
                  &out(place, 0));
        }
        return;
    }
    if (candidates.size() > 0)
        score_plain(rows, &candidates[0], &extents(0, 0), candidates.size(), &settings(0, 0),
                    &out(0, 0));
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
    for_codes([&](auto code) { bind_codes<decltype(code)>(room); });
    bind(room, "score_both_ways", "Score each of two variables given the other.", score_both_ways,
         "tables", "pairs", "starts", "sizes", "logs", "settings", "out");
    bind(room, "score_table", "Score a table of a variable and one of its parents.", score_table,
         "table", "shape", "n_values", "settings", "logs", "out");
}

}  // namespace unnaive
