// Compiled once for each sampler (cmake/Register.cmake): its CPU chains in both precisions, and its row in the registry.
#define KILOCHAIN_STRING2(x) #x
#define KILOCHAIN_STRING(x) KILOCHAIN_STRING2(x)
// clang-format off
#ifdef KILOCHAIN_HEADER  // of another project
#include KILOCHAIN_HEADER
#else
#include KILOCHAIN_STRING(kernels/samplers/KILOCHAIN_NAME.hpp)
#endif
// clang-format on

#include "host/chains/cpu_sampler.hpp"
#include "host/registry/registry.hpp"

namespace kilochain {
namespace {

const char* const name = KILOCHAIN_STRING(KILOCHAIN_NAME);

template <class Real>
std::unique_ptr<Sampler<Real>> make(const Context& context, const SettingTexts& texts, Index num_chains, Index dim,
                                    Scope scope) {
  using Move = KILOCHAIN_TYPE<Real>;
  return std::make_unique<CpuSampler<Move, Real>>(context, num_chains, dim, scope,
                                                  parse_settings<Move>(name, texts, scope == Scope::pooled));
}
template <class Real>
ChainBytes bytes(const SettingTexts& texts, Index num_chains, Index dim, Scope scope) {
  using Move = KILOCHAIN_TYPE<Real>;
  return chain_bytes<Move, Real, HostTeam::panel<Real>>(num_chains, dim, scope,
                                                        parse_settings<Move>(name, texts, scope == Scope::pooled));
}

template <class Move>
Needs most_needs(Needs at_start) {
  if constexpr (requires { Move::most_needs; })
    return Move::most_needs;
  else
    return at_start;
}

SamplerEntry entry() {
  using Move = KILOCHAIN_TYPE<double>;
  SamplerEntry e;
  e.name = name;
  e.meaning = Move::meaning;
  e.settings = describe_settings<Move>();
  e.stats.assign(Move::stat_names, Move::stat_names + Move::num_stats);
  e.adaptive = Move::adaptive;
  e.start_needs = Move::start_needs(typename Move::Settings{});
  e.most_needs = most_needs<Move>(e.start_needs);
  e.make_float = make<float>;
  e.make_double = make<double>;
  e.bytes = [](const Context&, const SettingTexts& t, Index c, Index n, Scope s, bool is_double) {
    return is_double ? bytes<double>(t, c, n, s) : bytes<float>(t, c, n, s);
  };
  return e;
}

const RegisterSampler registered(entry());

}  // namespace
}  // namespace kilochain
