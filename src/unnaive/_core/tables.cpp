// Log-probability tables of trees and Gaussians, and rows looked up in them.
//
// Tables are class-major and stacked: set 0 is used for the classes that a row does not belong to,
// set 1 for its own class (leave-one-out), set 2 for its own class where it lacks a parent's cell,
// set 3 where it took no part in a table. Plain prediction has set 0 alone, and no row belongs to
// any class.
#include <array>

#include "entries.h"
#include "estimate.h"
#include "posterior.h"

namespace unnaive {
namespace {

enum Column { PARENT, SLOTS, START, FIELDS };

// Estimate every cell of (contexts, values); held-out weights are taken off first.
void log_table(In2<double> counts, In1<double> alpha, double total, double held_value,
               double held_context, Out2<double> out) {
    const i64 n_contexts = counts.shape(0), n_values = counts.shape(1);
    require(alpha.size() == n_values && out.shape(0) == n_contexts && out.shape(1) == n_values,
            "log_table", "counts, alpha and out differ in shape");
    for (i64 context = 0; context < n_contexts; context++) {
        double size = 0.0;
        for (i64 value = 0; value < n_values; value++) size += counts(context, value);
        for (i64 value = 0; value < n_values; value++)
            out(context, value) =
                log_estimate(counts(context, value) - held_value, size - held_context, alpha[value],
                             total, double(n_values));
    }
}

// ------------------------------------------------------------------ factors of a tree

template <class Code> struct Tree {
    In2<Code> codes;
    In2<i64> columns;
    In2<double> tables;
    In1<i64> held;
};

// Parents and tables of the chosen columns lie within bounds, and rows agree.
template <class Code>
void check_tree(const char *kernel, const Tree<Code> &tree, In1<i64> chosen, Out2<double> out) {
    const i64 n_columns = tree.codes.shape(0), width = tree.tables.shape(1);
    const i64 n_classes = out.shape(1);
    require(tree.columns.shape(0) == n_columns && tree.columns.shape(1) == FIELDS, kernel,
            "columns differ from codes in shape");
    require(out.shape(0) == tree.codes.shape(1) && tree.held.size() == out.shape(0), kernel,
            "codes, held and out differ in rows");
    require(n_classes > 0 && tree.tables.shape(0) >= n_classes && width > 0, kernel,
            "tables lack a class");
    require(within(chosen, 0, n_columns), kernel, "a chosen column is not among the codes");
    for (i64 place = 0; place < chosen.size(); place++) {
        const i64 *column = &tree.columns(chosen[place], 0);
        require(column[PARENT] >= -1 && column[PARENT] < n_columns, kernel, "a parent is no column");
        const i64 contexts = column[PARENT] < 0 ? 1 : tree.columns(column[PARENT], SLOTS);
        require(column[SLOTS] >= 1 && contexts >= 1 && column[START] >= 0 &&
                    column[START] <= width && contexts <= (width - column[START]) / column[SLOTS],
                kernel, "a column's table lies outside of the tables");
    }
}

// Whether a row of start … stop belongs to a class, whose tables must then be there.
template <class Code>
bool any_held(const char *kernel, const Tree<Code> &tree, i64 start, i64 stop, i64 n_classes,
              i64 sets) {
    bool any = false;
    for (i64 row = start; row < stop; row++) any |= tree.held[row] >= 0;
    require(!any || (tree.tables.shape(0) >= sets * n_classes &&
                     all_within(tree.held.data + start, stop - start, -1, n_classes)),
            kernel, "held is no class of the tables");
    return any;
}

// Where each row's entry of a column begins: (start + parent's code · slots + code) · step.
template <class Code>
INLINE void place_cells_loop(const Code *line, const Code *above, i64 slots, i64 start, i64 step,
                             i64 rows, u32 *RESTRICT cells) {
    const u32 by = u32(step), first = u32(start), width = u32(slots);
    if (above)
        for (i64 row = 0; row < rows; row++)
            cells[row] = (first + u32(above[row]) * width + u32(line[row])) * by;
    else
        for (i64 row = 0; row < rows; row++) cells[row] = (first + u32(line[row])) * by;
}
LEVELS(place_cells)

// Few rows, or tables too large to be laid out anew: entry by entry.
template <class Code>
void add_directly(const Tree<Code> &tree, In1<i64> chosen, i64 start, i64 stop, Out2<double> out) {
    const i64 n_classes = out.shape(1), width = tree.tables.shape(1);
    for (i64 row = start; row < stop; row++) {
        for (i64 place = 0; place < chosen.size(); place++) {
            const i64 *column = &tree.columns(chosen[place], 0);
            const i64 code = tree.codes(chosen[place], row);
            require(code < column[SLOTS], "sum_factors", "a code is beyond its column's values");
            i64 cell = column[START] + code;
            if (column[PARENT] >= 0) {
                const i64 above = tree.codes(column[PARENT], row);
                require(above < tree.columns(column[PARENT], SLOTS), "sum_factors",
                        "a code is beyond its column's values");
                cell += above * column[SLOTS];
            }
            for (i64 label = 0; label < n_classes; label++) {
                const i64 line = tree.held[row] == label ? label + n_classes : label;
                out(row, label) += tree.tables.data[line * width + cell];
            }
        }
    }
}

// Add the chosen columns' factors to the log joint of rows start … stop; cost n·d·k.
//
// `columns` (d, 3) holds parent (−1: none), slots of the column and start of its table. `held` is
// the row's own class, −1 for none.
template <class Code>
void sum_factors(In2<Code> codes, In2<i64> columns, In1<i64> chosen, In2<double> tables,
                 In1<i64> held, i64 start, i64 stop, Out2<double> out) {
    const char *kernel = "sum_factors";
    const Tree<Code> tree{codes, columns, tables, held};
    const i64 n_classes = out.shape(1), width = tables.shape(1);
    check_tree(kernel, tree, chosen, out);
    require(0 <= start && start <= stop && stop <= codes.shape(1), kernel, "rows beyond the codes");
    const bool leaves_out = any_held(kernel, tree, start, stop, n_classes, 2);
    const i64 step = leaves_out ? 2 * n_classes : n_classes;
    if ((stop - start) * chosen.size() < 2 * width ||
        width > i64(std::numeric_limits<u32>::max()) / step)
        return add_directly(tree, chosen, start, stop, out);
    std::vector<double> entries(std::size_t(width * step));
    for (i64 line = 0; line < step; line++)
        for (i64 cell = 0; cell < width; cell++) entries[cell * step + line] = tables(line, cell);
    std::vector<u32> cells(TOGETHER * BLOCK);
    for (i64 low = start; low < stop; low += BLOCK) {
        const i64 rows = std::min(BLOCK, stop - low);
        for (i64 first = 0; first < chosen.size(); first += TOGETHER) {
            const int members = int(std::min<i64>(TOGETHER, chosen.size() - first));
            for (int member = 0; member < members; member++) {
                const i64 *column = &columns(chosen[first + member], 0);
                const Code *line = &codes(chosen[first + member], 0) + low;
                const Code *above = column[PARENT] < 0 ? nullptr : &codes(column[PARENT], 0) + low;
                require(all_below(line, rows, column[SLOTS]) &&
                            (!above || all_below(above, rows, columns(column[PARENT], SLOTS))),
                        kernel, "a code is beyond its column's values");
                place_cells(line, above, column[SLOTS], column[START], step, rows,
                            cells.data() + member * BLOCK);
            }
            (leaves_out ? add_block<true> : add_block<false>)(
                entries.data(), cells.data(), members, held.data + low, n_classes, rows,
                &out(low, 0));
        }
    }
}

// Log prior of every row; a row that is held out has its own class's prior from set 1.
void fill_priors(In2<double> tables, In1<i64> held, Out2<double> out) {
    const i64 n_classes = out.shape(1), width = tables.shape(1);
    require(out.shape(0) == held.size() && tables.shape(0) >= n_classes && width > 0, "fill_priors",
            "tables, held and out differ in shape");
    require(within(held, -1, n_classes), "fill_priors", "held is no class of the tables");
    const i64 own = tables.shape(0) >= 2 * n_classes ? n_classes : 0;
    for (i64 row = 0; row < held.size(); row++)
        for (i64 label = 0; label < n_classes; label++)
            out(row, label) = tables(held[row] == label ? label + own : label, 0);
}

// Mark the rows in which one of some columns is missing, return how many there are; cost n·columns.
template <class Code>
i64 mark_missing(In2<Code> codes, In2<i64> columns, In1<i64> chosen, Out1<bool> out) {
    const char *kernel = "mark_missing";
    const i64 n_rows = codes.shape(1);
    require(columns.shape(0) == codes.shape(0) && columns.shape(1) == FIELDS &&
                out.size() == n_rows && within(chosen, 0, codes.shape(0)),
            kernel, "codes, columns, chosen and out differ in shape");
    std::fill_n(out.data, n_rows, false);
    for (i64 place = 0; place < chosen.size(); place++) {
        const i64 missing = columns(chosen[place], SLOTS) - 1;
        const Code *line = codes.data + chosen[place] * n_rows;
        if (all_below(line, n_rows, missing)) continue;  // far quicker than a comparison
        for (i64 row = 0; row < n_rows; row++) out[row] |= line[row] == missing;
    }
    i64 count = 0;
    for (i64 row = 0; row < n_rows; row++) count += out[row];
    return count;
}

// Log of the sum of exponentials, −inf for none.
double log_sum(const double *terms, i64 size) {
    double peak = -INF;
    for (i64 term = 0; term < size; term++) peak = std::max(peak, terms[term]);
    if (peak == -INF) return peak;
    double total = 0.0;
    for (i64 term = 0; term < size; term++) total += std::exp(terms[term] - peak);
    return peak + std::log(total);
}

// One row's log joint of one class by messages from the leaves to the root.
template <class Code> struct Messages {
    const Tree<Code> &tree;
    In1<i64> order;
    i64 n_classes;
    Room<double, 2> message;
    std::vector<double> terms;
    std::vector<char> heard;

    Messages(const Tree<Code> &tree, In1<i64> order, i64 n_classes, i64 widest)
        : tree(tree), order(order), n_classes(n_classes), message(tree.codes.shape(0), widest),
          terms(std::size_t(widest)), heard(std::size_t(tree.codes.shape(0))) {}

    // Children speak first: `message` collects, for every value of a column, what its children
    // say; a missing column is summed out, or says nothing if it has heard nothing.
    double joint(i64 row, i64 label) {
        std::fill(message.cells.begin(), message.cells.end(), 0.0);
        std::fill(heard.begin(), heard.end(), 0);
        const i64 own = tree.held[row] == label ? n_classes : 0;
        double sum = tree.tables(label + own, 0);
        for (i64 place = order.size() - 1; place >= 0; place--)
            sum += speak(order[place], row, label, own);
        return sum;
    }

    // What a column adds to the joint itself; what it says to its parent goes into `message`.
    double speak(i64 column, i64 row, i64 label, i64 own) {
        const i64 *entry = &tree.columns(column, 0);
        const i64 parent = entry[PARENT], slots = entry[SLOTS], first = entry[START];
        const i64 value = tree.codes(column, row);
        if (value == slots - 1 && !heard[column])  // the prior, where the root's table holds it
            return parent < 0 ? tree.tables(label + own, first + value) : 0.0;
        i64 line = label + own, low = 0, high = 1;
        if (parent >= 0) {
            heard[parent] = 1;
            low = tree.codes(parent, row);
            high = low + 1;
            if (low == tree.columns(parent, SLOTS) - 1) {
                // The row took no part in this table, only in what it may lean on.
                line = label + 2 * own;
                high = low;
                low = 0;
            }
        }
        if (value == slots - 1) line = tree.tables.shape(0) - n_classes + label;
        double added = 0.0;
        for (i64 above = low; above < high; above++) {
            const double *cells = &tree.tables(line, 0) + first + above * slots;
            double said;
            if (value < slots - 1) {
                said = cells[value] + message(column, value);
            } else {
                for (i64 candidate = 0; candidate < slots - 1; candidate++)
                    terms[candidate] = cells[candidate] + message(column, candidate);
                said = log_sum(terms.data(), slots - 1);
            }
            if (parent >= 0)
                message(parent, above) += said;
            else
                added += said;
        }
        return added;
    }
};

// Log joint of rows with missing inner nodes: sum over their values; cost d·v²·k a row.
//
// `order` lists the columns of the model, parents first.
template <class Code>
void sum_product(In1<i64> rows, In2<Code> codes, In2<i64> columns, In1<i64> order,
                 In2<double> tables, In1<i64> held, Out2<double> out) {
    const char *kernel = "sum_product";
    const Tree<Code> tree{codes, columns, tables, held};
    const i64 n_classes = out.shape(1);
    check_tree(kernel, tree, order, out);
    require(within(rows, 0, codes.shape(1)), kernel, "a row is not among the codes");
    any_held(kernel, tree, 0, held.size(), n_classes, 3);
    i64 widest = 1;
    for (i64 place = 0; place < order.size(); place++) {
        const i64 parent = columns(order[place], PARENT);
        widest = std::max(widest, columns(order[place], SLOTS));
        if (parent >= 0) widest = std::max(widest, columns(parent, SLOTS));
    }
    Messages<Code> messages(tree, order, n_classes, widest);
    for (i64 index = 0; index < rows.size(); index++) {
        for (i64 place = 0; place < order.size(); place++) {
            const i64 column = order[place], parent = columns(column, PARENT);
            require(codes(column, rows[index]) < columns(column, SLOTS) &&
                        (parent < 0 || codes(parent, rows[index]) < columns(parent, SLOTS)),
                    kernel, "a code is beyond its column's values");
        }
        for (i64 label = 0; label < n_classes; label++)
            out(rows[index], label) = messages.joint(rows[index], label);
    }
}

// ------------------------------------------------------------------ Gaussian classes

INLINE void add_multiple_loop(double weight, const double *values, i64 size, double *RESTRICT out) {
    for (i64 place = 0; place < size; place++) out[place] += weight * values[place];
}
LEVELS(add_multiple)

INLINE void add_squares_loop(const double *values, i64 size, double *RESTRICT out) {
    for (i64 place = 0; place < size; place++) out[place] += values[place] * values[place];
}
LEVELS(add_squares)

// Log joint of Gaussian classes, constant − ½ Σ form², rows start … stop; cost n·k·d².
//
// Entries of `forms` (k, d, d) that are 0 cost nothing.
void subtract_squares(In2<double> rows, In2<double> means, In3<double> forms,
                      In1<double> constants, i64 start, i64 stop, Out2<double> out) {
    const char *kernel = "subtract_squares";
    const i64 n_classes = means.shape(0), n_columns = means.shape(1);
    require(rows.shape(1) == n_columns && forms.shape(0) == n_classes &&
                forms.shape(1) == n_columns && forms.shape(2) == n_columns &&
                constants.size() == n_classes && out.shape(1) == n_classes &&
                out.shape(0) == rows.shape(0),
            kernel, "rows, means, forms, constants and out differ in shape");
    require(0 <= start && start <= stop && stop <= rows.shape(0), kernel, "rows beyond the last");
    Room<double, 2> away(n_columns, BLOCK);
    std::array<double, BLOCK> form, total;
    for (i64 low = start; low < stop; low += BLOCK) {
        const i64 size = std::min(BLOCK, stop - low);
        for (i64 label = 0; label < n_classes; label++) {
            for (i64 row = 0; row < size; row++)
                for (i64 column = 0; column < n_columns; column++)
                    away(column, row) = rows(low + row, column) - means(label, column);
            total.fill(0.0);
            for (i64 line = 0; line < n_columns; line++) {
                form.fill(0.0);
                for (i64 column = 0; column < n_columns; column++) {
                    const double weight = forms(label, line, column);
                    if (weight != 0.0) add_multiple(weight, &away(column, 0), size, form.data());
                }
                add_squares(form.data(), size, total.data());
            }
            for (i64 row = 0; row < size; row++)
                out(low + row, label) = constants[label] - 0.5 * total[row];
        }
    }
}

// ------------------------------------------------------------------ posteriors

// Normalise each row's log joint, of which one at least is finite; cost n·k.
void log_posterior(In2<double> joint, Out2<double> out) {
    const i64 n_classes = joint.shape(1);
    require(out.shape(0) == joint.shape(0) && out.shape(1) == n_classes, "log_posterior",
            "joint and out differ in shape");
    for (i64 row = 0; row < joint.shape(0); row++) {
        const double *line = &joint(row, 0);
        const double peak = peak_of(line, n_classes);
        double total = 0.0;
        for (i64 label = 0; label < n_classes; label++) total += exp_of(line[label] - peak);
        const double below = std::log(total);
        for (i64 label = 0; label < n_classes; label++) out(row, label) = line[label] - peak - below;
    }
}

// Normalise each row's joint into probabilities that sum to one; cost n·k.
void posterior(In2<double> joint, Out2<double> out) {
    const i64 n_classes = joint.shape(1);
    require(out.shape(0) == joint.shape(0) && out.shape(1) == n_classes, "posterior",
            "joint and out differ in shape");
    for (i64 row = 0; row < joint.shape(0); row++)
        posterior_of(joint.at(row).data, n_classes, out.at(row).data);
}

template <class Code> void bind_codes(nb::module_ &room) {
    bind(room, "sum_factors", "Add the chosen columns' factors to the log joint of some rows.",
         sum_factors<Code>, "codes", "columns", "chosen", "tables", "held", "start", "stop", "out");
    bind(room, "mark_missing", "Mark the rows in which one of some columns is missing.",
         mark_missing<Code>, "codes", "columns", "chosen", "out");
    bind(room, "sum_product", "Log joint of rows in which inner nodes of the tree are missing.",
         sum_product<Code>, "rows", "codes", "columns", "order", "tables", "held", "out");
}

}  // namespace

void bind_tables(nb::module_ &room) {
    bind(room, "log_table", "Estimate the logarithm of every cell of a table of counts.", log_table,
         "counts", "alpha", "total", "held_value", "held_context", "out");
    bind(room, "fill_priors", "Log prior of every row.", fill_priors, "tables", "held", "out");
    for_codes([&](auto code) { bind_codes<decltype(code)>(room); });
    bind(room, "subtract_squares", "Log joint of Gaussian classes for some rows.",
         subtract_squares, "rows", "means", "forms", "constants", "start", "stop", "out");
    bind(room, "log_posterior", "Normalise each row's log joint.", log_posterior, "joint", "out");
    bind(room, "posterior", "Normalise each row's joint into probabilities.", posterior, "joint",
         "out");
}

}  // namespace unnaive
