// Naive Bayes over groups of columns, scored by exact leave-one-out.
//
// A group is one variable; its joint values are numbered row by row, densely where they are few
// and anew where they would not be. Rows without some of a group's cells take no part in its
// table; what they do show is looked up in the table's margin.
#include <algorithm>
#include <cmath>

#include "estimate.h"
#include "levels.h"

namespace unnaive {
namespace {

constexpr i64 BLOCK = 512;
constexpr i64 LARGEST_SIZE = i64(1) << 32;  // no code is as large
constexpr i64 LARGEST_CELL = i64(1) << 62;

// Codes (d, n), sizes (d,), classes and weights (n,) of rows, weights empty where all are 1.
// logs[x] is log(x + α) for plain rows, where every table has the same α; else it is empty.
// `shares` are the smoothing's: what each value gets, what all share, and whether by frequency.
template <class Code>
using Data = std::tuple<In2<Code>, In1<i64>, In1<i64>, In1<double>, In1<double>, In1<double>>;

// A group's joint values: each row's cell, counts (k, cells + 1) by class, and the sums of cells.
// One more cell is for rows that take no part; those of them that show something are `parts`.
struct Cells {
    std::vector<i64> of_row, names, parts;
    std::vector<double> counts, totals;
    i64 n_cells = 0;
    double n_values = 1.0;

    const double *line(i64 label) const { return counts.data() + label * (n_cells + 1); }
};

// Rows, and the room that scoring one grouping after another takes.
template <class Code> struct Rows {
    In2<Code> codes;
    In1<i64> sizes, classes;
    In1<double> weights, logs, shares;
    i64 n_classes, n_rows;
    Cells cells;
    std::vector<double> others, change;

    Rows(const char *kernel, const Data<Code> &data, i64 k)
        : codes(std::get<0>(data)), sizes(std::get<1>(data)), classes(std::get<2>(data)),
          weights(std::get<3>(data)), logs(std::get<4>(data)), shares(std::get<5>(data)),
          n_classes(k), n_rows(codes.shape(1)) {
        require(sizes.size() == codes.shape(0) && within(sizes, 0, LARGEST_SIZE + 1), kernel,
                "not one size from 0 to 2**32 for every column");
        require(k > 0 && k < LARGEST_SIZE && classes.size() == n_rows && within(classes, 0, k),
                kernel, "not one class for every row");
        require(weights.size() == 0 || weights.size() == n_rows, kernel,
                "not one weight for every row");
        require(logs.size() == 0 || (weights.size() == 0 && logs.size() > n_rows), kernel,
                "logs are for plain rows, one for every number of them");
        require(shares.size() == 3, kernel, "the smoothing has not three shares");
    }

    double weight(i64 row) const { return weights.size() ? weights[row] : 1.0; }
    const Code *line(i64 column) const { return codes.data + column * n_rows; }
    bool shows(i64 column, i64 row) const { return i64(line(column)[row]) < sizes[column]; }
};

double sum_of(const double *numbers, i64 size) {
    double total = 0.0;
    for (i64 i = 0; i < size; i++) total += numbers[i];
    return total;
}

// ------------------------------------------------------------------ numbers of joint values

// Extend joint values by a column; below 0 where anything is missing; cost n.
template <class Code>
INLINE void append_column_loop(const Code *RESTRICT line, i64 size, i64 n_rows,
                               i64 *RESTRICT cells) {
    for (i64 row = 0; row < n_rows; row++) {
        const i64 value = line[row];
        const bool known = (cells[row] >= 0) & (value < size);
        cells[row] = known ? cells[row] * size + value : -1;
    }
}
LEVELS(append_column)

// Give cells that occur new numbers, in the order of their rows; returns how many do. Costs
// n + cells, or n·log n where there could be far more cells than rows.
i64 renumber(std::vector<i64> &cells, i64 n_cells, std::vector<i64> &names) {
    std::vector<i64> sorted;
    const bool sorts = n_cells / 16 > i64(cells.size()) + 4096;
    if (sorts) {
        sorted = cells;
        std::sort(sorted.begin(), sorted.end());
        sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    }
    names.assign(sorts ? sorted.size() : std::size_t(n_cells), -1);
    i64 found = 0;
    for (i64 &cell : cells) {
        if (cell < 0) continue;
        const i64 place =
            sorts ? std::lower_bound(sorted.begin(), sorted.end(), cell) - sorted.begin() : cell;
        if (names[place] < 0) names[place] = found++;
        cell = names[place];
    }
    return found;
}

// Give joint values of some columns a number each; cost n a column.
template <class Code> void number_cells(Rows<Code> &rows, In1<i64> members) {
    Cells &cells = rows.cells;
    const i64 n_rows = rows.n_rows, many = std::max<i64>(n_rows, 64);
    cells.of_row.assign(n_rows, 0);
    cells.n_cells = 1;
    cells.n_values = 1.0;
    for (i64 place = 0; place < members.size(); place++) {
        const i64 member = members[place], size = rows.sizes[member];
        if (size > 0 && cells.n_cells > many / size)
            cells.n_cells = renumber(cells.of_row, cells.n_cells, cells.names);
        require(size == 0 || cells.n_cells <= LARGEST_CELL / size, "add_group",
                "too many joint values to number");
        append_column(rows.line(member), size, n_rows, cells.of_row.data());
        cells.n_cells *= size;
        cells.n_values *= double(size);
    }
    if (cells.n_cells > many)
        cells.n_cells = renumber(cells.of_row, cells.n_cells, cells.names);
}

// Give rows that lack anything the cell of rows that take no part, and note which show some.
template <class Code> void note_parts(Rows<Code> &rows, In1<i64> members) {
    Cells &cells = rows.cells;
    cells.parts.clear();
    for (i64 row = 0; row < rows.n_rows; row++) {
        if (cells.of_row[row] >= 0) continue;
        cells.of_row[row] = cells.n_cells;
        bool some = false;
        for (i64 place = 0; place < members.size(); place++)
            some |= rows.shows(members[place], row);
        if (some) cells.parts.push_back(row);
    }
}

// Weigh the rows of every class in every cell, and of every class; cost n + k·cells.
template <class Code> void count_cells(Rows<Code> &rows) {
    Cells &cells = rows.cells;
    const i64 width = cells.n_cells + 1;
    cells.counts.assign(rows.n_classes * width, 0.0);
    cells.totals.assign(rows.n_classes, 0.0);
    const i64 *RESTRICT of_row = cells.of_row.data();
    double *RESTRICT counts = cells.counts.data();
    for (i64 row = 0; row < rows.n_rows; row++)
        counts[rows.classes[row] * width + of_row[row]] += rows.weight(row);
    for (i64 label = 0; label < rows.n_classes; label++)
        cells.totals[label] = sum_of(cells.line(label), cells.n_cells);
}

// ------------------------------------------------------------------ factors of rows

// Add each row's entry of a table; cost n.
INLINE void look_up_loop(const double *RESTRICT table, const i64 *RESTRICT cells, i64 n_rows,
                         double *RESTRICT out) {
    for (i64 row = 0; row < n_rows; row++) out[row] += table[cells[row]];
}
LEVELS(look_up)

// Add the factors of plain rows: logarithms by table, once a cell.
template <class Code> void add_plain(Rows<Code> &rows, Out2<double> joint) {
    const Cells &cells = rows.cells;
    const i64 n_cells = cells.n_cells, width = n_cells + 1, n_rows = rows.n_rows;
    const double pseudo_total = rows.shares[0] * cells.n_values;
    const double *RESTRICT logs = rows.logs.data;
    const i64 *RESTRICT of_row = cells.of_row.data();
    rows.others.assign(width, 0.0);
    rows.change.assign(rows.n_classes * width, 0.0);  // from others to what one's own class has
    for (i64 label = 0; label < rows.n_classes; label++) {
        const double below = std::log(cells.totals[label] + pseudo_total);
        const double without =
            std::log(std::max(cells.totals[label] - 1.0 + pseudo_total, 1e-300));
        const double *RESTRICT counts = cells.line(label);
        double *RESTRICT others = rows.others.data();
        double *RESTRICT change = rows.change.data() + label * width;
        for (i64 cell = 0; cell < n_cells; cell++) {
            const i64 count = i64(counts[cell]);
            others[cell] = logs[count] - below;
            change[cell] = logs[std::max<i64>(count - 1, 0)] - without - others[cell];
        }
        look_up(rows.others.data(), of_row, n_rows, joint.data + label * n_rows);
    }
    for (i64 row = 0; row < n_rows; row++) {
        const i64 label = rows.classes[row];
        joint(label, row) += rows.change[label * width + of_row[row]];
    }
}

// What one value gets and what all get of pseudo-counts, and how many values there are.
struct Pseudo {
    double alpha, total, n_values;

    Pseudo(In1<double> shares, double part, double values)
        : alpha(shares[0] + shares[1] * part), total(shares[0] * values + shares[1]),
          n_values(values) {}
};

// Add the factors of rows of any weight under any smoothing: a logarithm a row and class.
template <class Code> void add_any(const Rows<Code> &rows, Out2<double> joint) {
    const Cells &cells = rows.cells;
    const double grand = sum_of(cells.totals.data(), rows.n_classes);
    for (i64 row = 0; row < rows.n_rows; row++) {
        const i64 cell = cells.of_row[row];
        if (cell == cells.n_cells) continue;
        const double off = std::min(rows.weight(row), 1.0);
        double part = 1.0 / cells.n_values;
        if (rows.shares[2] > 0.0 && grand - off > 0.0) {
            double seen = 0.0;
            for (i64 label = 0; label < rows.n_classes; label++)
                seen += cells.line(label)[cell];
            part = std::max(seen - off, 0.0) / (grand - off);
        }
        const Pseudo pseudo(rows.shares, part, cells.n_values);
        for (i64 label = 0; label < rows.n_classes; label++) {
            const double held = label == rows.classes[row] ? off : 0.0;
            joint(label, row) +=
                log_estimate(cells.line(label)[cell] - held, cells.totals[label] - held,
                             pseudo.alpha, pseudo.total, pseudo.n_values);
        }
    }
}

// Whether another row has the values that a row shows of a group.
template <class Code>
bool agrees(const Rows<Code> &rows, In1<i64> members, i64 row, i64 other) {
    for (i64 place = 0; place < members.size(); place++) {
        const i64 member = members[place];
        if (rows.shows(member, row) && rows.line(member)[row] != rows.line(member)[other])
            return false;
    }
    return true;
}

// Add the factors of rows that show some of a group's cells, from the table's margin; cost of
// all cells for each of them.
template <class Code>
void add_parts(const Rows<Code> &rows, In1<i64> members, Out2<double> joint) {
    const Cells &cells = rows.cells;
    const i64 n_cells = cells.n_cells;
    std::vector<i64> example(n_cells + 1, -1);
    for (i64 row = 0; row < rows.n_rows; row++) example[cells.of_row[row]] = row;
    std::vector<double> margin(rows.n_classes);
    const double grand = sum_of(cells.totals.data(), rows.n_classes);
    for (const i64 row : cells.parts) {
        double n_values = 1.0;
        for (i64 place = 0; place < members.size(); place++)
            if (rows.shows(members[place], row)) n_values *= double(rows.sizes[members[place]]);
        margin.assign(rows.n_classes, 0.0);
        for (i64 cell = 0; cell < n_cells; cell++)
            if (example[cell] >= 0 && agrees(rows, members, row, example[cell]))
                for (i64 label = 0; label < rows.n_classes; label++)
                    margin[label] += cells.line(label)[cell];
        const bool by_frequency = rows.shares[2] > 0.0 && grand > 0.0;
        const double part =
            by_frequency ? sum_of(margin.data(), rows.n_classes) / grand : 1.0 / n_values;
        const Pseudo pseudo(rows.shares, part, n_values);
        for (i64 label = 0; label < rows.n_classes; label++)
            joint(label, row) += log_estimate(margin[label], cells.totals[label], pseudo.alpha,
                                              pseudo.total, n_values);
    }
}

// Add a group's leave-one-out factor to the log joint (k, n) of every row.
template <class Code>
void add_members(Rows<Code> &rows, In1<i64> members, Out2<double> joint) {
    number_cells(rows, members);
    note_parts(rows, members);
    count_cells(rows);
    if (rows.logs.size())
        add_plain(rows, joint);
    else
        add_any(rows, joint);
    if (rows.cells.parts.size()) add_parts(rows, members, joint);
}

// ------------------------------------------------------------------ scores

// The first class that ties with the best, for at most BLOCK rows.
INLINE void first_tied_loop(const double *RESTRICT joint, i64 n_rows, i64 n_classes, i64 rows,
                            const double *RESTRICT best, i64 *RESTRICT first) {
    for (i64 label = n_classes - 1; label >= 0; label--) {
        const double *RESTRICT line = joint + label * n_rows;
        for (i64 row = 0; row < rows; row++)
            first[row] = line[row] >= best[row] - TIE ? label : first[row];
    }
}
LEVELS(first_tied)

// The best of each row's classes, for at most BLOCK rows.
INLINE void best_of_loop(const double *RESTRICT joint, i64 n_rows, i64 n_classes, i64 rows,
                         double *RESTRICT best) {
    for (i64 row = 0; row < rows; row++) best[row] = -INF;
    for (i64 label = 0; label < n_classes; label++) {
        const double *RESTRICT line = joint + label * n_rows;
        for (i64 row = 0; row < rows; row++) best[row] = std::max(best[row], line[row]);
    }
}
LEVELS(best_of)

// The prior's chances of a row in place of its joint's; returns the best, NaN where one is.
double take_prior(In2<double> prior, i64 row, Out2<double> joint) {
    double best = prior(0, row);
    for (i64 label = 0; label < prior.shape(0); label++) {
        const double chance = joint(label, row) = prior(label, row);
        if (chance > best || std::isnan(chance)) best = chance;
    }
    return best;
}

// Add the weights of rows whose own class is the first of the best, in their order.
template <class Code>
double add_right(const Rows<Code> &rows, i64 low, i64 some, const i64 *first, double right) {
    const i64 *classes = rows.classes.data + low;
    if (rows.weights.size()) {
        for (i64 row = 0; row < some; row++)
            right += first[row] == classes[row] ? rows.weights[low + row] : 0.0;
        return right;
    }
    i64 count = 0;
    for (i64 row = 0; row < some; row++) count += first[row] == classes[row];
    return right + double(count);
}

// Weigh the rows of which the first of the best classes is their own, and, if there is room for
// it in `out`, their log chance; cost n·k.
template <class Code>
void judge(const Rows<Code> &rows, In2<double> prior, Out2<double> joint, Out1<double> out) {
    alignas(64) double best[BLOCK];
    alignas(64) i64 first[BLOCK];
    const i64 n_classes = rows.n_classes, n_rows = rows.n_rows;
    double right = 0.0, log_chance = 0.0;
    for (i64 low = 0; low < n_rows; low += BLOCK) {
        const i64 some = std::min(BLOCK, n_rows - low);
        best_of(joint.data + low, n_rows, n_classes, some, best);
        for (i64 row = 0; row < some; row++)
            if (best[row] == -INF)  // no class has any chance: the prior decides
                best[row] = take_prior(prior, low + row, joint);
        std::fill(first, first + some, 0);
        first_tied(joint.data + low, n_rows, n_classes, some, best, first);
        right = add_right(rows, low, some, first, right);
        if (out.size() == 1) continue;
        for (i64 row = 0; row < some; row++) {
            double total = 0.0;
            for (i64 label = 0; label < n_classes; label++)
                total += std::exp(joint(label, low + row) - best[row]);
            const i64 own = rows.classes[low + row];
            const double chance = joint(own, low + row) - best[row] - std::log(total);
            log_chance += chance * rows.weight(low + row);
        }
    }
    out[0] = right;
    if (out.size() > 1) out[1] = log_chance;
}

// Subtract a group's factor; cost n·k.
INLINE void take_away_loop(const double *RESTRICT factor, i64 size, double *RESTRICT joint) {
    for (i64 at = 0; at < size; at++) joint[at] -= factor[at];
}
LEVELS(take_away)

template <int N> bool has_rows(View<const double, N> table, i64 n_rows) {
    return table.shape(N - 1) == n_rows;
}

// Add the leave-one-out factor of the columns `members` to the log joint (k, n) of every row.
template <class Code> void add_group(Data<Code> data, In1<i64> members, Out2<double> joint) {
    Rows<Code> rows("add_group", data, joint.shape(0));
    require(has_rows<2>(joint, rows.n_rows), "add_group", "joint is not of these rows");
    require(within(members, 0, rows.sizes.size()), "add_group", "members lie beyond the columns");
    add_members(rows, members, joint);
}

// Score groupings (m, d): columns of one label above 0 are a group, those of 0 are left out.
// `out` (m, 1) or (m, 2) gets the weight of the rows that are right and, if there is room for it,
// the log-likelihood; both by leave-one-out. `prior` (k, n) is each row's without itself.
template <class Code>
void score_genomes(Data<Code> data, In2<double> prior, In2<i64> genomes, Out2<double> out) {
    Rows<Code> rows("score_genomes", data, prior.shape(0));
    const i64 n_columns = rows.sizes.size();
    require(has_rows<2>(prior, rows.n_rows), "score_genomes", "prior is not of these rows");
    require(genomes.shape(1) == n_columns, "score_genomes", "not one label for every column");
    require(out.shape(0) == genomes.shape(0) && out.shape(1) > 0, "score_genomes",
            "out has no room for every grouping");
    Room<double, 2> joint(rows.n_classes, rows.n_rows);
    std::vector<i64> members(n_columns);
    for (i64 place = 0; place < genomes.shape(0); place++) {
        const i64 *genome = genomes.data + place * n_columns;
        std::copy(prior.data, prior.data + prior.size(), joint.data);
        for (i64 first = 0; first < n_columns; first++) {
            if (genome[first] <= 0 || std::find(genome, genome + first, genome[first]) !=
                                          genome + first)
                continue;
            In1<i64> group{members.data(), {0}};
            for (i64 column = first; column < n_columns; column++)
                if (genome[column] == genome[first]) members[group.extent[0]++] = column;
            add_members(rows, group, joint);
        }
        judge(rows, prior, joint, out.at(place));
    }
}

// Score groupings that differ little from one whose log joint is `total` (k, n).
// `changes` (m, 2): groups, by their `factors` (g, k, n), that are taken away, −1 for none;
// `members` from bounds[i] to bounds[i + 1] is a group that comes in their place.
template <class Code>
void score_changes(Data<Code> data, In2<double> prior, In2<double> total, In3<double> factors,
                   In2<i64> changes, In1<i64> members, In1<i64> bounds, Out2<double> out) {
    const char *kernel = "score_changes";
    Rows<Code> rows(kernel, data, prior.shape(0));
    const i64 n_groups = factors.shape(0), size = prior.size();
    require(has_rows<2>(prior, rows.n_rows) && has_rows<2>(total, rows.n_rows) &&
                has_rows<3>(factors, rows.n_rows) && total.shape(0) == rows.n_classes &&
                factors.shape(1) == rows.n_classes,
            kernel, "prior, total and factors differ in shape");
    require(within(changes, std::numeric_limits<i64>::min(), n_groups), kernel,
            "changes take away groups that are not there");
    require(within(members, 0, rows.sizes.size()), kernel, "members lie beyond the columns");
    require(bounds.size() == changes.shape(0) + 1 &&
                all_offsets(bounds.data, bounds.size(), members.size()),
            kernel, "bounds are not where the changes' members begin");
    require(out.shape(0) == changes.shape(0) && out.shape(1) > 0, kernel,
            "out has no room for every change");
    Room<double, 2> joint(rows.n_classes, rows.n_rows);
    for (i64 place = 0; place < changes.shape(0); place++) {
        std::copy(total.data, total.data + size, joint.data);
        for (i64 taken = 0; taken < changes.shape(1); taken++)
            if (changes(place, taken) >= 0)
                take_away(factors.data + changes(place, taken) * size, size, joint.data);
        const In1<i64> added = members.slice(bounds[place], bounds[place + 1]);
        if (added.size()) add_members(rows, added, joint);
        judge(rows, prior, joint, out.at(place));
    }
}

template <class Code> void bind_codes(nb::module_ &room) {
    bind(room, "add_group", "Add a group's leave-one-out factor to the log joint of every row.",
         add_group<Code>, "data", "members", "joint");
    bind(room, "score_genomes", "Score groupings (m, d), a label a column, by leave-one-out.",
         score_genomes<Code>, "data", "prior", "genomes", "out");
    bind(room, "score_changes", "Score groupings that differ little from one by leave-one-out.",
         score_changes<Code>, "data", "prior", "total", "factors", "changes", "members", "bounds",
         "out");
}

}  // namespace

void bind_groups(nb::module_ &room) {
    for_codes([&](auto code) { bind_codes<decltype(code)>(room); });
}

}  // namespace unnaive
