// Choices that a user makes by name and that reach the kernels, each with the one table of its names.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/settings.hpp"

namespace kilochain {

/// Type of positions, gradients and stored draws. Log densities and sums over observations are double in both.
enum class Precision : std::int32_t { single_precision, double_precision };
inline constexpr Names precision_names{"float", "double"};

template <class Real>
inline constexpr Precision precision_of = sizeof(Real) == 4 ? Precision::single_precision : Precision::double_precision;

inline const char* name_of(Precision p) { return precision_names.value[static_cast<int>(p)]; }
/// The precision of that name; empty when none has it.
inline std::optional<Precision> precision_named(std::string_view name) {
  for (const auto p : {Precision::single_precision, Precision::double_precision})
    if (name == name_of(p)) return p;
  return std::nullopt;
}
/// Bytes of one number.
inline std::size_t bytes_of(Precision p) { return p == Precision::single_precision ? sizeof(float) : sizeof(double); }

/// f(0.0F) or f(0.0): the one step from a precision chosen while running to a type.
template <class F>
decltype(auto) in_precision(Precision p, F&& f) {
  return p == Precision::single_precision ? f(0.0F) : f(0.0);
}

/// Whose signals teach an adaptation: each chain its own, or all chains the one that they share.
enum class Scope : std::int32_t { chain, pooled };
inline constexpr Names scope_names{"chain", "pooled"};

inline const char* name_of(Scope s) { return scope_names.value[static_cast<int>(s)]; }

}  // namespace kilochain
