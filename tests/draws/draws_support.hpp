// What the tests of draws on disk share: a run whose every number is known from its place, written and compared.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <functional>

#include "base/error.hpp"
#include "host/draws/draws_file.hpp"

namespace kilochain::draws_support {

/// A path of this test alone, removed at its end.
struct TemporaryFile {
  TemporaryFile() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path = (std::filesystem::temp_directory_path() /
            ("kilochain_" + std::to_string(::getpid()) + "_" + std::string(test->name()) + ".nc"))
               .string();
  }
  ~TemporaryFile() { std::filesystem::remove(path); }
  std::string path;
};

inline DrawsHeader make_header(std::int64_t num_chains, std::int64_t num_samples, std::int64_t dim, Precision real) {
  DrawsHeader header;
  header.target = "gaussian";
  header.sampler = "gad_mala_fast";
  header.num_chains = num_chains;
  header.num_warmup = 50;
  header.num_samples = num_samples;
  header.thin = 2;
  header.seed = 18446744073709551615u;  // beyond int64
  header.real = real;
  header.variable = "w";
  for (std::int64_t i = 0; i < dim; ++i) header.names.push_back("w[" + std::to_string(i) + "]");
  header.config = {{"step_size", 0.25}, {"adapt", {{"scope", "pooled"}, {"on", true}}}, {"list", {1, 2, 3}}};
  header.stats = {"step_size", "energy"};
  header.draws_per_append = 10;
  return header;
}

/// Every number of a run, as a function of its place.
inline double draw_value(std::int64_t chain, std::int64_t draw, std::int64_t i) {
  return std::sin(static_cast<double>(1 + chain + 1000 * draw + 1000000 * i));
}
inline double lp_value(std::int64_t chain, std::int64_t draw) { return -draw_value(chain, draw, 77); }
inline float stat_value(std::int64_t stat, std::int64_t chain, std::int64_t draw) {
  return static_cast<float>(draw_value(chain, draw, 100 + stat));
}
inline bool diverges(std::int64_t chain, std::int64_t draw) { return (chain + draw) % 7 == 0; }

inline std::vector<double> divergence_point(std::int64_t draw, std::int64_t dim) {
  std::vector<double> point;
  for (std::int64_t i = 0; i < dim; ++i) point.push_back(draw_value(0, draw, 500 + i));
  return point;
}

template <class Real>
struct Buffers {
  Buffers(const DrawsHeader& header, std::int64_t capacity)
      : header(header),
        capacity(capacity),
        dim(std::ssize(header.names)),
        draws(static_cast<std::size_t>(header.num_chains * capacity * dim)),
        lp(static_cast<std::size_t>(header.num_chains * capacity)),
        acceptance_rate(lp.size()),
        stats(lp.size() * header.stats.size()),
        diverging(lp.size()) {}

  Window<Real> fill(std::int64_t first, std::int64_t count) {
    for (std::int64_t c = 0; c < header.num_chains; ++c) {
      for (std::int64_t t = 0; t < count; ++t) {
        const auto at = static_cast<std::size_t>(c * capacity + t);
        for (std::int64_t i = 0; i < dim; ++i) {
          draws[at * static_cast<std::size_t>(dim) + static_cast<std::size_t>(i)] =
              static_cast<Real>(draw_value(c, first + t, i));
        }
        lp[at] = lp_value(c, first + t);
        acceptance_rate[at] = stat_value(2, c, first + t);
        diverging[at] = diverges(c, first + t);
        for (std::size_t s = 0; s < header.stats.size(); ++s) {
          stats[s * lp.size() + at] = stat_value(static_cast<std::int64_t>(s), c, first + t);
        }
      }
    }
    const Count chains = header.num_chains;
    Window<Real> window{{draws.data(), chains, capacity, dim},
                        {lp.data(), chains, capacity},
                        {acceptance_rate.data(), chains, capacity},
                        {diverging.data(), chains, capacity},
                        {stats.data(), std::ssize(header.stats), chains, capacity}};
    window.first = first, window.count = count;
    return window;
  }

  const DrawsHeader& header;
  std::int64_t capacity, dim;
  std::vector<Real> draws;
  std::vector<double> lp;
  std::vector<float> acceptance_rate, stats;
  std::vector<std::uint8_t> diverging;
};

/// Windows of 7 draws, which fit neither the chunks (10) nor the run (45).
template <class Real>
void write_run(DrawsWriter& writer, const DrawsHeader& header, std::int64_t num_draws) {
  Buffers<Real> buffers(header, 8);
  for (std::int64_t t = 0; t < num_draws; t += 7) {
    const std::int64_t count = std::min<std::int64_t>(7, num_draws - t);
    Window<Real> window = buffers.fill(t, count);
    for (std::int64_t k = t; k < t + count; ++k)  // of the first chain alone: a window need not keep all
      if (diverges(0, k)) window.divergences.push_back({0, k, divergence_point(k, std::ssize(header.names))});
    writer.append(window);
  }
}

/// Counts the numbers of a file that are not those of write_run.
template <class Real>
std::int64_t wrong_numbers(const DrawsReader& reader, std::int64_t group) {
  const DrawsHeader& header = reader.header();
  const std::int64_t num_draws = reader.draws_written(), dim = std::ssize(header.names);
  std::int64_t wrong = 0;
  std::vector<double> block;
  for (std::int64_t first = 0; first < dim; first += group) {
    const std::int64_t count = std::min(group, dim - first);
    reader.read_parameters(first, count, block);
    std::size_t at = 0;
    for (std::int64_t i = first; i < first + count; ++i) {
      for (std::int64_t c = 0; c < header.num_chains; ++c) {
        for (std::int64_t t = 0; t < num_draws; ++t) {
          wrong += block.at(at++) != static_cast<double>(static_cast<Real>(draw_value(c, t, i)));
        }
      }
    }
    wrong += at != block.size();
  }
  const auto lp = reader.lp();
  const auto rate = reader.stat("acceptance_rate"), energy = reader.stat("energy");
  for (std::int64_t c = 0; c < header.num_chains; ++c) {
    for (std::int64_t t = 0; t < num_draws; ++t) {
      const auto at = static_cast<std::size_t>(c * num_draws + t);
      wrong += lp.at(at) != lp_value(c, t);
      wrong += rate.at(at) != stat_value(2, c, t);
      wrong += energy.at(at) != stat_value(1, c, t);
    }
  }
  return wrong;
}

inline void expect_error(const std::function<void()>& body, ExitStatus status, const std::string& text) {
  try {
    body();
    ADD_FAILURE() << "no error, expected one with: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.status()), static_cast<int>(status)) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

}  // namespace kilochain::draws_support
