// Sets of 64-bit keys, and where a key goes in a table of slots.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mercer {

using Key = std::uint64_t;

inline constexpr int kKeyBits = 64;
// Keys below this are looked up in a table.
inline constexpr Key kDirect = Key{1} << 20;

// Neighbouring keys come to distant slots.
inline std::size_t slot_of(Key key, int shift) {
    return static_cast<std::size_t>(((key ^ (key >> 32)) * 0x9e3779b97f4a7c15u) >> shift);
}

// Slots for so many keys: at least twice as many, a power of two.
inline std::size_t slots_for(std::size_t keys) { return std::bit_ceil(std::max<std::size_t>(2 * keys, 16)); }
inline int shift_for(std::size_t slots) { return kKeyBits - std::countr_zero(slots); }

// A set of keys that grows. Those below a limit are marked in a table.
class SeenKeys {
   public:
    void insert(Key key) {
        if (key < kDirect) {
            if (key >= marks_.size()) marks_.resize(std::bit_ceil(key + 1));
            marks_[key] = 1;
            return;
        }
        if (2 * (keys_.size() + 1) > slots_.size()) grow();
        for (std::size_t slot = slot_of(key, shift_);; slot = (slot + 1) & (slots_.size() - 1)) {
            if (slots_[slot] == 0) {
                keys_.push_back(key);
                slots_[slot] = keys_.size();
                return;
            }
            if (keys_[slots_[slot] - 1] == key) return;
        }
    }
    void insert(const SeenKeys& other) {
        if (marks_.size() < other.marks_.size()) marks_.resize(other.marks_.size());
        for (std::size_t key = 0; key < other.marks_.size(); ++key) marks_[key] |= other.marks_[key];
        for (const Key key : other.keys_) insert(key);
    }
    std::vector<Key> sorted() const {
        std::vector<Key> all;
        for (std::size_t key = 0; key < marks_.size(); ++key) {
            if (marks_[key] != 0) all.push_back(key);
        }
        all.insert(all.end(), keys_.begin(), keys_.end());
        std::sort(all.begin(), all.end());
        return all;
    }

   private:
    void grow() {
        slots_.assign(slots_for(2 * keys_.size()), 0);
        shift_ = shift_for(slots_.size());
        for (std::size_t rank = 0; rank < keys_.size(); ++rank) {
            std::size_t slot = slot_of(keys_[rank], shift_);
            while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = rank + 1;
        }
    }
    std::vector<std::uint8_t> marks_;
    std::vector<Key> keys_;
    std::vector<std::size_t> slots_;  // 0: free, else a place among the keys, from 1
    int shift_ = 0;
};

}  // namespace mercer
