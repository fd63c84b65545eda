// Hidden parents: each column's probability is a mean over its bag.
//
// `columns` (d, 8) holds for column i: its first slot, the group that it is a member of, its
// stride there, first and last + 1 of its own list in `groups`, the start of its table, the
// width of a table row, and its number of values. `groups` (m, 2) lists group and offset in
// the table row. `tables` (sets · k + 1, cells) holds sums over a group's bag members of
// weight × probability; its last line holds the sums of the weights alone, for rows with gaps.
// `alone` (sets · k, S + 1) holds log P(x_i | c) and, last, the log prior.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "levels.h"

namespace unnaive {
namespace {

constexpr i64 BLOCK = 1024;
constexpr int TOGETHER = 4;  // groups whose cells are added while a row's sum is in a register
constexpr double LEAST = 1e-300;  // what a probability of 0 counts as in the sweep: logs differ

struct Column {
    i64 slot, group, stride, first, last, start, width, n_values;
};

Column column_of(In2<i64> columns, i64 column) {
    const i64 *line = columns.at(column).data;
    return {line[0], line[1], line[2], line[3], line[4], line[5], line[6], line[7]};
}

// ------------------------------------------------------------------ tables

// Slots of d columns, one at least for each, within a table of so many.
void check_slots(const char *kernel, In1<i64> slots, i64 n_columns, i64 n_slots) {
    require(slots.size() == n_columns + 1 && all_offsets(slots.data, slots.size(), n_slots), kernel,
            "slots lie beyond the table");
    for (i64 i = 0; i < n_columns; i++)
        require(slots[i] < slots[i + 1], kernel, "a column has no slot");
}

// A column's list lies within the groups, and its table of so many lines within the cells.
void check_column(const char *kernel, const Column &own, i64 n_lines, i64 n_groups, i64 n_cells) {
    require(0 <= own.first && own.first <= own.last && own.last <= n_groups, kernel,
            "a column's list lies beyond the groups");
    require(own.stride > 0 && own.stride < (i64(1) << 31), kernel, "a stride is out of range");
    require(0 <= own.start && own.start <= n_cells && 0 <= own.width, kernel,
            "a table lies beyond the cells");
    require(n_lines == 0 || own.width <= (n_cells - own.start) / n_lines, kernel,
            "a table lies beyond the cells");
}

void check_bags(In2<double> probabilities, In2<double> weights, In2<i64> columns, In2<i64> groups,
                In1<i64> slots, i64 n_cells) {
    const char *kernel = "fill_bags";
    const i64 n_columns = columns.shape(0);
    require(columns.shape(1) == 8 && groups.shape(1) == 2, kernel,
            "columns or groups have another width");
    require(weights.shape(0) == n_columns && weights.shape(1) == n_columns, kernel,
            "weights are not of all pairs of columns");
    check_slots(kernel, slots, n_columns,
                std::min(probabilities.shape(0), probabilities.shape(1)));
    for (i64 i = 0; i < n_columns; i++) {
        const Column own = column_of(columns, i);
        check_column(kernel, own, slots[i + 1] - slots[i] - 1, groups.shape(0), n_cells);
        for (i64 place = own.first; place < own.last; place++)
            require(0 <= groups(place, 1) && groups(place, 1) <= own.width, kernel,
                    "a group's offset lies beyond the table row");
    }
}

// Add weight × P(x | y) for every value y of a bag member to the cells of a group, in one table
// row: y changes every `stride` cells, and the last of its `size` values, the missing one, adds 0.
INLINE void add_member_loop(const double *RESTRICT chances, i64 step, double weight, i64 stride,
                            i64 size, i64 length, double *RESTRICT out) {
    for (i64 begin = 0; begin < length; begin += stride * size)
        for (i64 value = 0; value < size - 1; value++) {
            const double added = weight * chances[value * step];
            const i64 first = begin + value * stride, last = std::min(first + stride, length);
            for (i64 cell = first; cell < last; cell++) out[cell] += added;
        }
}
LEVELS(add_member)

// Add up weight × probability over each group's bag members; cost of the tables.
// `probabilities` (slots of j, slots of i) are those of one class, `out` its cells.
void fill_bags(In2<double> probabilities, In2<double> weights, In2<i64> columns, In2<i64> groups,
               In1<i64> slots, Out1<double> out) {
    check_bags(probabilities, weights, columns, groups, slots, out.size());
    const i64 n_columns = columns.shape(0), n_slots = probabilities.shape(1);
    for (i64 i = 0; i < n_columns; i++) {
        const Column own = column_of(columns, i);
        const i64 values = slots[i + 1] - slots[i] - 1;
        for (i64 place = own.first; place < own.last; place++) {
            const i64 group = groups(place, 0), offset = groups(place, 1);
            const i64 stop = place + 1 < own.last ? groups(place + 1, 1) : own.width;
            for (i64 j = 0; j < n_columns; j++) {
                if (columns(j, 1) != group || weights(i, j) <= 0.0) continue;
                const double *chances = probabilities.data + slots[j] * n_slots + slots[i];
                for (i64 x = 0; x < values; x++)
                    add_member(chances + x, n_slots, weights(i, j), columns(j, 2),
                               slots[j + 1] - slots[j], stop - offset,
                               out.data + own.start + x * own.width + offset);
            }
        }
    }
}

// ------------------------------------------------------------------ rows

// Add a column's share of a group's place to every row, and mark those that lack the column.
template <class Code>
INLINE void place_rows_loop(const Code *RESTRICT line, u32 stride, u32 missing, i64 rows,
                            u32 *RESTRICT place, u8 *RESTRICT gaps) {
    for (i64 row = 0; row < rows; row++) {
        place[row] += stride * u32(line[row]);
        gaps[row] |= u8(u32(line[row]) == missing);
    }
}
LEVELS(place_rows)

// The cell where every row's table row begins: `lines` (of its class) and the value's row.
template <class Code>
INLINE void find_starts_loop(const Code *RESTRICT line, const i64 *RESTRICT lines, Column own,
                             i64 rows, i64 *RESTRICT starts) {
    const u32 highest = u32(std::max<i64>(own.n_values - 1, 0)), width = u32(own.width);
    for (i64 row = 0; row < rows; row++) {
        const u32 code = line[row], value = code < highest ? code : highest;
        starts[row] = lines[row] + own.start + i64(u64(value) * width);
    }
}
LEVELS(find_starts)

// Add every row's cell of some groups, one after the other, while its sum is in a register. Plain
// instructions alone: scattered loads bound it, and wide vectors put together from them are slower.
template <int MEMBERS>
void add_cells(std::array<const double *, MEMBERS> cells, const i64 *RESTRICT starts,
               std::array<const u32 *, MEMBERS> places, i64 rows, double *RESTRICT sums) {
    for (i64 row = 0; row < rows; row++) {
        double sum = sums[row];
        const i64 start = starts[row];
        for (int member = 0; member < MEMBERS; member++)
            sum += cells[member][start + i64(places[member][row])];
        sums[row] = sum;
    }
}

double log_of(double chance) { return chance > 0.0 ? std::log(chance) : -INF; }

// Log joints of a block of `width` rows at most; `place` (groups, width) is where their values lie.
template <class Code> struct Hidden {
    In2<Code> codes;
    In2<i64> columns, groups;
    In2<double> tables, alone;
    i64 n_classes, width, low = 0, rows = 0;
    bool any_gap = false;
    Room<u32, 2> place{columns.shape(0), width};
    Room<u8, 1> gaps{width};
    Room<i64, 1> own{width}, lines{width}, starts{width}, last_line{width};
    Room<double, 1> sums{width}, weigh{width}, joint{width};

    // Look at rows low … low + rows − 1.
    void begin(i64 first, i64 number) {
        low = first, rows = number;
        std::fill(place.cells.begin(), place.cells.end(), 0);
        std::fill(gaps.cells.begin(), gaps.cells.end(), 0);
        for (i64 i = 0; i < columns.shape(0); i++) {
            const i64 missing = columns(i, 7);
            const Code *line = &codes(i, low);
            require(all_below(line, rows, missing + 1), "sum_hidden_parents",
                    "a code is beyond the column's values");
            place_rows(line, u32(columns(i, 2)), u32(missing), rows,
                       place.at(columns(i, 1)).data, gaps.data);
        }
        any_gap = largest(gaps.data, rows) > 0;
        for (i64 row = 0; row < rows; row++)
            last_line[row] = (tables.shape(0) - 1) * tables.shape(1);
    }

    // Sum every row's cells over a column's groups, in the table that begins at `from`.
    void sum_groups(const Code *line, const Column &column, const i64 *from, double *out) {
        find_starts(line, from, column, rows, starts.data);
        std::fill(out, out + rows, 0.0);
        i64 member = column.first;
        for (; member + TOGETHER <= column.last; member += TOGETHER)
            add_groups<TOGETHER>(member, out);
        for (; member < column.last; member++) add_groups<1>(member, out);
    }

    // Add every row's cells of groups that follow each other.
    template <int MEMBERS> void add_groups(i64 first, double *out) {
        std::array<const double *, MEMBERS> cells;
        std::array<const u32 *, MEMBERS> places;
        for (int member = 0; member < MEMBERS; member++) {
            cells[member] = tables.data + groups(first + member, 1);
            places[member] = place.at(groups(first + member, 0)).data;
        }
        add_cells<MEMBERS>(cells, starts.data, places, rows, out);
    }

    // Add the logarithm of a column's mean over its bag to the joint of a class.
    void add_column(i64 index) {
        const Column column = column_of(columns, index);
        const Code *line = &codes(index, low);
        sum_groups(line, column, lines.data, sums.data);
        if (any_gap) sum_groups(line, column, last_line.data, weigh.data);
        for (i64 row = 0; row < rows; row++) {
            const i64 code = line[row];
            if (code == column.n_values) continue;
            const double weight = gaps[row] ? weigh[row] : 1.0;
            if (column.last > column.first && weight > 0.0)
                joint[row] += log_of(sums[row] / weight);
            else
                joint[row] += alone(own[row], column.slot + code);
        }
    }

    // Log joints with a class, into its column of out.
    void join(i64 label, In1<i64> held, Out2<double> out) {
        for (i64 row = 0; row < rows; row++) {
            own[row] = label + (held[low + row] == label ? n_classes : 0);
            lines[row] = own[row] * tables.shape(1);
            joint[row] = alone(own[row], alone.shape(1) - 1);
        }
        for (i64 column = 0; column < columns.shape(0); column++) add_column(column);
        for (i64 row = 0; row < rows; row++) out(low + row, label) = joint[row];
    }
};

// Every place that codes up to the missing one can lead to lies within the tables.
void check_tables(In2<i64> columns, In2<i64> groups, In2<double> tables, In2<double> alone) {
    const char *kernel = "sum_hidden_parents";
    const i64 n_columns = columns.shape(0), limit = i64(1) << 32;
    require(columns.shape(1) == 8 && groups.shape(1) == 2, kernel,
            "columns or groups have another width");
    require(alone.shape(1) > 0 && tables.shape(0) == alone.shape(0) + 1, kernel,
            "tables and alone differ in classes");
    Room<i64, 1> highest(n_columns);  // place in each group
    for (i64 i = 0; i < n_columns; i++) {
        const Column own = column_of(columns, i);
        require(0 <= own.group && own.group < n_columns, kernel, "a group is out of range");
        require(0 <= own.n_values && own.n_values < limit && own.width < limit, kernel,
                "a number of values or a width is out of range");
        require(0 <= own.slot && own.n_values < alone.shape(1) - own.slot, kernel,
                "a column's slots lie beyond the table");
        check_column(kernel, own, std::max<i64>(own.n_values, 1), groups.shape(0),
                     tables.shape(1));
        highest[own.group] += own.stride * own.n_values;
        require(highest[own.group] < limit, kernel, "a group is too large");
    }
    for (i64 i = 0; i < n_columns; i++)
        for (i64 member = columns(i, 3); member < columns(i, 4); member++) {
            const i64 group = groups(member, 0), offset = groups(member, 1);
            require(0 <= group && group < n_columns, kernel, "a group is out of range");
            require(0 <= offset && offset < columns(i, 6) - highest[group], kernel,
                    "a group's offset lies beyond the table row");
        }
}

// Log joint of hidden naive Bayes for the rows of `span`; cost n·k·groups of all bags.
template <class Code>
void sum_hidden_parents(In2<Code> codes, In2<i64> columns, In2<i64> groups, In2<double> tables,
                        In2<double> alone, In1<i64> held, std::pair<i64, i64> span,
                        Out2<double> out) {
    const char *kernel = "sum_hidden_parents";
    const auto [first, last] = span;
    const i64 n_classes = out.shape(1);
    require(0 <= first && first <= last && last <= codes.shape(1), kernel,
            "the span lies beyond the rows");
    require(columns.shape(0) == codes.shape(0) && held.size() == codes.shape(1) &&
                out.shape(0) == codes.shape(1),
            kernel, "codes, columns, held and out differ in shape");
    check_tables(columns, groups, tables, alone);
    require(n_classes <= alone.shape(0), kernel, "there are more classes than tables");
    for (i64 row = first; row < last; row++)
        require(held[row] < 0 || held[row] >= n_classes || held[row] + n_classes < alone.shape(0),
                kernel, "a class has no table without its own row");
    const i64 width = std::min(BLOCK, last - first);
    Hidden<Code> hidden{codes, columns, groups, tables, alone, n_classes, width};
    for (i64 low = first; low < last; low += BLOCK) {
        hidden.begin(low, std::min(BLOCK, last - low));
        for (i64 label = 0; label < n_classes; label++) hidden.join(label, held, out);
    }
}

// ------------------------------------------------------------------ nested sets of bags

// Add a row's log loss and whether it was hit (the first class on ties).
void score_row(In1<double> joint, i64 label, double *out) {
    double peak = -INF, total = 0.0;
    for (i64 other = 0; other < joint.size(); other++)
        peak = peak > joint[other] ? peak : joint[other];
    i64 best = -1;
    for (i64 other = 0; other < joint.size(); other++) {
        total += std::exp(joint[other] - peak);
        if (best < 0 && joint[other] >= peak - TIE) best = other;
    }
    out[0] += std::log(total) + peak - joint[label];
    out[1] += best == label ? 1.0 : 0.0;
}

// What the sweep keeps of a row: sums over bags, their logarithms, and the joint with each class.
struct Bags {
    In1<i64> slots;
    In3<double> chances;
    In2<double> alone;
    i64 n_columns, n_classes;
    Room<double, 2> sums{n_columns, n_classes}, logs{n_columns, n_classes};
    Room<double, 1> weight{n_columns}, joint{n_classes};
    Room<i64, 1> line{n_classes}, code{n_columns};

    // Begin with no bag, and with the row's codes in `code`.
    void begin(i64 own) {
        for (i64 label = 0; label < n_classes; label++) {
            line[label] = label + (own == label ? n_classes : 0);
            joint[label] = alone(line[label], alone.shape(1) - 1);
            for (i64 i = 0; i < n_columns; i++) {
                sums(i, label) = 0.0;
                logs(i, label) = alone(line[label], slots[i] + code[i]);
                joint[label] += logs(i, label);
            }
        }
        std::fill(weight.cells.begin(), weight.cells.end(), 0.0);
    }

    // Put column j into the bag of column i.
    void add(i64 i, i64 j, double information) {
        const i64 x = code[i], y = code[j];
        if (x >= slots[i + 1] - slots[i] - 1 || y >= slots[j + 1] - slots[j] - 1) return;
        weight[i] += information;
        const double *found = chances.at(slots[j] + y).at(slots[i] + x).data;
        for (i64 label = 0; label < n_classes; label++) {
            sums(i, label) += information * found[line[label]];
            joint[label] -= logs(i, label);
            const double mean = sums(i, label) / weight[i];
            logs(i, label) = std::log(mean > LEAST ? mean : LEAST);
            joint[label] += logs(i, label);
        }
    }
};

template <class Code>
void check_sweep(In2<Code> codes, In1<i64> classes, In1<i64> slots, In2<i64> pairs,
                 In1<double> information, In1<bool> marks, In3<double> chances, In2<double> alone,
                 Out2<double> out) {
    const char *kernel = "sweep_thresholds";
    const i64 n_columns = codes.shape(0), n_classes = alone.shape(0) / 2;
    require(classes.size() == codes.shape(1) && within(classes, 0, n_classes), kernel,
            "classes are not those of the rows");
    require(alone.shape(1) > 0, kernel, "there is no prior");
    check_slots(kernel, slots, n_columns,
                std::min({chances.shape(0), chances.shape(1), alone.shape(1) - 1}));
    require(chances.shape(2) == 2 * n_classes, kernel, "chances are not of all classes");
    for (i64 i = 0; i < n_columns; i++)
        require(all_below(codes.at(i).data, codes.shape(1), slots[i + 1] - slots[i]), kernel,
                "a code is beyond the column's slots");
    require(pairs.shape(1) == 2 && within(pairs, 0, n_columns), kernel,
            "a pair is not one of columns");
    require(information.size() == pairs.shape(0) && marks.size() == pairs.shape(0), kernel,
            "pairs, information and marks differ in length");
    i64 n_models = 1;
    for (i64 step = 0; step < marks.size(); step++) n_models += marks[step];
    require(out.shape(0) == n_models && out.shape(1) == 2, kernel,
            "out is not of all models and scores");
}

// Leave-one-out loss and hits of every nested set of bags; cost n·k per pair of columns.
// Pairs come by falling information; marks[s] says whether the threshold between pair s and the
// next is one to score. `chances` (S, S, 2k) and `alone` (2k, S + 1) hold P(x_i | x_j, c) and
// log P(x_i | c) for the other classes, then for the row's own. `out` (marks + 1, 2) is added to:
// first the model without any bag.
template <class Code>
void sweep_thresholds(In2<Code> codes, In1<i64> classes, In1<i64> slots, In2<i64> pairs,
                      In1<double> information, In1<bool> marks, In3<double> chances,
                      In2<double> alone, Out2<double> out) {
    check_sweep(codes, classes, slots, pairs, information, marks, chances, alone, out);
    Bags bags{slots, chances, alone, codes.shape(0), alone.shape(0) / 2};
    for (i64 row = 0; row < classes.size(); row++) {
        for (i64 i = 0; i < bags.n_columns; i++) bags.code[i] = codes(i, row);
        bags.begin(classes[row]);
        score_row(bags.joint, classes[row], out.data);
        i64 scored = 1;
        for (i64 step = 0; step < pairs.shape(0); step++) {
            const i64 one = pairs(step, 0), other = pairs(step, 1);
            if (information[step] > 0.0) {
                bags.add(one, other, information[step]);
                bags.add(other, one, information[step]);
            }
            if (marks[step]) score_row(bags.joint, classes[row], out.at(scored++).data);
        }
    }
}

template <class Code> void bind_rows(nb::module_ &room) {
    bind(room, "sum_hidden_parents", "Log joint of hidden naive Bayes for the rows of a span.",
         sum_hidden_parents<Code>, "codes", "columns", "groups", "tables", "alone", "held", "span",
         "out");
    bind(room, "sweep_thresholds", "Add leave-one-out loss and hits of every nested set of bags.",
         sweep_thresholds<Code>, "codes", "classes", "slots", "pairs", "information", "marks",
         "chances", "alone", "out");
}

}  // namespace

void bind_hidden(nb::module_ &room) {
    room.attr("LEAST") = LEAST;
    bind(room, "fill_bags", "Add up weight times probability over each group's bag members.",
         fill_bags, "probabilities", "weights", "columns", "groups", "slots", "out");
    for_codes([&](auto code) { bind_rows<decltype(code)>(room); });
}

}  // namespace unnaive
