// Common substrings of k = 1, ..., degree letters that stand at one place, or `shift` apart at most: with the weights
// beta_k = 2 (degree - k + 1) / (degree (degree + 1)), and 1 - r / (shift + 1) where they are r apart.
//
// The letters of a string are kept as planes of bits, so that 64 letters are compared at a time: where all planes agree
// there is a match, and a run of k + 1 matches begins where runs of k begin here and one further on.
#pragma once

#include <algorithm>
#include <bit>

#include "mercer/leaf.hpp"

namespace mercer::MERCER_ISA {

using Word = std::uint64_t;
inline constexpr Index kWordBits = 64;
inline Index words_of(Index letters) { return (letters + kWordBits - 1) / kWordBits; }

// Strings as planes: those of string i lie from first[i] on, plane by plane.
struct Planes {
    std::vector<Word> words;
    std::vector<Index> first;
    std::vector<Index> lengths;
    Index least = 0, most = 0;  // codes from the least to the most; any other counts as one code more
    int count = 1;              // of planes

    void set_codes(const Letters& rows, Index i0, Index i1) {
        const auto [low, high] = std::minmax_element(rows.codes + rows.offsets[i0], rows.codes + rows.offsets[i1]);
        const bool none = rows.offsets[i0] == rows.offsets[i1];
        set_codes(none ? 0 : *low, none ? 0 : *high);
    }
    void set_codes(Index low, Index high) {
        least = low, most = high;
        count = static_cast<int>(std::bit_width(place_of(high) + 1));
    }
    Word place_of(Index code) const {
        return static_cast<Word>((code < least || code > most ? most + 1 : code) - least);
    }
    void take(const Letters& rows, Index i0, Index i1) {
        first.clear(), lengths.clear();
        Index size = 0;
        for (Index i = i0; i < i1; ++i) {
            first.push_back(size);
            lengths.push_back(rows.length(i));
            size += words_of(rows.length(i)) * count;
        }
        words.assign(static_cast<std::size_t>(size), 0);
        for (Index i = i0; i < i1; ++i) {
            const Index stride = words_of(rows.length(i));
            Word* const planes = words.data() + first[static_cast<std::size_t>(i - i0)];
            for (Index at = 0; at < rows.length(i); ++at) {
                const Word place = place_of(rows.codes[rows.offsets[i] + at]);
                for (int plane = 0; plane < count; ++plane)
                    planes[plane * stride + at / kWordBits] |= (place >> plane & 1) << at % kWordBits;
            }
        }
    }
    Index bytes() const {
        return static_cast<Index>(words.size() * sizeof(Word) + (first.size() + lengths.size()) * sizeof(Index));
    }
};

// One string of planes, read from a letter on.
struct Plane {
    const Word* words;
    Index length;

    Plane(const Planes& of, Index i)
        : words(of.words.data() + of.first[static_cast<std::size_t>(i)]),
          length(of.lengths[static_cast<std::size_t>(i)]) {}
    Word at(Index plane, Index letter) const {
        const Index stride = words_of(length), word = letter / kWordBits, bit = letter % kWordBits;
        const Word* const from = words + plane * stride + word;
        if (bit == 0) return from[0];
        return from[0] >> bit | (word + 1 < stride ? from[1] << (kWordBits - bit) : 0);
    }
};

struct Degrees {
    Index degree = 1;
    Index shift = 0;

    Degrees() = default;
    explicit Degrees(const LeafUse& use)
        : degree(static_cast<Index>(use.parameters[0])), shift(static_cast<Index>(use.parameters[1])) {}

    double weight(Index k) const {
        const double d = static_cast<double>(degree);
        return 2.0 * static_cast<double>(degree - k + 1) / (d * (d + 1.0));
    }
    double nearness(Index apart) const { return 1.0 - static_cast<double>(apart) / static_cast<double>(shift + 1); }
    // Sum of the weights of the common substrings that begin at p in x and at p + apart in z.
    double at_distance(const Plane& x, const Plane& z, Index apart, int planes, std::vector<Word>& runs) const {
        const Index letters = std::min(x.length, z.length - apart), words = words_of(letters);
        runs.resize(static_cast<std::size_t>(words) + 1);
        for (Index w = 0; w < words; ++w) {
            Word differ = 0;
            for (int plane = 0; plane < planes; ++plane)
                differ |= x.at(plane, w * kWordBits) ^ z.at(plane, w * kWordBits + apart);
            runs[static_cast<std::size_t>(w)] = ~differ;
        }
        if (letters % kWordBits != 0) runs[static_cast<std::size_t>(words) - 1] &= (Word{1} << letters % kWordBits) - 1;
        runs[static_cast<std::size_t>(words)] = 0;
        double sum = 0.0;
        for (Index k = 1; k <= degree; ++k) {
            Index count = 0;
            Word* const run = runs.data();
            for (Index w = 0; w < words; ++w) {
                count += std::popcount(run[w]);
                run[w] &= run[w] >> 1 | run[w + 1] << (kWordBits - 1);
            }
            if (count == 0) break;
            sum += weight(k) * static_cast<double>(count);
        }
        return sum;
    }
    double value(const Plane& x, const Plane& z, int planes, std::vector<Word>& runs) const {
        double sum = 0.0;
        for (Index apart = 0; apart <= shift; ++apart) {
            double common = 0.0;
            if (apart < z.length) common += at_distance(x, z, apart, planes, runs);
            if (apart > 0 && apart < x.length) common += at_distance(z, x, apart, planes, runs);
            if (apart >= std::max(x.length, z.length)) break;
            sum += nearness(apart) * common;
        }
        return sum;
    }
};

template <class T>
struct LeftMemory<Kind::weighted_degree, T> {
    Planes left_planes;
    std::vector<Word> runs;
};
template <class T>
struct RightMemory<Kind::weighted_degree, T> {
    Planes planes;
    Degrees degrees;

    Index bytes() const { return planes.bytes(); }
};

template <>
struct Leaf<Kind::weighted_degree> : PlainLeaf {
    template <class T>
    static void pack(const Source& source, const LeafUse& use, Index, PackedLeaf<T>& leaf) {
        const Letters& rows = std::get<Letters>(source);
        leaf.degrees = Degrees(use);
        leaf.planes.set_codes(rows, 0, rows.n);
        leaf.planes.take(rows, 0, rows.n);
    }
    template <class T>
    static void take_rows(const Source& source, const PackedLeaf<T>& right, Index i0, Index i1, LeftLeaf<T>& leaf) {
        leaf.left_planes.set_codes(right.planes.least, right.planes.most);
        leaf.left_planes.take(std::get<Letters>(source), i0, i1);
    }
    template <class T>
    static void fill_tile(const Source&, LeftLeaf<T>& left, const PackedLeaf<T>& right, const Patch& patch, T* tile) {
        const Index i0 = patch.strip * kStripRows;
        fill_copied<T>(patch, tile, [&](Index r, Index c) {
            return right.degrees.value(Plane(left.left_planes, i0 + r), Plane(right.planes, patch.j0 + c),
                                       right.planes.count, left.runs);
        });
    }
    static double pair(const LeafUse& use, const Source& left, const Source& right, Index i) {
        Planes x, z;
        z.set_codes(std::get<Letters>(right), i, i + 1);
        x.set_codes(z.least, z.most);
        x.take(std::get<Letters>(left), i, i + 1);
        z.take(std::get<Letters>(right), i, i + 1);
        std::vector<Word> runs;
        return Degrees(use).value(Plane(x, 0), Plane(z, 0), z.count, runs);
    }
};

}  // namespace mercer::MERCER_ISA
