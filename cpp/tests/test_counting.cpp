// Counting substrings: keys of any number of bits, what is new, and the same for any number of threads.
#include <map>
#include <random>

#include "check.hpp"
#include "mercer/counting.hpp"

using mercer::Counter;
using mercer::Counts;
using mercer::Index;
using mercer::Letters;
using mercer::Watch;
using mercer::Window;

namespace {

struct Strings {
    std::vector<Index> offsets = {0};
    std::vector<std::int32_t> codes;

    Letters view() const { return {offsets.data(), codes.data(), static_cast<Index>(offsets.size()) - 1}; }
};

Strings draw(Index n, Index longest, std::int32_t letters, unsigned seed) {
    std::mt19937_64 bits(seed);
    Strings strings;
    for (Index i = 0; i < n; ++i) {
        const Index length = std::uniform_int_distribution<Index>(0, longest)(bits);
        for (Index at = 0; at < length; ++at)
            strings.codes.push_back(std::uniform_int_distribution<std::int32_t>(0, letters - 1)(bits));
        strings.offsets.push_back(static_cast<Index>(strings.codes.size()));
    }
    return strings;
}

Window all_of(Index length) {
    Window window;
    for (Index place = 0; place < length; ++place) window.places.push_back(place);
    window.span = length;
    return window;
}

// The inner product of rows, but for the last column.
double product(const Counts& x, Index i, const Counts& z, Index j, Index columns) {
    std::map<std::int32_t, double> of;
    const auto at = [](Index index) { return static_cast<std::size_t>(index); };
    for (Index p = x.offsets[at(i)]; p < x.offsets[at(i + 1)]; ++p) of[x.columns[at(p)]] = x.values[at(p)];
    double sum = 0.0;
    for (Index p = z.offsets[at(j)]; p < z.offsets[at(j + 1)]; ++p) {
        if (z.columns[at(p)] != columns - 1) sum += of[z.columns[at(p)]] * z.values[at(p)];
    }
    return sum;
}

double common(const Letters& x, Index i, const Letters& z, Index j, const Window& window) {
    double count = 0.0;
    for (Index p = 0; p + window.span <= x.length(i); ++p) {
        for (Index q = 0; q + window.span <= z.length(j); ++q) {
            count += std::all_of(window.places.begin(), window.places.end(), [&](Index place) {
                return x.codes[x.offsets[i] + p + place] == z.codes[z.offsets[j] + q + place];
            });
        }
    }
    return count;
}

}  // namespace

TEST("Keys of few bits and of many count the same") {
    const Strings basis = draw(12, 60, 3, 1), other = draw(9, 60, 4, 2);  // with a letter that the basis lacks
    for (const Index length : {1, 3, 10, 33, 50}) {
        for (const Index letters : {3, 300, 1 << 20}) {
            Window gapped = all_of(length);
            if (length > 2) gapped.places.erase(gapped.places.begin() + 1);
            for (const Window& window : {all_of(length), gapped}) {
                Counter counter({window}, letters);
                Watch watch;
                counter.learn(basis.view(), watch);
                const Counts x = counter.count(other.view(), watch), z = counter.count(basis.view(), watch);
                for (Index i = 0; i < other.view().n; ++i) {
                    for (Index j = 0; j < basis.view().n; ++j)
                        CHECK_EQUAL(product(x, i, z, j, counter.columns()),
                                    common(other.view(), i, basis.view(), j, window));
                }
            }
        }
    }
}

TEST("What the basis lacks counts in the norm") {
    const Strings basis = draw(6, 30, 3, 1), other = draw(40, 40, 5, 2);
    for (const Index length : {1, 4, 40}) {
        Counter counter({all_of(length), all_of(2)}, 3);
        Watch watch;
        counter.learn(basis.view(), watch);
        const Counts x = counter.count(other.view(), watch);
        for (Index i = 0; i < other.view().n; ++i) {
            double norm = 0.0;
            for (Index p = x.offsets[std::size_t(i)]; p < x.offsets[std::size_t(i + 1)]; ++p)
                norm += x.values[std::size_t(p)] * x.values[std::size_t(p)];
            const double wanted = common(other.view(), i, other.view(), i, all_of(length)) +
                                  common(other.view(), i, other.view(), i, all_of(2));
            CHECK_NEAR(norm, wanted, 1e-9);
        }
    }
}

TEST("Counts are the same for any number of threads") {
    const Strings basis = draw(2000, 100, 4, 1), other = draw(1000, 100, 5, 2);
    Window near = all_of(4), placed = all_of(3);
    near.mismatches = 1;
    placed.shifts = 2;
    const int before = mercer::thread_count();
    std::vector<Counts> found;
    for (const int threads : {1, 2, 5}) {
        mercer::set_thread_count(threads);
        Counter counter({near, placed, all_of(20)}, 4);
        Watch watch;
        counter.learn(basis.view(), watch);
        found.push_back(counter.count(other.view(), watch));
        CHECK(found.back().offsets == found.front().offsets);
        CHECK(found.back().columns == found.front().columns);
        CHECK(found.back().values == found.front().values);
    }
    mercer::set_thread_count(before);
}

TEST("A counter that was given what another has learnt counts the same") {
    const Strings basis = draw(20, 60, 4, 1), other = draw(20, 60, 5, 2);
    Watch watch;
    const std::vector<Window> windows = {all_of(2), all_of(40)};
    Counter counter(windows, 4), again(windows, 4);
    counter.learn(basis.view(), watch);
    again.restore(counter.position_bits(), counter.learnt());
    CHECK(again.count(other.view(), watch).values == counter.count(other.view(), watch).values);
    CHECK_THROWS(again.restore(0, {{2, 1}}), std::invalid_argument);
}
