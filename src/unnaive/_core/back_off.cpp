// Hierarchical smoothing: one level, and how well a concentration does there.
#include <algorithm>
#include <cmath>
#include <vector>

#include "border.h"

namespace unnaive {
namespace {

// What is left of a count: not below 0.
double left_of(double count) { return count > 0.0 ? count : 0.0; }

// Context c leans on row place(c) of what is above; both have the same values.
void check(const char *kernel, In2<double> counts, In2<double> above, In1<i64> place) {
    require(place.size() == counts.shape(0) && above.shape(1) == counts.shape(1), kernel,
            "counts, above and place differ in shape");
    require(within(place, 0, above.shape(0)), kernel, "place lies beyond the rows above");
}

void back_off_level(In2<double> counts, In2<double> above, In1<i64> place, double alpha,
                    double held, Out2<double> out) {
    const i64 n_values = counts.shape(1);
    for (i64 context = 0; context < counts.shape(0); context++) {
        const double *own = counts.at(context).data, *chances = above.at(place[context]).data;
        double *found = out.at(context).data;
        double size = 0.0;
        for (i64 value = 0; value < n_values; value++) size += own[value];
        size = left_of(size - held) + alpha;
        for (i64 value = 0; value < n_values; value++) {
            const double count = left_of(own[value] - held) + alpha * chances[value];
            found[value] = size > 0.0 ? count / size : chances[value];
        }
    }
}

// P(x | context) = (N(x) + α·P(x | context above)) / (N + α) of every cell; cost of the table.
// `held` is taken off value and context.
void back_off(In2<double> counts, In2<double> above, In1<i64> place, double alpha, double held,
              Out2<double> out) {
    check("back_off", counts, above, place);
    require(out.shape(0) == counts.shape(0) && out.shape(1) == counts.shape(1), "back_off",
            "out differs from counts in shape");
    back_off_level(counts, above, place, alpha, held, out);
}

// Add to `gains` the log-likelihood of every row of one context left out, for every α; cost
// values · alphas. Counts lie `step` apart; `chances` are P(x | context above) without a row of x.
void add_left_out(const double *counts, i64 step, i64 n_values, const double *chances,
                  In1<double> alphas, double *gains) {
    double size = 0.0;
    for (i64 value = 0; value < n_values; value++) size += counts[value * step];
    if (size <= 0.0) return;
    for (i64 trial = 0; trial < alphas.size(); trial++) {
        const double alpha = alphas[trial];
        double gain = -size * std::log(left_of(size - 1.0) + alpha);
        for (i64 value = 0; value < n_values; value++) {
            const double count = counts[value * step];
            if (count > 0.0)
                gain += count * std::log(left_of(count - 1.0) + alpha * chances[value]);
        }
        gains[trial] += gain;
    }
}

// The first α of the largest gain, those within the tolerance are equals; cost cells · alphas.
double best_of(In2<double> counts, In2<double> above, In1<i64> place, In1<double> alphas) {
    Room<double, 1> gains(alphas.size());
    for (i64 context = 0; context < counts.shape(0); context++)
        add_left_out(counts.at(context).data, 1, counts.shape(1), above.at(place[context]).data,
                     alphas, gains.data);
    double most = gains[0];
    for (i64 trial = 1; trial < gains.size(); trial++)
        if (gains[trial] > most || std::isnan(gains[trial])) most = gains[trial];
    for (i64 trial = 0; trial < gains.size(); trial++)
        if (gains[trial] >= most - TIE) return alphas[trial];
    return alphas[0];
}

double best_concentration(In2<double> counts, In2<double> above, In1<i64> place,
                          In1<double> alphas) {
    check("best_concentration", counts, above, place);
    require(alphas.size() > 0, "best_concentration", "there is no concentration to try");
    return best_of(counts, above, place, alphas);
}

// P(x) from the counts of all contexts and some imaginary rows, spread evenly, into (1, v).
void root_of(In1<double> margin, double held, double rows, double even, Out2<double> out) {
    double total = 0.0;
    for (i64 value = 0; value < margin.size(); value++) total += margin[value];
    total = left_of(total - held);
    for (i64 value = 0; value < margin.size(); value++)
        out(0, value) = (left_of(margin[value] - held) + rows * even) / (total + rows);
}

void root_shares(In1<double> margin, double held, double rows, double even, Out2<double> out) {
    require(out.shape(0) == 1 && out.shape(1) == margin.size(), "root_shares",
            "out is not one row of the margin's length");
    root_of(margin, held, rows, even, out);
}

// ------------------------------------------------------------------ columns given one other

constexpr double ROOT_ROWS = 1.0;  // imaginary rows of P(x), spread evenly
constexpr i64 TERM_FIELDS = 7;

// Where the counts of a column are, and of it given its parent, and where its table begins.
struct Term {
    i64 values, size, above, pairs, parent_step, value_step, out;  // above: −1 without a parent

    static Term of(const i64 *line) {
        return {line[0], line[1], line[2], line[3], line[4], line[5], line[6]};
    }
    bool alone() const { return above < 0; }
    i64 cells() const { return (alone() ? 1 : above + 1) * (size + 1); }
};

void check_term(const Term &term, i64 n_values, i64 n_pairs, i64 n_cells) {
    const char *kernel = "term_shares";
    const i64 most = i64(1) << 31;
    require(0 <= term.size && term.size <= n_values && 0 <= term.values &&
                term.values <= n_values - term.size,
            kernel, "a term's values are not there");
    require(-1 <= term.above && term.above < most && term.size < most && 0 <= term.out &&
                term.out <= n_cells && term.cells() <= n_cells - term.out,
            kernel, "a term's table is not there");
    if (term.above < 1 || term.size < 1) return;
    require(0 <= term.parent_step && term.parent_step <= n_pairs && 0 <= term.value_step &&
                term.value_step <= n_pairs && 0 <= term.pairs && term.pairs < n_pairs,
            kernel, "a term's pair is not there");
    require(term.parent_step == 0 || term.above - 1 <= n_pairs / term.parent_step, kernel,
            "a term's pair is too large");
    require(term.value_step == 0 || term.size - 1 <= n_pairs / term.value_step, kernel,
            "a term's pair is too large");
    require((term.above - 1) * term.parent_step + (term.size - 1) * term.value_step <
                n_pairs - term.pairs,
            kernel, "a term's pair is too large");
}

// The counts of one term: of all values, of each class, and of each class and value of the parent.
struct TermLevels {
    i64 n_classes, size, above;
    Room<double, 1> margin;
    Room<double, 2> alone, below;
    Room<i64, 1> no_place, place;

    template <class Count>
    TermLevels(const Term &term, In2<Count> values, In2<Count> pairs)
        : n_classes(values.shape(0)), size(term.size), above(std::max<i64>(term.above, 0)),
          margin(size), alone(n_classes, size), below(n_classes * above, size),
          no_place(n_classes), place(n_classes * above) {
        for (i64 label = 0; label < n_classes; label++) {
            const Count *own = values.at(label).data + term.values;
            for (i64 value = 0; value < size; value++) {
                alone(label, value) = double(own[value]);
                margin[value] += double(own[value]);
            }
            if (above == 0 || size == 0) continue;
            const Count *table = pairs.at(label).data + term.pairs;
            for (i64 parent = 0; parent < above; parent++) {
                place[label * above + parent] = label;
                for (i64 value = 0; value < size; value++)
                    below(label * above + parent, value) =
                        double(table[parent * term.parent_step + value * term.value_step]);
            }
        }
    }
};

double total_of(In1<double> line) {
    double total = 0.0;
    for (i64 value = 0; value < line.size(); value++) total += line[value];
    return total;
}

// The tables of one set, whose cells of missing values have shares of 1 and no rows.
struct TermTables {
    Out2<double> shares, expected, rows;

    void put(i64 label, i64 cell, double share, double simpler, double size) const {
        shares(label, cell) = share;
        expected(label, cell) = simpler;
        rows(label, cell) = size;
    }

    // One context of a class, in which `held` of a row is left out.
    void fill(i64 label, i64 first, In1<double> counts, const double *own, const double *simpler,
              double held) const {
        const double size = left_of(total_of(counts) - held);
        for (i64 value = 0; value < counts.size(); value++)
            put(label, first + value, own[value], simpler[value], size);
        put(label, first + counts.size(), 1.0, 1.0, 0.0);
    }
};

// Hierarchically smoothed shares of terms, each a column or a column and its parent; the cost is
// that of the counts, times the concentrations, of which the best is taken.
//
// `terms` (m, 7) are the numbers of a Term, `held` (sets, 3) what leave-one-out takes off the
// counts of all classes, of the parent's values, and of the classes. The tables (sets, k, cells)
// have P(x | c), or P(x | parent, c); what is expected with one parent less; and the rows of the
// context. A concentration of a column alone is looked for once.
template <class Count>
void term_shares(In2<Count> values, In2<Count> pairs, In2<i64> terms, In1<double> alphas,
                 In2<double> held, Out3<double> shares, Out3<double> expected, Out3<double> rows) {
    const char *kernel = "term_shares";
    const i64 n_classes = values.shape(0), n_cells = shares.shape(2);
    require(pairs.shape(0) == n_classes && terms.shape(1) == TERM_FIELDS && held.shape(1) == 3 &&
                alphas.size() > 0 && shares.shape(0) == held.shape(0) &&
                shares.shape(1) == n_classes,
            kernel, "values, pairs, terms, alphas, held and shares differ in shape");
    for (const auto &other : {expected, rows})
        for (int axis = 0; axis < 3; axis++)
            require(other.shape(axis) == shares.shape(axis), kernel, "the tables differ in shape");
    for (i64 term = 0; term < terms.shape(0); term++)
        check_term(Term::of(terms.at(term).data), values.shape(1), pairs.shape(1), n_cells);
    std::vector<double> known(values.shape(1) + 1, 0.0);  // concentrations of columns alone
    for (i64 index = 0; index < terms.shape(0); index++) {
        const Term term = Term::of(terms.at(index).data);
        const TermLevels levels(term, values, pairs);
        const double even = 1.0 / double(std::max<i64>(term.size, 1));
        Room<double, 2> root(1, term.size), alone(n_classes, term.size);
        Room<double, 2> below(levels.below.shape(0), term.size);
        root_of(levels.margin, 1.0, ROOT_ROWS, even, root);
        double first = term.size > 0 ? known[term.values] : 0.0, second = 0.0;
        if (first == 0.0) first = best_of(levels.alone, root, levels.no_place, alphas);
        if (term.size > 0) known[term.values] = first;  // one without values begins where others do
        if (!term.alone()) {
            back_off_level(levels.alone, root, levels.no_place, first, 1.0, alone);
            second = best_of(levels.below, alone, levels.place, alphas);
        }
        for (i64 set = 0; set < held.shape(0); set++) {
            const TermTables tables{shares.at(set), expected.at(set), rows.at(set)};
            root_of(levels.margin, held(set, 0), ROOT_ROWS, even, root);
            back_off_level(levels.alone, root, levels.no_place, first, held(set, 2), alone);
            if (!term.alone())
                back_off_level(levels.below, alone, levels.place, second, held(set, 1), below);
            for (i64 label = 0; label < n_classes; label++) {
                const double *own = alone.at(label).data;
                if (term.alone()) {
                    tables.fill(label, term.out, levels.alone.at(label), own, root.data, held(set, 2));
                    continue;
                }
                const i64 slots = term.size + 1, context = label * term.above;
                for (i64 parent = 0; parent < term.above; parent++)
                    tables.fill(label, term.out + parent * slots, levels.below.at(context + parent),
                                below.at(context + parent).data, own, held(set, 1));
                for (i64 value = 0; value < slots; value++)
                    tables.put(label, term.out + term.above * slots + value, 1.0, 1.0, 0.0);
            }
        }
    }
}

// The tables of all pairs of columns lie one after the other, first column's values by second's.
void check_pairs(In2<double> pairs, In1<i64> pair_starts, In1<i64> slots, In2<double> above) {
    const char *kernel = "pair_gains";
    const i64 n_columns = slots.size() - 1;
    require(n_columns >= 0 && all_offsets(slots.data, slots.size(), above.shape(1)), kernel,
            "slots lie beyond the table above");
    for (i64 i = 0; i < n_columns; i++)
        require(slots[i] < slots[i + 1], kernel, "a column has no slot");
    require(pairs.shape(0) == above.shape(0), kernel, "pairs and above differ in classes");
    require(pair_starts.size() > n_columns * (n_columns - 1) / 2 &&
                all_offsets(pair_starts.data, pair_starts.size(), pairs.shape(1)),
            kernel, "pair_starts lie beyond the pairs");
    i64 pair = 0;
    for (i64 i = 0; i < n_columns; i++) {
        const i64 size_i = slots[i + 1] - slots[i] - 1;
        for (i64 j = i + 1; j < n_columns; j++, pair++)
            require(pair_starts[pair + 1] - pair_starts[pair] ==
                        size_i * (slots[j + 1] - slots[j] - 1),
                    kernel, "a pair's table is not of its columns' sizes");
    }
}

// Add what `add_left_out` does for every column below each other column, to out (d, α); cost of
// all pairs · alphas. `above` (k, slots) is P(x_i | c) without a row that has x_i.
void pair_gains(In2<double> pairs, In1<i64> pair_starts, In1<i64> slots, In2<double> above,
                In1<double> alphas, Out2<double> out) {
    const i64 n_columns = slots.size() - 1;
    require(out.shape(0) == n_columns && out.shape(1) == alphas.size(), "pair_gains",
            "out is not of columns and concentrations");
    if (above.shape(0) == 0) return;
    check_pairs(pairs, pair_starts, slots, above);
    for (i64 label = 0; label < above.shape(0); label++) {
        const double *chances = above.at(label).data;
        const i64 *start = pair_starts.data;
        for (i64 i = 0; i < n_columns; i++) {
            const i64 size_i = slots[i + 1] - slots[i] - 1;
            for (i64 j = i + 1; j < n_columns; j++, start++) {
                const i64 size_j = slots[j + 1] - slots[j] - 1;
                const double *table = pairs.at(label).data + *start;
                for (i64 x = 0; x < size_i; x++)
                    add_left_out(table + x * size_j, 1, size_j, chances + slots[j], alphas,
                                 out.at(j).data);
                for (i64 y = 0; y < size_j; y++)
                    add_left_out(table + y, size_j, size_i, chances + slots[i], alphas,
                                 out.at(i).data);
            }
        }
    }
}

template <class Count> void bind_counts(nb::module_ &room) {
    bind(room, "term_shares", "Hierarchically smoothed shares of columns, or given one other.",
         term_shares<Count>, "values", "pairs", "terms", "alphas", "held", "shares", "expected",
         "rows");
}

}  // namespace

void bind_back_off(nb::module_ &room) {
    bind_counts<i64>(room);
    bind_counts<double>(room);
    bind(room, "back_off",
         "P(x | context) of every cell, counts and what is above in proportion to α.", back_off,
         "counts", "above", "place", "alpha", "held", "out");
    bind(room, "best_concentration",
         "The first α under which the rows, each left out in turn, are likeliest.",
         best_concentration, "counts", "above", "place", "alphas");
    bind(room, "root_shares",
         "P(x) from the counts of all contexts and some imaginary rows, spread evenly.",
         root_shares, "margin", "held", "rows", "even", "out");
    bind(room, "pair_gains",
         "Add the log-likelihood of rows left out, every column below each other one, to out.",
         pair_gains, "pairs", "pair_starts", "slots", "above", "alphas", "out");
}

}  // namespace unnaive
