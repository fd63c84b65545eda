// Genomes turned into distributions inside intervals, and scored on rows.
//
// A distribution is a line of counts, one a value; boxes.h has what a genome makes of it. Rows
// know their places: line 0 of the log table is nothing, then come the cells of all groups, then
// the sums of cells that agree with rows that have gaps.
#include <numeric>

#include "boxes.h"
#include "levels.h"

namespace unnaive {
namespace {

constexpr i64 BLOCK = 256;
constexpr i64 LANES = 4;  // classes that are summed together

using RuleGiven = std::tuple<double, double, i64, i64, double>;

// N(c), N(c, cell) of all groups (k, cells), where the groups start, the rule and the prior's.
using SettingGiven = std::tuple<In1<double>, In2<double>, In1<i64>, RuleGiven, RuleGiven>;

// Places (n, groups), segments (s, 5) of rows of one class and weight, their weights, and the
// sums of cells: sum i is over cells[sums[i]] to cells[sums[i + 1]]. A segment is the class, the
// class that loses a row (−1: none), first row, last row + 1, and 1 if the class is to be guessed.
using RowsGiven = std::tuple<In2<u32>, In2<i64>, In1<double>, In1<i64>, In1<i64>>;

struct Setting {
    In1<double> class_counts;
    In2<double> counts;
    In1<i64> starts;
    Rule rule, prior_rule;
    i64 n_classes, n_cells, n_groups;

    Setting(const char *kernel, const SettingGiven &given, i64 n_genes)
        : class_counts(std::get<0>(given)), counts(std::get<1>(given)), starts(std::get<2>(given)),
          rule(std::make_from_tuple<Rule>(std::get<3>(given))),
          prior_rule(std::make_from_tuple<Rule>(std::get<4>(given))),
          n_classes(counts.shape(0)), n_cells(counts.shape(1)), n_groups(starts.size() - 1) {
        require(n_classes > 0 && class_counts.size() == n_classes, kernel,
                "not one line of counts for every class");
        require(n_groups >= 0 && all_offsets(starts.data, starts.size(), n_cells) &&
                    starts[0] == 0 && starts[n_groups] == n_cells,
                kernel, "starts are not where the groups' cells begin");
        require(n_genes == n_classes * (1 + n_cells), kernel, "not one gene for every count");
    }

    i64 size(i64 group) const { return starts[group + 1] - starts[group]; }
    const double *line(i64 label, i64 group) const {
        return counts.data + label * n_cells + starts[group];
    }
    // Genes lie group by group, class by class, value by value, those of the prior first.
    i64 first_gene(i64 label, i64 group) const {
        return n_classes * (1 + starts[group]) + label * size(group);
    }
    i64 longest() const {
        i64 most = n_classes;
        for (i64 group = 0; group < n_groups; group++) most = std::max(most, size(group));
        return most;
    }
};

struct Segment {
    i64 label, held, first, last, guess;
};

struct Rows {
    In2<u32> places;
    In2<i64> segments;
    In1<double> weights;
    In1<i64> sums, cells;
    i64 n_sums;

    Rows(const char *kernel, const RowsGiven &given, const Setting &setting)
        : places(std::get<0>(given)), segments(std::get<1>(given)), weights(std::get<2>(given)),
          sums(std::get<3>(given)), cells(std::get<4>(given)), n_sums(sums.size() - 1) {
        require(n_sums >= 0 && all_offsets(sums.data, sums.size(), cells.size()), kernel,
                "sums are not where their cells begin");
        require(within(cells, 0, setting.n_cells), kernel, "cells lie beyond the counts");
        require(segments.shape(1) == 5 && weights.size() == segments.shape(0), kernel,
                "not five numbers and a weight for every segment");
    }

    Segment segment(i64 index) const {
        const i64 *line = segments.data + index * 5;
        return {line[0], line[1], line[2], line[3], line[4]};
    }
    // Refuse a segment whose rows or whose rows' places are not there; cost of its places.
    void check(const char *kernel, i64 index, const Setting &setting) const {
        const Segment some = segment(index);
        require(0 <= some.first && some.first <= some.last && some.last <= places.shape(0), kernel,
                "a segment lies beyond the rows");
        require(some.held < setting.n_classes, kernel, "a segment is held out of no class");
        const In2<u32> mine = places.slice(some.first, some.last);
        require(all_below(mine.data, mine.size(), 1 + setting.n_cells + n_sums), kernel,
                "places lie beyond the cells");
    }
};

using Cells = std::vector<i64>;  // ascending

// Cells that the rows of the segments `first` … `last` − 1 look up; cost of their places.
Cells asked_cells(const Rows &rows, i64 first, i64 last, i64 n_cells) {
    std::vector<bool> asked(n_cells, false);
    for (i64 index = first; index < last; index++) {
        const Segment some = rows.segment(index);
        const In2<u32> places = rows.places.slice(some.first, some.last);
        for (i64 i = 0; i < places.size(); i++)
            if (places.data[i] > 0 && places.data[i] <= n_cells) asked[places.data[i] - 1] = true;
    }
    Cells cells;
    for (i64 cell = 0; cell < n_cells; cell++)
        if (asked[cell]) cells.push_back(cell);
    return cells;
}

// Logarithm with log 0 = −inf.
INLINE double log_of(double chance) { return chance > 0.0 ? std::log(chance) : -INF; }

// What a genome stands for, and the room that is needed on the way; classes come in fours.
struct Work {
    const Setting &setting;
    i64 width;
    std::vector<double> prior, chances, own, begin, boxed, kept;
    Room<double, 2> table, joint;
    Boxes boxes;
    Sweep sweep;
    const double *genome = nullptr;

    Work(const Setting &given, i64 n_sums)
        : setting(given), width((given.n_classes + LANES - 1) / LANES * LANES),
          prior(given.n_classes), chances(given.n_classes * given.n_cells),
          own(std::max(given.n_cells, given.n_classes)), begin(width, -INF),
          boxed(3 * given.longest()), table(1 + given.n_cells + n_sums, width),
          joint(BLOCK, width), sweep(given.longest()) {
        const i64 longest = i64(boxed.size()) / 3;
        boxes = {boxed.data(), boxed.data() + longest, boxed.data() + 2 * longest};
    }

    const double *chances_of(i64 label) const { return chances.data() + label * setting.n_cells; }

    // Fill `prior` with P(c), `chances` with P(cell | c); cost of the genome.
    void decode(const double *genes) {
        genome = genes;
        const i64 k = setting.n_classes;
        const double *class_counts = setting.class_counts.data;
        fill_boxes(class_counts, k, sum_of(class_counts, k), genome, setting.prior_rule, boxes);
        repair(boxes, k, setting.prior_rule, prior.data());
        for (i64 group = 0; group < setting.n_groups; group++) {
            const i64 size = setting.size(group);
            for (i64 label = 0; label < k; label++) {
                const double *counts = setting.line(label, group);
                fill_boxes(counts, size, sum_of(counts, size),
                           genome + setting.first_gene(label, group), setting.rule, boxes);
                repair(boxes, size, setting.rule,
                       chances.data() + label * setting.n_cells + setting.starts[group]);
            }
        }
    }

    // Fill `own` with P(c) after a row of one class was taken out; cost k a round.
    void prior_without(i64 label, double weight) {
        const In1<double> counts = setting.class_counts;
        const i64 k = setting.n_classes;
        const double total = std::max(sum_of(counts.data, k) - weight, 0.0);
        const double mine = std::max(counts[label] - weight, 0.0);
        fill_boxes(counts.data, k, total, genome, setting.prior_rule, boxes);
        boxes.put(label, box_of(mine, total, double(k), genome[label], setting.prior_rule));
        repair(boxes, k, setting.prior_rule, own.data());
    }

    // Fill `own` with P(cell | c) of some cells of one class, each without a row of its own.
    void own_column(i64 label, double weight, const Cells &cells) {
        const i64 *cell = cells.data(), *end = cell + cells.size();
        for (i64 group = 0; group < setting.n_groups; group++) {
            const i64 start = setting.starts[group], *first = cell;
            for (; cell < end && *cell < setting.starts[group + 1]; cell++)
                own[*cell] = chances_of(label)[*cell];
            own_cells(setting.line(label, group), setting.size(group), weight,
                      genome + setting.first_gene(label, group), setting.rule, boxes, sweep,
                      {first, cell, start}, own.data() + start);
        }
    }

    // Begin every row's sum with the logarithms of a prior.
    void begin_with(const std::vector<double> &chance) {
        for (i64 label = 0; label < setting.n_classes; label++)
            begin[label] = log_of(chance[label]);
    }

    // Fill the log table with some cells and the sums of cells of all classes, and begin with the
    // prior.
    void fill_table(const Rows &rows, const Cells &cells) {
        begin_with(prior);
        for (i64 label = 0; label < setting.n_classes; label++) {
            const double *mine = chances_of(label);
            for (const i64 cell : cells) table(1 + cell, label) = log_of(mine[cell]);
            for (i64 index = 0; index < rows.n_sums; index++) {
                double total = 0.0;
                for (i64 at = rows.sums[index]; at < rows.sums[index + 1]; at++)
                    total += mine[rows.cells[at]];
                table(1 + setting.n_cells + index, label) = log_of(total);
            }
        }
    }

    // Change the tables to those that rows of one class and weight see of the others.
    void take_out(i64 label, double weight, const Cells &cells) {
        prior_without(label, weight);
        begin_with(own);
        own_column(label, weight, cells);
        kept.clear();
        for (const i64 cell : cells) {
            kept.push_back(table(1 + cell, label));
            table(1 + cell, label) = log_of(own[cell]);
        }
    }

    // Undo `take_out`.
    void put_back(i64 label, const Cells &cells) {
        begin_with(prior);
        for (std::size_t i = 0; i < cells.size(); i++) table(1 + cells[i], label) = kept[i];
    }
};

// Log joint (rows, width) of rows from a table (places, width); cost rows·groups·width.
INLINE void sum_rows_loop(const double *RESTRICT table, i64 width, const u32 *RESTRICT places,
                          i64 n_groups, i64 n_rows, const double *RESTRICT begin,
                          double *RESTRICT joint) {
    for (i64 lane = 0; lane < width; lane += LANES) {
        for (i64 row = 0; row < n_rows; row++) {
            double sums[LANES];
            for (i64 i = 0; i < LANES; i++) sums[i] = begin[lane + i];
            for (i64 group = 0; group < n_groups; group++) {
                const double *entries = table + i64(places[row * n_groups + group]) * width + lane;
                for (i64 i = 0; i < LANES; i++) sums[i] += entries[i];
            }
            for (i64 i = 0; i < LANES; i++) joint[row * width + lane + i] = sums[i];
        }
    }
}
LEVELS(sum_rows)

// Log joint of rows low … high − 1, at most BLOCK of them, into the room for it.
void sum_places(const Rows &rows, i64 low, i64 high, Work &work) {
    const i64 n_groups = rows.places.shape(1);
    sum_rows(work.table.data, work.width, rows.places.data + low * n_groups, n_groups, high - low,
             work.begin.data(), work.joint.data);
}

// Count the rows whose first of the best classes is `label`, or that guess it; cost rows·k.
i64 count_right(In2<double> joint, i64 n_rows, i64 label, i64 guess) {
    const i64 width = joint.shape(1);
    i64 right = 0;
    for (i64 row = 0; row < n_rows; row++) {
        const double *line = joint.data + row * width;
        double best = -INF;
        for (i64 other = 0; other < width; other++) best = std::max(best, line[other]);
        const double least = best - TIE;
        bool first = !(line[label] < least);
        for (i64 other = 0; other < label; other++) first &= line[other] < least;
        right += best == -INF ? guess : i64(first);
    }
    return right;
}

// Weight of the rows that each genome (m, size) gets right; cost n·k·groups each.
void score(In2<double> genomes, SettingGiven given, RowsGiven given_rows, Out1<double> out) {
    const Setting setting("score", given, genomes.shape(1));
    const Rows rows("score", given_rows, setting);
    require(out.size() == genomes.shape(0), "score", "out has no room for every genome");
    for (i64 index = 0; index < rows.segments.shape(0); index++) {
        const Segment some = rows.segment(index);
        require(some.label >= 0 && some.label < setting.n_classes, "score",
                "a segment is of no class");
        require(some.guess == 0 || some.guess == 1, "score",
                "a segment is neither guessed nor not");
        rows.check("score", index, setting);
    }
    const i64 n_segments = rows.segments.shape(0);
    const Cells asked = asked_cells(rows, 0, n_segments, setting.n_cells);
    std::vector<Cells> asked_by;
    for (i64 index = 0; index < n_segments; index++)
        asked_by.push_back(asked_cells(rows, index, index + 1, setting.n_cells));
    Work work(setting, rows.n_sums);
    for (i64 individual = 0; individual < genomes.shape(0); individual++) {
        work.decode(genomes.data + individual * genomes.shape(1));
        work.fill_table(rows, asked);
        double total = 0.0;
        for (i64 index = 0; index < rows.segments.shape(0); index++) {
            const Segment some = rows.segment(index);
            if (some.held >= 0)
                work.take_out(some.held, std::min(rows.weights[index], 1.0), asked_by[index]);
            i64 right = 0;
            for (i64 low = some.first; low < some.last; low += BLOCK) {
                const i64 high = std::min(low + BLOCK, some.last);
                sum_places(rows, low, high, work);
                right += count_right(work.joint, high - low, some.label, some.guess);
            }
            total += rows.weights[index] * double(right);
            if (some.held >= 0) work.put_back(some.held, asked_by[index]);
        }
        out[individual] = total;
    }
}

// Log joint (n, k) of the rows of the segments some[0] to some[1]; cost n·k·groups.
void fill_joint(In1<double> genome, SettingGiven given, RowsGiven given_rows,
                std::pair<i64, i64> some, Out2<double> out) {
    const Setting setting("fill_joint", given, genome.size());
    const Rows rows("fill_joint", given_rows, setting);
    const i64 k = setting.n_classes;
    require(0 <= some.first && some.second <= rows.segments.shape(0), "fill_joint",
            "segments are asked for that are not there");
    require(out.shape(0) == rows.places.shape(0) && out.shape(1) == k, "fill_joint",
            "out has no room for every row and class");
    Work work(setting, rows.n_sums);
    work.decode(genome.data);
    for (i64 index = some.first; index < some.second; index++)
        rows.check("fill_joint", index, setting);
    work.fill_table(rows, asked_cells(rows, some.first, some.second, setting.n_cells));
    for (i64 index = some.first; index < some.second; index++) {
        const Segment mine = rows.segment(index);
        const Cells asked = asked_cells(rows, index, index + 1, setting.n_cells);
        if (mine.held >= 0) work.take_out(mine.held, rows.weights[index], asked);
        for (i64 low = mine.first; low < mine.last; low += BLOCK) {
            const i64 high = std::min(low + BLOCK, mine.last);
            sum_places(rows, low, high, work);
            for (i64 row = low; row < high; row++)
                std::copy_n(&work.joint(row - low, 0), k, &out(row, 0));
        }
        if (mine.held >= 0) work.put_back(mine.held, asked);
    }
}

// P(c) and P(cell | c) of a genome; cost of the genome.
void fill_distributions(In1<double> genome, SettingGiven given, Out1<double> prior,
                        Out2<double> chances) {
    const Setting setting("fill_distributions", given, genome.size());
    require(prior.size() == setting.n_classes && chances.shape(0) == setting.n_classes &&
                chances.shape(1) == setting.n_cells,
            "fill_distributions", "prior and chances have no room for every count");
    Work work(setting, 0);
    work.decode(genome.data);
    std::copy(work.prior.begin(), work.prior.end(), prior.data);
    std::copy(work.chances.begin(), work.chances.end(), chances.data);
}

// P(c) (k, k) without a row of each class, P(cell | c) (k, cells) without one of the cell.
void fill_left_out(In1<double> genome, double weight, SettingGiven given, Out2<double> prior,
                   Out2<double> own) {
    const Setting setting("fill_left_out", given, genome.size());
    const i64 k = setting.n_classes, n_cells = setting.n_cells;
    require(prior.shape(0) == k && prior.shape(1) == k && own.shape(0) == k &&
                own.shape(1) == n_cells,
            "fill_left_out", "prior and own have no room for every count");
    Work work(setting, 0);
    work.decode(genome.data);
    Cells all(n_cells);
    std::iota(all.begin(), all.end(), i64(0));
    for (i64 label = 0; label < k; label++) {
        work.prior_without(label, weight);
        std::copy_n(work.own.data(), k, prior.data + label * k);
        work.own_column(label, weight, all);
        std::copy_n(work.own.data(), n_cells, own.data + label * n_cells);
    }
}

// Estimates and both ends of the unclipped intervals of lines (m, v) of counts; cost m·v.
void fill_bounds(In2<double> counts, double z, double alpha, Out3<double> out) {
    const i64 n_lines = counts.shape(0), n_values = counts.shape(1);
    require(out.shape(0) == 3 && out.shape(1) == n_lines && out.shape(2) == n_values, "fill_bounds",
            "out has no room for three tables like the counts");
    for (i64 line = 0; line < n_lines; line++) {
        const double total = sum_of(counts.data + line * n_values, n_values);
        for (i64 value = 0; value < n_values; value++) {
            const auto [point, half] =
                interval(counts(line, value), total, double(n_values), z, alpha);
            out(0, line, value) = point;
            out(1, line, value) = point - half;
            out(2, line, value) = point + half;
        }
    }
}

// Nearest point of boxes (3, v), places, lower and upper ends, that sums to 1.
void project(In2<double> boxes, Out1<double> out) {
    const i64 n_values = out.size();
    require(boxes.shape(0) == 3 && boxes.shape(1) == n_values, "project",
            "not a place and two ends for every value");
    project_boxes(boxes.data, boxes.data + n_values, boxes.data + 2 * n_values, n_values, out.data);
}

}  // namespace

void bind_intervals(nb::module_ &room) {
    room.attr("EPSILON") = EPSILON;
    room.attr("CENTRED") = i64(CENTRED);
    room.attr("LINEAR") = i64(LINEAR);
    room.attr("ABSOLUTE") = i64(ABSOLUTE);
    room.attr("PROJECT") = i64(PROJECT);
    room.attr("NORMALISE") = i64(NORMALISE);
    bind(room, "score", "Weight of the rows that each genome (m, size) gets right.", score,
         "genomes", "setting", "rows", "out");
    bind(room, "fill_joint", "Log joint (n, k) of the rows of some segments under a genome.",
         fill_joint, "genome", "setting", "rows", "some", "out");
    bind(room, "fill_distributions", "P(c) and P(cell | c) of a genome.", fill_distributions,
         "genome", "setting", "prior", "chances");
    bind(room, "fill_left_out", "P(c) without a row of each class, P(cell | c) without one of it.",
         fill_left_out, "genome", "weight", "setting", "prior", "own");
    bind(room, "fill_bounds", "Estimates and both ends of the intervals of lines of counts.",
         fill_bounds, "counts", "z", "alpha", "out");
    bind(room, "project", "Nearest point of boxes (3, v) that sums to 1.", project, "boxes", "out");
}

}  // namespace unnaive
