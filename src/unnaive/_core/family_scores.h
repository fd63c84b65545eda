// Scores of families of plain rows, each computed once; unnaive.information.scores has the formulas.
#pragma once

#include <unordered_map>

#include "bitmaps.h"
#include "scores.h"

namespace unnaive {

constexpr std::size_t MOST_SCORES = std::size_t(1) << 24;  // in the cache: 128 MB
constexpr i64 MOST_TABLE = i64(1) << 27;                   // cells of a family that is scored
constexpr i64 MOST_CONTEXTS = i64(1) << 12;  // possible ones; beyond, only those that occur count

using Columns = std::vector<i64>;

struct HashColumns {
    std::size_t operator()(const Columns &columns) const {
        u64 hash = 0;
        for (const i64 column : columns) hash = (hash ^ u64(column)) * 0x9e3779b97f4a7c15u + 1;
        return std::size_t(hash ^ hash >> 32);
    }
};

// Whether gammas are summed, α, whether it is shared among the cells, and the price of a parameter.
struct Rule {
    double by_gammas, strength, shared, price;

    void settings(double contexts, i64 size, double *out) const {
        out[0] = by_gammas;
        out[1] = strength;
        if (shared > 0.0) out[1] /= double(std::max<i64>(size, 1)) * std::max(contexts, 1.0);
        out[2] = price * contexts * double(size - 1);
    }
};

template <class Code> class FamilyScorer {
  public:
    FamilyScorer(In2<Code> codes, In1<i64> sizes, In1<double> logs, Rule rule)
        : codes(codes), sizes(sizes), logs(logs), rule(rule), total(double(codes.shape(1))),
          alone(std::size_t(codes.shape(0)), NAN) {
        std::vector<bool> complete;
        for (i64 column = 0; column < codes.shape(0); column++) {
            const i64 most = i64(largest(codes.data + column * codes.shape(1), codes.shape(1)));
            require(most <= sizes[column], "climb", "a code is beyond its column's values");
            complete.push_back(most < sizes[column]);
            extents.push_back(sizes[column]);
            extents.push_back(sizes[column] + !complete.back());
        }
        bitmaps = bitmaps_of(codes, sizes, complete);
    }

    // Score of a variable given its parents, which ascend.
    double local(i64 node, const Columns &parents) {
        if (parents.empty()) {
            double &score = alone[std::size_t(node)];
            if (std::isnan(score)) score = score_alone(node);
            return score;
        }
        for (std::size_t place = 0; place < parents.size(); place++) {
            const auto found = known.find(key(node, parents, place));
            if (found == known.end()) continue;
            const double score = found->second[std::size_t(parents[place])];
            if (!std::isnan(score)) return score;
        }
        const Columns above(parents.begin(), parents.end() - 1);
        return additions(node, above, {parents.back()})[std::size_t(parents.back())];
    }

    // Scores of a variable with each candidate as a further parent, by the candidate.
    const double *additions(i64 node, const Columns &parents, const Columns &candidates) {
        const Columns name = key(node, parents, parents.size());
        if (!known.contains(name) && (known.size() + 1) * alone.size() > MOST_SCORES) known.clear();
        std::vector<double> &scores = known[name];
        if (scores.empty()) scores.assign(alone.size(), NAN);
        Columns by_bits, by_rows;
        const i64 size = groups_of(node, parents);
        for (const i64 candidate : candidates)
            if (std::isnan(scores[std::size_t(candidate)]))
                (size > 0 && bitmaps.has(candidate) ? by_bits : by_rows).push_back(candidate);
        if (!by_bits.empty() && !cheap(size, by_bits)) {
            by_rows.insert(by_rows.end(), by_bits.begin(), by_bits.end());
            by_bits.clear();
        }
        if (!by_bits.empty()) score_bits(node, parents, by_bits, size, scores);
        if (!by_rows.empty()) score_rows(node, parents, by_rows, scores);
        return scores.data();
    }

    // Score every variable with every single parent, from counts of all pairs.
    void score_pairs() {
        const i64 d = codes.shape(0);
        std::vector<std::vector<double>> scores(std::size_t(d), std::vector<double>(std::size_t(d), NAN));
        for (i64 node = 0; node < d; node++) {
            Columns by_bits, by_rows;
            for (i64 other = node + 1; other < d; other++)
                (bitmaps.has(node) && bitmaps.has(other) ? by_bits : by_rows).push_back(other);
            if (!by_bits.empty()) count({node}, by_bits, sizes[node]);
            i64 place = 0;
            for (const i64 other : by_bits) {
                fill_table(other, sizes[node], table, place);
                score_pair(node, other, scores);
            }
            for (const i64 other : by_rows) {
                if (sizes[other] > MOST_TABLE / std::max<i64>(sizes[node], 1)) continue;
                tally_pair(node, other);
                score_pair(node, other, scores);
            }
        }
        for (i64 node = 0; node < d; node++) known[{node}] = std::move(scores[std::size_t(node)]);
    }

  private:
    In2<Code> codes;
    In1<i64> sizes;
    In1<double> logs;
    Rule rule;
    double total;
    std::vector<double> alone, table, scratch;
    Columns extents;  // (d, 2): values, and codes: one more if some are missing
    Bitmaps bitmaps;
    std::vector<i64> counts;
    Counted counted;
    i64 lines = 0;
    std::unordered_map<Columns, std::vector<double>, HashColumns> known;

    static Columns key(i64 node, const Columns &parents, std::size_t without) {
        Columns name{node};
        for (std::size_t place = 0; place < parents.size(); place++)
            if (place != without) name.push_back(parents[place]);
        return name;
    }

    // Joint values of a variable and its parents; 0 if they have no bitmaps or are too many.
    i64 groups_of(i64 node, const Columns &parents) const {
        if (!bitmaps.has(node)) return 0;
        i64 size = sizes[node];
        for (const i64 parent : parents) {
            if (!bitmaps.has(parent) || size > MOST_CONTEXTS) return 0;
            size *= sizes[parent];
        }
        return size <= MOST_CONTEXTS ? size : 0;
    }

    // Whether bitmaps are faster than rows: a word takes so much longer than a row.
    bool cheap(i64 n_groups, const Columns &candidates) const {
        constexpr i64 FASTER[] = {1, 3, 8};  // plain, AVX2, AVX-512
        i64 used = 0;
        for (const i64 candidate : candidates) used += bitmaps.used[std::size_t(candidate)];
        return n_groups * used * bitmaps.words <=
               FASTER[int(level)] * codes.shape(1) * i64(candidates.size());
    }

    void count(const Columns &columns, const Columns &candidates, i64 n_groups) {
        const Runs runs = runs_of(bitmaps, candidates);
        lines = 0;
        for (const auto &[first, used] : runs) lines += used;
        count_joint(bitmaps, columns, runs, n_groups, counted);
    }

    // Take a candidate's table (groups, values) from the counts; its lines begin at `place`.
    template <class Count>
    void fill_table(i64 candidate, i64 n_groups, std::vector<Count> &table, i64 &place) const {
        const i64 values = sizes[candidate], used = bitmaps.used[std::size_t(candidate)];
        table.resize(std::size_t(n_groups * values));
        for (i64 group = 0; group < n_groups; group++) {
            const i64 *line = counted.cells.data() + group * lines + place;
            Count *out = table.data() + group * values;
            i64 rest = counted.totals[std::size_t(group)];
            for (i64 value = 0; value < used; value++) {
                out[value] = Count(line[value]);
                rest -= line[value];
            }
            if (used < values) out[used] = Count(rest);
        }
        place += used;
    }

    void tally_pair(i64 node, i64 other) {
        const Code *mine = codes.data + node * codes.shape(1);
        const Code *others = codes.data + other * codes.shape(1);
        table.assign(std::size_t(sizes[node] * sizes[other]), 0.0);
        for (i64 row = 0; row < codes.shape(1); row++)
            if (i64(mine[row]) < sizes[node] && i64(others[row]) < sizes[other])
                table[std::size_t(i64(mine[row]) * sizes[other] + i64(others[row]))] += 1.0;
    }

    void score_pair(i64 node, i64 other, std::vector<std::vector<double>> &scores) {
        const i64 sides[2] = {sizes[node], sizes[other]};
        for (int way = 0; way < 2; way++) {
            double settings[3], rows;
            rule.settings(double(sides[1 - way]), sides[way], settings);
            const double score = score_way(table.data(), sides, way, settings, logs, scratch, rows);
            const i64 child = way == 0 ? node : other, parent = way == 0 ? other : node;
            scores[std::size_t(child)][std::size_t(parent)] =
                score * total / std::max(rows, 1.0) - settings[2];
        }
    }

    double possible(const Columns &parents) const {
        double contexts = 1.0;
        for (const i64 parent : parents) contexts *= double(sizes[parent]);
        return contexts;
    }

    double finished(const double *out, const double *settings) const {
        return out[0] * (out[1] > 0.0 ? total / out[1] : 1.0) - settings[2];
    }

    double score_alone(i64 node) {
        std::vector<double> counts(std::size_t(sizes[node]), 0.0);
        const Code *line = codes.data + node * codes.shape(1);
        for (i64 row = 0; row < codes.shape(1); row++)
            if (i64(line[row]) < sizes[node]) counts[std::size_t(line[row])] += 1.0;
        double settings[3], out[2];
        rule.settings(1.0, sizes[node], settings);
        score_lines(In2<double>{counts.data(), {sizes[node], 1}}, {1, sizes[node]}, 1, settings, logs, out);
        return finished(out, settings);
    }

    void score_bits(i64 node, const Columns &parents, const Columns &candidates, i64 n_groups,
                    std::vector<double> &scores) {
        Columns columns = parents;
        columns.push_back(node);
        count(columns, candidates, n_groups);
        const double contexts = possible(parents);
        const Shape shape{n_groups / std::max<i64>(sizes[node], 1), sizes[node]};
        i64 place = 0;
        for (const i64 candidate : candidates) {
            const i64 values = sizes[candidate];
            double settings[3], out[2];
            rule.settings(contexts * double(values), sizes[node], settings);
            fill_table(candidate, n_groups, counts, place);
            const In2<i64> view{counts.data(), {n_groups, values}};
            if (rule.by_gammas > 0.0)
                score_lines(view, shape, values, settings, logs, out);
            else
                score_counts(view, shape, values, logs.data, out);
            scores[std::size_t(candidate)] = finished(out, settings);
        }
    }

    // The number of each row's joint value, and how many contexts there are, −1 if joint values are
    // too many to have numbers; missing cells the last.
    i64 number(i64 node, const Columns &parents, std::vector<u32> &groups) const {
        const i64 n_rows = codes.shape(1);
        groups.assign(std::size_t(n_rows), 0);
        i64 n_groups = 1;
        const auto append = [&](i64 column) {
            const i64 size = sizes[column];
            if (n_groups * size >= MOST_CELLS) return false;
            extend(groups.data(), codes.data + column * n_rows, n_rows, u32(size), u32(n_groups),
                   u32(n_groups * size));
            return true;
        };
        for (const i64 parent : parents) {
            if (!append(parent)) return -1;
            n_groups *= sizes[parent];
            if (n_groups <= MOST_CONTEXTS) continue;
            std::vector<u32> seen = groups;
            std::sort(seen.begin(), seen.end());
            seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
            for (u32 &group : groups)
                group = u32(std::lower_bound(seen.begin(), seen.end(), group) - seen.begin());
            n_groups = i64(seen.size()) - (!seen.empty() && i64(seen.back()) == n_groups);
        }
        return append(node) ? n_groups : -1;
    }

    void score_rows(i64 node, const Columns &parents, const Columns &candidates,
                    std::vector<double> &scores) {
        std::vector<u32> groups;
        const i64 n_contexts = number(node, parents, groups);
        const double contexts = possible(parents);
        Columns fitting, widths;
        std::vector<double> settings;
        for (const i64 candidate : candidates) {
            const i64 *extent = &extents[std::size_t(2 * candidate)];
            if (n_contexts < 0 || extent[1] > MOST_TABLE / (n_contexts * sizes[node] + 1)) {
                scores[std::size_t(candidate)] = -INF;
                continue;
            }
            fitting.push_back(candidate);
            widths.insert(widths.end(), extent, extent + 2);
            settings.resize(settings.size() + 3);
            rule.settings(contexts * double(extent[0]), sizes[node], &settings[settings.size() - 3]);
        }
        if (fitting.empty()) return;
        const Rows<Code> rows{codes, {groups.data(), {i64(groups.size())}}, {}, logs,
                              {n_contexts, sizes[node]}};
        std::vector<double> out(2 * fitting.size());
        score_plain(rows, fitting.data(), widths.data(), i64(fitting.size()), settings.data(),
                    out.data());
        for (std::size_t place = 0; place < fitting.size(); place++)
            scores[std::size_t(fitting[place])] = finished(&out[2 * place], &settings[3 * place]);
    }
};

}  // namespace unnaive
