// Calls LLVMFuzzerTestOneInput where the compiler has no fuzzer: its seeds as they are, then KILOCHAIN_FUZZ_INPUTS
// (300) mutated ones, drawn from KILOCHAIN_FUZZ_SEED (1) and their number. Arguments are files to be tried in their
// place. What crashes, hangs for 60 s or throws anything but an Error is named by seed and number, and is a file then.
#include <fcntl.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iterator>
#include <random>

#include "tests/fuzz/fuzz.hpp"

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*)());

namespace kilochain::fuzz {
namespace {

std::string input, report = "fuzz_crash";
char message[200];

/// In a handler of signals: calls to the system alone.
void tell() {
  const int file = ::open(report.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
  const bool whole = ::write(file, input.data(), input.size()) == static_cast<ssize_t>(input.size());
  const bool told = ::write(2, message, strlen(message)) > 0;
  if (!whole || !told) _exit(2);
}
void on_signal(int) {
  tell();
  _exit(1);
}

constexpr std::size_t most_bytes = 20000;  ///< of what is mutated: longer seeds are tried as they are

std::string mutated(const std::vector<std::string>& from, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return n > 0 ? random() % n : 0; };
  static const char* const words[] = {"1e999",
                                      "-1",
                                      "0",
                                      "nan",
                                      "18446744073709551616",
                                      "9223372036854775807",
                                      "4294967295",
                                      ",",
                                      "\"",
                                      "\r\n",
                                      "[",
                                      "{",
                                      "}",
                                      "=",
                                      "\xff\xfe",
                                      "--",
                                      "1e-400",
                                      "."};
  std::string s = from[below(from.size())];
  for (auto left = 1 + below(6); left > 0; --left) {
    const std::size_t at = below(s.size() + 1), count = below(std::min<std::size_t>(s.size() - at, 40) + 1);
    switch (below(8)) {
      case 0:
        if (at < s.size()) s[at] = static_cast<char>(s[at] ^ (1 << below(8)));
        break;
      case 1:
        s.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 2:
        s.erase(at, count);
        break;
      case 3:
        s.insert(at, s.substr(at, count));
        break;
      case 4:
        s.replace(at, count, words[below(std::size(words))]);
        break;
      case 5:
        s.insert(at, below(200) == 0 ? 100000 : below(300), at < s.size() ? s[at] : '[');
        break;
      case 6:
        s.resize(at);
        break;
      default: {
        const std::string& other = from[below(from.size())];
        s = s.substr(0, at) + other.substr(below(other.size() + 1));
      }
    }
  }
  return s;
}

void try_one(std::string bytes, const std::string& name) {
  input = std::move(bytes);
  std::snprintf(message, sizeof message, "%s: the input is in the file %s\n", name.c_str(), report.c_str());
  alarm(60);
  try {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "threw %s\n", error.what());
    on_signal(0);
  }
}

std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace
}  // namespace kilochain::fuzz

int main(int argc, char** argv) {
  using namespace kilochain::fuzz;
  report = std::string(argv[0]).substr(std::string(argv[0]).rfind('/') + 1) + "_crash";
  static char stack[1 << 16];  // a stack that overflows is told of on another
  const stack_t other = {stack, 0, sizeof stack};
  sigaltstack(&other, nullptr);
  struct sigaction action = {};
  action.sa_handler = on_signal, action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM})
    if (!__sanitizer_set_death_callback || signal == SIGALRM || signal == SIGABRT) sigaction(signal, &action, nullptr);
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(tell);
  for (int k = 1; k < argc; ++k) {
    std::ifstream in(argv[k], std::ios::binary);
    try_one({std::istreambuf_iterator<char>(in), {}}, argv[k]);
  }
  if (argc > 1) return 0;
  const std::vector<std::string> from = seeds();
  const std::uint64_t inputs = number_in("KILOCHAIN_FUZZ_INPUTS", 300), seed = number_in("KILOCHAIN_FUZZ_SEED", 1);
  for (const std::string& s : from) try_one(s, "a seed");
  std::vector<std::string> small;
  std::copy_if(from.begin(), from.end(), std::back_inserter(small), [](auto& s) { return s.size() <= most_bytes; });
  for (std::uint64_t k = 0; k < inputs; ++k) {
    std::seed_seq both = {seed, k};
    std::mt19937_64 random(both);
    try_one(mutated(small, random), "seed " + std::to_string(seed) + ", input " + std::to_string(k));
  }
  std::printf("%zu seeds and %llu mutated inputs: every one was read or refused\n", from.size(),
              static_cast<unsigned long long>(inputs));
}
