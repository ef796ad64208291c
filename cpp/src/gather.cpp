#include "mercer/gather.hpp"

#include <algorithm>
#include <stdexcept>

namespace mercer {

namespace {

// out[r, :] = from[rows[r], :]
template <class T>
void copy_rows(const T* from, Index width, std::span<const Index> rows, T* out) {
    for (const Index row : rows) out = std::copy_n(from + row * width, width, out);
}

bool follow_each_other(std::span<const Index> rows) {
    return std::adjacent_find(rows.begin(), rows.end(), [](Index a, Index b) { return b != a + 1; }) == rows.end();
}

}  // namespace

Gathered::Gathered(const Side& from, std::span<const Index> rows) {
    side_.n = static_cast<Index>(rows.size());
    for (const Source& source : from.sources) std::visit([&](const auto& of) { add(of, rows); }, source);
    for (const double* values : from.rows) {
        double* out = own<double>(side_.n);
        copy_rows(values, 1, rows, out);
        side_.rows.push_back(out);
    }
}

template <class T>
T* Gathered::own(Index count) {
    const std::shared_ptr<T[]> memory = std::make_shared_for_overwrite<T[]>(static_cast<std::size_t>(count));
    memory_.push_back(memory);
    return memory.get();
}

void Gathered::add(const Dense& from, std::span<const Index> rows) {
    Dense copy = from;
    copy.n = side_.n;
    copy.values.data = from.values.as_they_are([&]<class T>(const T* values) -> const void* {
        if (!rows.empty() && follow_each_other(rows)) return values + rows.front() * from.d;
        T* out = own<T>(side_.n * from.d);
        copy_rows(values, from.d, rows, out);
        return out;
    });
    side_.sources.emplace_back(copy);
}

const Index* Gathered::gathered_offsets(const Index* from, std::span<const Index> rows) {
    Index* offsets = own<Index>(side_.n + 1);
    offsets[0] = 0;
    for (Index r = 0; r < side_.n; ++r) {
        const Index row = rows[static_cast<std::size_t>(r)];
        offsets[r + 1] = offsets[r] + from[row + 1] - from[row];
    }
    return offsets;
}

void Gathered::add(const Sparse& from, std::span<const Index> rows) {
    Sparse copy = from;
    copy.n = side_.n;
    const Index* offsets = gathered_offsets(from.offsets, rows);
    const auto copied = [&]<class T>(const T* values) {
        T* out = own<T>(offsets[side_.n]);
        T* to = out;
        for (const Index row : rows) to = std::copy(values + from.offsets[row], values + from.offsets[row + 1], to);
        return out;
    };
    copy.offsets = offsets;
    copy.columns = copied(from.columns);
    if (from.values.data != nullptr)
        copy.values.data = from.values.as_they_are([&](const auto* values) -> const void* { return copied(values); });
    if (from.sizes != nullptr) {
        double* sizes = own<double>(side_.n);
        copy_rows(from.sizes, 1, rows, sizes);
        copy.sizes = sizes;
    }
    side_.sources.emplace_back(copy);
}

void Gathered::add(const Codes& from, std::span<const Index> rows) {
    Index* codes = own<Index>(side_.n);
    copy_rows(from.codes, 1, rows, codes);
    const Codes copy{codes, side_.n};
    side_.sources.emplace_back(copy);
}

void Gathered::add(const Letters& from, std::span<const Index> rows) {
    const Index* offsets = gathered_offsets(from.offsets, rows);
    std::int32_t* const codes = own<std::int32_t>(offsets[side_.n]);
    std::int32_t* to = codes;
    for (const Index row : rows) to = std::copy(from.codes + from.offsets[row], from.codes + from.offsets[row + 1], to);
    side_.sources.emplace_back(Letters{offsets, codes, side_.n});
}

void Gathered::add(const Parts& from, std::span<const Index> rows) {
    Parts copy = from;
    copy.n = side_.n;
    copy.offsets = gathered_offsets(from.offsets, rows);
    copy.values.data = from.values.as_they_are([&]<class T>(const T* values) -> const void* {
        T* const out = own<T>(copy.offsets[side_.n] * from.d);
        T* to = out;
        for (const Index row : rows)
            to = std::copy(values + from.offsets[row] * from.d, values + from.offsets[row + 1] * from.d, to);
        return out;
    });
    side_.sources.emplace_back(copy);
}

void Gathered::add(const Matrix&, std::span<const Index>) {
    throw std::invalid_argument("rows of stored entries cannot be gathered");
}

void Gathered::add(const Call&, std::span<const Index>) {
    throw std::invalid_argument("rows of a function's entries cannot be gathered");
}

void Gathered::add(const Bags& from, std::span<const Index> rows) {
    Bags copy = from;
    copy.n = side_.n;
    Index* offsets = own<Index>(side_.n + 1);
    offsets[0] = 0;
    std::vector<Index> parts;
    for (Index r = 0; r < side_.n; ++r) {
        const Index row = rows[static_cast<std::size_t>(r)];
        for (Index part = from.offsets[row]; part < from.offsets[row + 1]; ++part) parts.push_back(part);
        offsets[r + 1] = static_cast<Index>(parts.size());
    }
    copy.offsets = offsets;
    const auto gathered = std::make_shared<const Gathered>(*from.parts, parts);
    copy.parts = std::shared_ptr<const Side>(gathered, &gathered->side());
    side_.sources.emplace_back(copy);
}

}  // namespace mercer
