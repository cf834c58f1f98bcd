// A policy is a list of settings of which a sampler draws one at random for each iteration: read from a CSV file, a
// header that names the settings and a row for each of them.
#pragma once
#include <string>
#include <vector>

#include "kernels/policy.hpp"

namespace kilochain {

/// The numbers of `path` by column of `columns`, (rows, count); `has` says which columns it holds. Throws Error
/// (data) for what read_csv refuses, a column that is none of these, a value out of range, and more than most_rows
/// rows; `owner` begins the messages.
std::vector<double> read_policy_rows(const std::string& owner, const std::string& path, const PolicyColumn* columns,
                                     int count, int most_rows, bool* has);

template <int N>
Policy<N> read_policy(const std::string& owner, const std::string& path, const PolicyColumns<N>& columns) {
  Policy<N> out;
  const auto rows = read_policy_rows(owner, path, columns.column, N, Policy<N>::most_rows, out.has);
  out.rows = static_cast<std::int32_t>(rows.size() / N);
  for (std::size_t k = 0; k < rows.size(); ++k) out.value[k / N][k % N] = rows[k];
  return out;
}

}  // namespace kilochain
