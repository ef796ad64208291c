#include "mercer/plan.hpp"

#include <algorithm>
#include <stdexcept>

namespace mercer {

unsigned operands(Op op) {
    switch (op) {
#define MERCER_OP(name, uses, expression) \
    case Op::name:                        \
        return uses;
#include "mercer/ops.def"
#undef MERCER_OP
        case Op::inner:
        case Op::sqdist:
        case Op::value:
            break;
    }
    return kLeaf;
}

Plan::Plan(std::vector<Kind> leaves, std::vector<Instruction> tape, int registers, int rows, int result,
           std::vector<std::vector<double>> parameters)
    : leaves_(std::move(leaves)), uses_(leaves_.size()), tape_(std::move(tape)), rows_(rows), result_(result) {
    parameters.resize(std::max(parameters.size(), leaves_.size()));
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) uses_[leaf].parameters = std::move(parameters[leaf]);
    check(registers);
    for (std::size_t at = 0; at < tape_.size(); ++at) {
        tape_[at].origin = static_cast<int>(at);
        if (tape_[at].op == Op::sqdist) uses_[static_cast<std::size_t>(tape_[at].a)].centred = true;
    }
    fuse_gaussians();
    absorb_affine();
    std::vector<int> readings(leaves_.size(), 0);
    for (const Instruction& step : tape_) {
        if (reads_leaf(step.op)) ++readings[static_cast<std::size_t>(step.a)];
    }
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
        uses_[leaf].read_once = readings[leaf] == 1;
        uses_[leaf].apart = std::none_of(tape_.begin(), tape_.end(), [&](const Instruction& step) {
            return reads_leaf(step.op) && static_cast<std::size_t>(step.a) == leaf && step.op != Op::sqdist;
        });
    }
    reuse_slots(registers);
}

void Plan::check(int registers) const {
    std::vector<bool> written(static_cast<std::size_t>(std::max(registers, 0)), false);
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
        if (uses_[leaf].parameters.size() != row_of(leaves_[leaf]).parameters)
            throw std::invalid_argument("plan: a leaf has the wrong number of parameters");
    }
    const auto is_written = [&](int r) { return r >= 0 && r < registers && written[static_cast<std::size_t>(r)]; };
    for (const Instruction& step : tape_) {
        if (step.out < 0 || step.out >= registers || written[static_cast<std::size_t>(step.out)])
            throw std::invalid_argument("plan: every register is written once");
        if (reads_leaf(step.op)) {
            if (step.a < 0 || static_cast<std::size_t>(step.a) >= leaves_.size())
                throw std::invalid_argument("plan: no such leaf");
            const Reading reading = row_of(leaves_[static_cast<std::size_t>(step.a)]).reading;
            if ((reading == Reading::value) != (step.op == Op::value))
                throw std::invalid_argument("plan: this leaf has no such reading");
        }
        const unsigned uses = operands(step.op);
        if (((uses & kA) && !is_written(step.a)) || ((uses & kB) && !is_written(step.b)))
            throw std::invalid_argument("plan: a register is read before it is written");
        if ((uses & kR) && (step.b < 0 || step.b >= rows_)) throw std::invalid_argument("plan: no such row register");
        written[static_cast<std::size_t>(step.out)] = true;
    }
    if (!is_written(result_)) throw std::invalid_argument("plan: the result is never written");
}

// How many instructions read a register; the result is read once more.
std::ptrdiff_t Plan::readers(int reg) const {
    const auto reads = [&](const Instruction& step) {
        const unsigned uses = operands(step.op);
        return ((uses & kA) && step.a == reg) || ((uses & kB) && step.b == reg);
    };
    return std::count_if(tape_.begin(), tape_.end(), reads) + (reg == result_ ? 1 : 0);
}

// An affine map whose only reader reads it as its first operand is done while that reads: one pass over the tile less.
void Plan::absorb_affine() {
    for (std::size_t at = 0; at < tape_.size();) {
        const Instruction affine = tape_[at++];
        if (affine.op != Op::affine || affine.scale != 1.0 || affine.offset != 0.0 || readers(affine.out) != 1)
            continue;
        const auto reader = std::find_if(tape_.begin(), tape_.end(), [&](const Instruction& step) {
            const unsigned uses = operands(step.op);
            return (uses & kA) && step.a == affine.out && !((uses & kB) && step.b == affine.out);
        });
        if (reader == tape_.end()) continue;
        reader->a = affine.a;
        reader->scale = affine.s;
        reader->offset = affine.t;
        tape_.erase(tape_.begin() + static_cast<std::ptrdiff_t>(--at));
    }
}

// exp(s * |x - z|^2) alone on its leaf: three instructions become one reading of a gaussian leaf.
void Plan::fuse_gaussians() {
    const auto writer = [&](int reg) {
        return std::find_if(tape_.begin(), tape_.end(), [&](const Instruction& step) { return step.out == reg; });
    };
    const auto readings = [&](int leaf) {
        return std::count_if(tape_.begin(), tape_.end(),
                             [&](const Instruction& step) { return reads_leaf(step.op) && step.a == leaf; });
    };
    for (std::size_t at = 0; at < tape_.size(); ++at) {
        if (tape_[at].op != Op::exp && tape_[at].op != Op::decay) continue;
        const auto scaling = writer(tape_[at].a);
        if (scaling->op != Op::affine || scaling->s >= 0.0 || scaling->t != 0.0 || readers(scaling->out) != 1) continue;
        const auto distance = writer(scaling->a);
        if (distance->op != Op::sqdist || readers(distance->out) != 1 || readings(distance->a) != 1) continue;
        LeafUse& use = uses_[static_cast<std::size_t>(distance->a)];
        use.gaussian = true;
        use.scale = scaling->s;
        tape_[at] = Instruction{Op::sqdist, tape_[at].out, distance->a, -1, 0.0, 0.0, tape_[at].origin};
        const int gone_scaling = scaling->out;
        const int gone_distance = distance->out;
        std::erase_if(tape_,
                      [&](const Instruction& step) { return step.out == gone_scaling || step.out == gone_distance; });
        at = 0;
    }
}

// Elementwise instructions may write where they read, so a slot is free again at its last reader.
void Plan::reuse_slots(int registers) {
    std::vector<std::size_t> last(static_cast<std::size_t>(registers), 0);
    const auto touch = [&](int reg, std::size_t at) { last[static_cast<std::size_t>(reg)] = at; };
    for (std::size_t at = 0; at < tape_.size(); ++at) {
        const unsigned uses = operands(tape_[at].op);
        if (uses & kA) touch(tape_[at].a, at);
        if (uses & kB) touch(tape_[at].b, at);
    }
    touch(result_, tape_.size());
    std::vector<int> slot(static_cast<std::size_t>(registers), -1);
    std::vector<int> free;
    for (std::size_t at = 0; at < tape_.size(); ++at) {
        Instruction& step = tape_[at];
        const unsigned uses = operands(step.op);
        const auto rename = [&](int& reg) {
            const int old = reg;
            reg = slot[static_cast<std::size_t>(old)];
            if (last[static_cast<std::size_t>(old)] == at && std::find(free.begin(), free.end(), reg) == free.end())
                free.push_back(reg);
        };
        if (uses & kA) rename(step.a);
        if (uses & kB) rename(step.b);
        const int old = step.out;
        if (free.empty()) {
            step.out = slots_++;
        } else {
            step.out = free.back();
            free.pop_back();
        }
        slot[static_cast<std::size_t>(old)] = step.out;
    }
    result_ = slot[static_cast<std::size_t>(result_)];
}

}  // namespace mercer
