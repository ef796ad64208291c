#include "margin_gram.hpp"

#include <type_traits>

namespace mercer {

namespace {

std::vector<Index> counted(Index first, Index last) {
    std::vector<Index> rows(static_cast<std::size_t>(last - first));
    std::iota(rows.begin(), rows.end(), first);
    return rows;
}

constexpr Index kPackedBudget = Index{48} << 20;
// If entries are not computed from dense rows, or lie far apart in memory.
constexpr Index kManyFeatures = 200;

template <class T>
class EngineGram final : public MarginGram<T> {
   public:
    EngineGram(const Basis& whole, std::span<const Index> cuts, Watch& watch)
        : whole_(whole), single_(sizeof(T) == 4 && whole.holds_single(watch)) {
        if (cuts.size() == 2) return;
        for (std::size_t r = 0; r + 1 < cuts.size(); ++r) {
            sides_.push_back(std::make_unique<Gathered>(whole.right(), counted(cuts[r], cuts[r + 1])));
            ranges_.push_back(
                std::make_unique<Basis>(whole.plan(), sides_.back()->side(), whole.engine(), kPackedBudget));
        }
    }

    void rows(std::span<const Index> rows, Index range, T* const* out, const double* delta, double* g, Index tasks,
              Watch& watch) const override {
        const Basis& basis = ranges_.empty() ? whole_ : *ranges_[static_cast<std::size_t>(range)];
        const Gathered left(whole_.right(), rows);
        basis.scatter(left.side(), single_, watch,
                      {reinterpret_cast<void* const*>(out), sizeof(T) == 4, delta, g, tasks});
    }

    void block(std::span<const Index> left, std::span<const Index> right, T* const* out, Index tasks,
               Watch& watch) const override {
        const Gathered a(whole_.right(), left);
        const Gathered b(whole_.right(), right);
        const Basis basis(whole_.plan(), b.side(), whole_.engine(), kPackedBudget);
        basis.scatter(a.side(), single_, watch,
                      {reinterpret_cast<void* const*>(out), sizeof(T) == 4, nullptr, nullptr, tasks});
    }

    Index features() const override {
        Index features = 0;
        for (const Source& source : whole_.right().sources) {
            const Dense* rows = std::get_if<Dense>(&source);
            features += rows != nullptr ? rows->d : kManyFeatures;
        }
        return features;
    }

   private:
    const Basis& whole_;
    bool single_;
    std::vector<std::unique_ptr<Gathered>> sides_;
    std::vector<std::unique_ptr<Basis>> ranges_;
};

template <class T>
class DenseMargins final : public MarginGram<T> {
   public:
    DenseMargins(const StoredGram& gram, std::span<const Index> cuts) : gram_(gram), cuts_(cuts) {}

    void rows(std::span<const Index> rows, Index range, T* const* out, const double* delta, double* g, Index,
              Watch& watch) const override {
        const Index first = cuts_[static_cast<std::size_t>(range)];
        const Index count = cuts_[static_cast<std::size_t>(range) + 1] - first;
        constexpr Index kColumns = 2048;
        parallel((count + kColumns - 1) / kColumns, watch, [&](Index chunk) {
            const Index c0 = chunk * kColumns;
            const Index c1 = std::min(c0 + kColumns, count);
            gram_.values.as_they_are([&](const auto* values) {
                for (std::size_t r = 0; r < rows.size(); ++r) {
                    const auto* row = values + rows[r] * gram_.n + first;
                    if (out[r] != nullptr)
                        std::transform(row + c0, row + c1, out[r] + c0, [](auto x) { return static_cast<T>(x); });
                    if (delta == nullptr) continue;
                    for (Index c = c0; c < c1; ++c) g[c] += delta[r] * static_cast<double>(static_cast<T>(row[c]));
                }
            });
        });
    }

    void block(std::span<const Index> left, std::span<const Index> right, T* const* out, Index, Watch&) const override {
        gram_.values.as_they_are([&](const auto* values) {
            for (std::size_t r = 0; r < left.size(); ++r) {
                const auto* row = values + left[r] * gram_.n;
                for (std::size_t c = 0; c < right.size(); ++c) out[r][c] = static_cast<T>(row[right[c]]);
            }
        });
    }

    const T* stored(Index row, Index range) const override {
        return gram_.values.as_they_are([&](const auto* values) -> const T* {
            if constexpr (std::is_same_v<decltype(values), const T*>)
                return values + row * gram_.n + cuts_[static_cast<std::size_t>(range)];
            else return nullptr;
        });
    }

    Index features() const override { return kManyFeatures; }

   private:
    StoredGram gram_;
    std::span<const Index> cuts_;
};

void product(const Basis& whole, const std::vector<Index>& rows, const Support& support, Watch& watch, double* out) {
    const Gathered all(whole.right(), rows);
    // Half of the square of all rows, where that is less than all rows against the support.
    if (2 * support.rows.size() >= rows.size() &&
        std::includes(rows.begin(), rows.end(), support.rows.begin(), support.rows.end())) {
        std::vector<double> v(rows.size(), 0.0);
        for (std::size_t r = 0, s = 0; s < support.rows.size(); ++r) {
            if (rows[r] == support.rows[s]) v[r] = support.v[s++];
        }
        const Basis basis(whole.plan(), all.side(), whole.engine(), kPackedBudget);
        return basis.matvec(nullptr, false, watch, {v.data(), 1, out});
    }
    const Gathered some(whole.right(), support.rows);
    const Basis basis(whole.plan(), some.side(), whole.engine(), kPackedBudget);
    const Side left = all.side();
    basis.matvec(&left, false, watch, {support.v.data(), 1, out});
}

void product(const StoredGram& gram, const std::vector<Index>& rows, const Support& support, Watch& watch,
             double* out) {
    constexpr std::size_t kRows = 64;
    parallel(static_cast<Index>((rows.size() + kRows - 1) / kRows), watch, [&](Index chunk) {
        const std::size_t first = static_cast<std::size_t>(chunk) * kRows;
        gram.values.as_they_are([&](const auto* values) {
            for (std::size_t r = first; r < std::min(first + kRows, rows.size()); ++r) {
                const auto* row = values + rows[r] * gram.n;
                double sum = 0.0;
                for (std::size_t s = 0; s < support.rows.size(); ++s)
                    sum += static_cast<double>(row[support.rows[s]]) * support.v[s];
                out[r] = sum;
            }
        });
    });
}

}  // namespace

std::vector<double> margin_product(const GramSource& gram, const std::vector<Index>& rows, const Support& support,
                                   Watch& watch) {
    std::vector<double> out(rows.size(), 0.0);
    if (rows.empty() || support.rows.empty()) return out;
    if (const StoredGram* stored = std::get_if<StoredGram>(&gram)) product(*stored, rows, support, watch, out.data());
    else product(*std::get<const Basis*>(gram), rows, support, watch, out.data());
    return out;
}

template <class T>
std::unique_ptr<MarginGram<T>> margin_gram(const GramSource& gram, std::span<const Index> cuts, Watch& watch) {
    if (const StoredGram* stored = std::get_if<StoredGram>(&gram))
        return std::make_unique<DenseMargins<T>>(*stored, cuts);
    return std::make_unique<EngineGram<T>>(*std::get<const Basis*>(gram), cuts, watch);
}

template std::unique_ptr<MarginGram<float>> margin_gram(const GramSource&, std::span<const Index>, Watch&);
template std::unique_ptr<MarginGram<double>> margin_gram(const GramSource&, std::span<const Index>, Watch&);

}  // namespace mercer
