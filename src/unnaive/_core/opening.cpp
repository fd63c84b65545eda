// Factors of families of which some columns are missing: entries for all values of these columns.
//
// A factor has a line for every row and class, and a cell for every joint value of the missing
// columns, the last one fastest. `axes` (m, 3) holds for each missing column its number of values,
// its stride in the number of a context, and its stride in the child's value: 1 for the child,
// else 0. A row's `base` is the number of its context, and `child` its value, where every missing
// column has the value 0. Contexts are sorted.
#include <algorithm>

#include "border.h"

namespace unnaive {
namespace {

using Sets = std::pair<i64, i64>;  // of entries: for other classes, and for the class of the row

// The cells of a factor, axis by axis. A context has a number of its own here, the last axis fastest.
struct Grid {
    struct Axis {
        i64 size, context, value, cell;  // and what its code adds to context, value and cell
    };
    std::vector<Axis> axes;
    std::vector<i64> offsets, cells;  // of contexts: their numbers in tables, and first cells
    i64 n_values = 1, value_step = 0;  // of the child that are asked for: all if it is missing

    Grid(const char *kernel, In2<i64> given, i64 n_cells) : offsets(1, 0), cells(1, 0) {
        require(given.shape(1) == 3, kernel, "axes have another shape");
        i64 product = 1, contexts = 1;
        for (i64 axis = given.shape(0) - 1; axis >= 0; axis--) {
            const i64 size = given(axis, 0), stride = given(axis, 1), child = given(axis, 2);
            require(size > 0 && stride >= 0 && (child == 0 || (child == 1 && n_values == 1)), kernel,
                    "an axis has no values or a wrong stride");
            require(size <= n_cells / product, kernel, "out has no room for every cell");
            axes.insert(axes.begin(), {size, stride > 0 ? contexts : 0, child, product});
            if (child) n_values = size, value_step = product;
            product *= size;
            contexts *= stride > 0 ? size : 1;
        }
        require(product == n_cells, kernel, "out has no room for every cell");
        for (i64 axis = 0; axis < given.shape(0); axis++)
            if (given(axis, 1) > 0) add(axes[axis], given(axis, 1));
        if (axes.empty()) axes.push_back({1, 0, 0, 1});
    }

    i64 n_contexts() const { return i64(offsets.size()); }
    bool is_whole() const { return n_contexts() * n_values == axes[0].size * axes[0].cell; }

    // Call `run(context, value, cell)` where a run of the last axis begins.
    template <class Run> INLINE void each_run(const Run &run) const {
        std::vector<i64> codes(axes.size(), 0);
        i64 context = 0, value = 0;
        for (i64 cell = 0; cell < axes[0].size * axes[0].cell; cell += axes.back().size) {
            run(context, value, cell);
            for (i64 axis = i64(axes.size()) - 2; axis >= 0; axis--) {
                context += axes[axis].context;
                value += axes[axis].value;
                if (++codes[axis] < axes[axis].size) break;
                context -= axes[axis].context * axes[axis].size;
                value -= axes[axis].value * axes[axis].size;
                codes[axis] = 0;
            }
        }
    }

private:
    // List contexts with one column more.
    void add(const Axis &axis, i64 stride) {
        std::vector<i64> more_offsets, more_cells;
        more_offsets.reserve(offsets.size() * std::size_t(axis.size));
        more_cells.reserve(offsets.size() * std::size_t(axis.size));
        for (std::size_t index = 0; index < offsets.size(); index++)
            for (i64 code = 0; code < axis.size; code++) {
                more_offsets.push_back(i64(u64(offsets[index]) + u64(code) * u64(stride)));
                more_cells.push_back(cells[index] + code * axis.cell);
            }
        offsets = std::move(more_offsets);
        cells = std::move(more_cells);
    }
};

// Rows of which lines are asked for, and where their contexts are in the list.
struct Lines {
    In1<i64> contexts, bases, children, held;
    i64 n_classes;
    std::vector<i64> places;
    i64 row = -1;

    Lines(const char *kernel, const Grid &grid, In1<i64> listed, In1<i64> base, In1<i64> child,
          In1<i64> own, i64 first, i64 n_lines, i64 k, i64 n_values)
        : contexts(listed), bases(base), children(child), held(own), n_classes(k),
          places(grid.offsets.size()) {
        require(children.size() == bases.size() && held.size() == bases.size() && k > 0, kernel,
                "bases, children and held differ in rows");
        require(first >= 0 && n_lines <= bases.size() * k - first, kernel,
                "lines are asked for that are not there");
        require(within(children, 0, n_values - grid.n_values + 1), kernel,
                "a code is beyond its column's values");
        require(within(held, -1, k), kernel, "a row is held out of no class");
    }

    // Find the contexts of the row of a line, if they are those of another row.
    void find(const Grid &grid, i64 line) {
        if (line / n_classes == row) return;
        row = line / n_classes;
        const i64 *begin = contexts.data, *end = begin + contexts.size();
        for (i64 index = 0; index < grid.n_contexts(); index++) {
            const i64 number = i64(u64(bases[row]) + u64(grid.offsets[index]));
            const i64 *place = begin + number;  // where all contexts are listed
            if (number < 0 || number >= contexts.size() || *place != number)
                place = std::lower_bound(begin, end, number);
            places[index] = place < end && *place == number ? place - begin : contexts.size();
        }
    }
};

void check_sets(const char *kernel, const Sets &sets, i64 n_sets) {
    require(sets.first >= 0 && sets.first < n_sets && sets.second >= 0 && sets.second < n_sets,
            kernel, "a set is not there");
}

// Lines `first` … of a factor from a table (sets, k, contexts, v); cost lines·cells.
//
// Contexts that are not listed have the row after the last one, or are left as they are.
void open_contexts(In1<i64> contexts, In4<double> table, In2<i64> axes, In1<i64> bases,
                   In1<i64> children, In1<i64> held, Sets sets, i64 first, Out2<double> out) {
    const char *kernel = "open_contexts";
    const i64 k = table.shape(1), rows = table.shape(2), n_values = table.shape(3);
    const Grid grid(kernel, axes, out.shape(1));
    Lines lines(kernel, grid, contexts, bases, children, held, first, out.shape(0), k, n_values);
    check_sets(kernel, sets, table.shape(0));
    require(rows >= contexts.size(), kernel, "the table lacks a context");
    for (i64 line = 0; line < out.shape(0); line++) {
        lines.find(grid, first + line);
        const i64 label = (first + line) % k, own = held[lines.row] == label;
        const double *entries = &table(own ? sets.second : sets.first, label, 0, 0);
        const i64 *places = lines.places.data();
        const Grid::Axis last = grid.axes.back();
        entries += children[lines.row];
        grid.each_run([&](i64 context, i64 value, i64 cell) {
            double *cells = &out(line, cell);
            for (i64 code = 0; code < last.size; code++) {
                const i64 place = places[context + code * last.context];
                if (place < rows) cells[code] = entries[place * n_values + value + code * last.value];
            }
        });
    }
}

// Numbers of the cells that occurred, ascending, their entries (sets, m), those of contexts
// (sets, k, contexts + 1) and of values (sets, v).
using CellsGiven = std::tuple<In1<i64>, In2<double>, In3<double>, In2<double>>;

// Lines `first` … of a factor from the cells that occurred; cost lines·(cells + those of them).
void open_cells(In1<i64> contexts, CellsGiven given, In2<i64> axes, In1<i64> bases,
                In1<i64> children, In1<i64> held, Sets sets, i64 first, Out2<double> out) {
    const char *kernel = "open_cells";
    const auto [keys, entries, of_context, of_value] = given;
    const i64 k = of_context.shape(1), slots = of_context.shape(2), n_values = of_value.shape(1);
    const Grid grid(kernel, axes, out.shape(1));
    Lines lines(kernel, grid, contexts, bases, children, held, first, out.shape(0), k, n_values);
    require(entries.shape(0) == of_context.shape(0) && of_value.shape(0) == of_context.shape(0) &&
                entries.shape(1) == keys.size() && slots == contexts.size() + 1,
            kernel, "entries lack a set, a cell or a context");
    require(grid.is_whole(), kernel, "an axis is no column of the family");
    check_sets(kernel, sets, entries.shape(0));
    for (i64 line = 0; line < out.shape(0); line++) {
        lines.find(grid, first + line);
        const i64 label = (first + line) % k, child = children[lines.row];
        const i64 set = held[lines.row] == label ? sets.second : sets.first;
        const double *parts = &of_context(set, label, 0), *values = &of_value(set, 0) + child;
        const i64 *places = lines.places.data();
        const Grid::Axis last = grid.axes.back();
        grid.each_run([&](i64 context, i64 value, i64 cell) {
            double *cells = &out(line, cell);
            for (i64 code = 0; code < last.size; code++)
                cells[code] = parts[places[context + code * last.context]] +
                              values[value + code * last.value];
        });
        for (i64 index = 0; index < grid.n_contexts(); index++) {
            if (lines.places[index] == contexts.size()) continue;
            const i64 start = (label * slots + lines.places[index]) * n_values + child;
            const i64 *end = keys.data + keys.size();
            const i64 *key = std::lower_bound(keys.data, end, start);
            for (; key < end && *key >= start && *key - start < grid.n_values; key++)
                out(line, grid.cells[index] + (*key - start) * grid.value_step) =
                    entries(set, key - keys.data);
        }
    }
}

}  // namespace

void bind_opening(nb::module_ &room) {
    bind(room, "open_contexts", "Lines of a factor over missing columns, from a table of contexts.",
         open_contexts, "contexts", "table", "axes", "bases", "children", "held", "sets", "first",
         "out");
    bind(room, "open_cells", "Lines of a factor over missing columns, from cells that occurred.",
         open_cells, "contexts", "cells", "axes", "bases", "children", "held", "sets", "first",
         "out");
}

}  // namespace unnaive
