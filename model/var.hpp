// A number on a tape: its value and its node. Operators and functions are those of duals; a density or a dot is one
// node, whatever it computes inside.
#pragma once
#include <tuple>
#include <type_traits>

#include "model/arrays.hpp"
#include "model/tape.hpp"

namespace kilochain {

template <class Base>
struct Var {
  Base v{};
  Index node = -1;  ///< -1: a number

  Var() = default;
  Var(double value) : v(value) {}  // a constant: implicit, as numbers are
  Var(const Base& value, Index at) : v(value), node(at) {}
  /// f of x, given f's value and derivative there.
  static Var of(const Var& x, const Base& f, const Base& slope) {
    if (x.node < 0) return {f, -1};
    return {f, Tape<Base>::current->add(x.node, slope)};
  }
  /// The same of two.
  static Var of(const Var& x, const Var& y, const Base& f, const Base& slope_x, const Base& slope_y) {
    if (x.node < 0 && y.node < 0) return {f, -1};
    return {f, Tape<Base>::current->add(x.node, slope_x, y.node, slope_y)};
  }
  /// The sum of weight[i] x[i], one node.
  template <class X>
  static Var sum(const double* weight, const X& x, Index n) {
    Tape<Base>& tape = *Tape<Base>::current;
    const std::size_t from = tape.waiting();
    Base f = 0.0;
    for (Index i = 0; i < n; ++i) {
      const Var term = x[i];  // may add nodes of its own: edges wait until all terms are there
      f += weight[i] * term.v;
      tape.wait(term.node, Base(weight[i]));
    }
    return {f, tape.result_of_waiting(from)};
  }

  friend Var operator-(const Var& a) { return of(a, -a.v, Base(-1.0)); }
  friend Var operator+(const Var& a, const Var& b) { return of(a, b, a.v + b.v, Base(1.0), Base(1.0)); }
  friend Var operator-(const Var& a, const Var& b) { return of(a, b, a.v - b.v, Base(1.0), Base(-1.0)); }
  friend Var operator*(const Var& a, const Var& b) { return of(a, b, a.v * b.v, b.v, a.v); }
  friend Var operator/(const Var& a, const Var& b) {
    const Base f = a.v / b.v, inverse = Base(1.0) / b.v;
    return of(a, b, f, inverse, -f * inverse);
  }
  // A number has no edge; adding one changes no derivative.
  friend Var operator+(const Var& a, double b) { return {a.v + b, a.node}; }
  friend Var operator-(const Var& a, double b) { return {a.v - b, a.node}; }
  friend Var operator*(const Var& a, double b) { return of(a, a.v * b, Base(b)); }
  friend Var operator/(const Var& a, double b) { return of(a, a.v / b, Base(1.0 / b)); }
  friend Var operator+(double a, const Var& b) { return {a + b.v, b.node}; }
  friend Var operator-(double a, const Var& b) { return of(b, a - b.v, Base(-1.0)); }
  friend Var operator*(double a, const Var& b) { return of(b, a * b.v, Base(a)); }
  friend Var operator/(double a, const Var& b) {
    const Base f = a / b.v;
    return of(b, f, -f / b.v);
  }
  template <class Other>
  Var& operator+=(const Other& o) {
    return *this = *this + o;
  }
  template <class Other>
  Var& operator-=(const Other& o) {
    return *this = *this - o;
  }
  template <class Other>
  Var& operator*=(const Other& o) {
    return *this = *this * o;
  }
  template <class Other>
  Var& operator/=(const Other& o) {
    return *this = *this / o;
  }
  friend bool operator<(const Var& a, const Var& b) { return a.v < b.v; }
  friend bool operator>(const Var& a, const Var& b) { return b.v < a.v; }
  friend bool operator<=(const Var& a, const Var& b) { return !(b.v < a.v); }
  friend bool operator>=(const Var& a, const Var& b) { return !(a.v < b.v); }
};

#define KILOCHAIN_VAR(NAME, VALUE, SLOPE) \
  template <class Base>                   \
  Var<Base> NAME(const Var<Base>& var) {  \
    const Base& x = var.v;                \
    const Base f = VALUE;                 \
    return Var<Base>::of(var, f, SLOPE);  \
  }
KILOCHAIN_FUNCTIONS_OF_ONE(KILOCHAIN_VAR)
#undef KILOCHAIN_VAR

template <class Base>
Var<Base> pow(const Var<Base>& x, double p) {
  return Var<Base>::of(x, pow(x.v, p), p * pow(x.v, p - 1));
}
template <class Base>
Var<Base> pow(const Var<Base>& x, const Var<Base>& p) {
  return exp(p * log(x));
}
template <class Base>
double value_of(const Var<Base>& x) {
  return value_of(x.v);
}

template <class T>
inline constexpr bool is_var = false;
template <class Base>
inline constexpr bool is_var<Var<Base>> = true;

/// f(arguments), some of which are Vars, as one node: its slopes come from duals. Much shorter a tape where f is long.
template <class F, class... A>
auto one_node(const F& f, const A&... arguments) {
  constexpr int vars = (0 + ... + static_cast<int>(is_var<A>));
  using V = std::common_type_t<A...>;
  using Base = decltype(V::v);
  int at = 0;
  const auto lift = [&](const auto& x) {
    if constexpr (is_var<std::remove_cvref_t<decltype(x)>>) {
      Dual<Base, vars> out;
      out.v = x.v;
      out.d[at++] = 1.0;
      return out;
    } else {
      return x;
    }
  };
  const Dual<Base, vars> y = std::apply(f, std::tuple{lift(arguments)...});
  Index node[vars];
  at = 0;
  const auto note = [&](const auto& x) {
    if constexpr (is_var<std::remove_cvref_t<decltype(x)>>) node[at++] = x.node;
  };
  (note(arguments), ...);
  Tape<Base>& tape = *Tape<Base>::current;
  if constexpr (vars == 1) {
    return V{y.v, tape.add(node[0], y.d[0])};
  } else if constexpr (vars == 2) {
    return V{y.v, tape.add(node[0], y.d[0], node[1], y.d[1])};
  } else {
    const std::size_t from = tape.waiting();
    for (int k = 0; k < vars; ++k) tape.wait(node[k], y.d[k]);
    return V{y.v, tape.result_of_waiting(from)};
  }
}

/// f(arguments), in one node where some are Vars.
template <class F, class... A>
KC_INLINE auto in_one_node(const F& f, const A&... arguments) {
  if constexpr ((is_var<A> || ...))
    return one_node(f, arguments...);
  else
    return f(arguments...);
}

template <class T>
requires is_var<T> T log1p_exp(const T& x) {
  return one_node([](const auto& u) { return log1p_exp(u); }, x);
}
template <class T>
requires is_var<T> T inv_logit(const T& x) {
  return one_node([](const auto& u) { return inv_logit(u); }, x);
}
template <class T>
requires is_var<T> T log_inv_logit(const T& x) {
  return one_node([](const auto& u) { return log_inv_logit(u); }, x);
}
template <class T>
requires is_var<T> T log_sum_exp(const T& a, const T& b) {
  return one_node([](const auto& u, const auto& v) { return log_sum_exp(u, v); }, a, b);
}

namespace tape_detail {
/// Whether x has elements 0 .. n - 1; true where it cannot be asked.
template <class X>
KC_INLINE bool has_elements([[maybe_unused]] const X& x, [[maybe_unused]] Index n) {
  if constexpr (requires { x.name, x.size(); }) {
    if (n <= x.size()) return true;
    static_cast<void>(model_detail::no_element(x.name, n - 1, x.size()));
    return false;
  }
  return true;
}
}  // namespace tape_detail

/// The sum of weight[i] x[i] over i < n: a linear predictor. x: what p.reals gave, which is quickest, or any array.
template <class X>
KC_INLINE auto dot(const double* weight, const X& x, Index n) {
  using T = std::remove_cvref_t<decltype(x[0])>;
  if (!tape_detail::has_elements(x, n)) return T(std::numeric_limits<double>::quiet_NaN());
  if constexpr (requires { x.weigh(weight, n); }) {
    return x.weigh(weight, n);
  } else if constexpr (is_var<T>) {
    return T::sum(weight, x, n);
  } else {
    T out = 0.0;
    for (Index i = 0; i < n; ++i) out += weight[i] * x[i];
    return out;
  }
}
/// The same of a row of data, as long as x.
template <class X>
KC_INLINE auto dot(const DataArray& weight, const X& x) {
  using T = std::remove_cvref_t<decltype(x[0])>;
  if (!model_detail::same_length(weight.name(), weight.size(), x.size()))
    return T(std::numeric_limits<double>::quiet_NaN());
  return dot(weight.data(), x, weight.size());
}
/// A local array: scalar_of<Parameters> x[N].
template <class T, int N>
KC_INLINE T dot(const DataArray& weight, const T (&x)[N]) {
  if (!model_detail::same_length(weight.name(), weight.size(), N)) return T(std::numeric_limits<double>::quiet_NaN());
  return dot(weight.data(), x, N);
}

}  // namespace kilochain
