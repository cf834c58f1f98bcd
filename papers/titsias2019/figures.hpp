// The data behind the paper's figures 1 to 7, from one chain of each scheme; tools/plot_titsias2019.py draws them.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "papers/titsias2019/repeats.hpp"

namespace kilochain::titsias2019 {

/// Which of the schemes of figures 3 to 6 are run.
using KeepRow = std::function<bool(const PaperRow&)>;

/// What figure 1..7 shows, numbers to five digits. `labels`: as
/// setup_of takes it, for figures 6 and 7. Empty when `stop` became true. Throws Error when data are missing.
nlohmann::json figure_data(int figure, const DataFolder& data, const std::string& labels, const KeepRow& keep,
                           std::uint64_t seed, const std::atomic<bool>& stop, const std::function<void(double)>& tick);
/// About how long that takes on one core.
double figure_seconds(int figure);

}  // namespace kilochain::titsias2019
