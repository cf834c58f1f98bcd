// What a run is told: TOML, or the words of a command line, one a line.
#include <sstream>

#include "host/frontend/configuration.hpp"
#include "host/frontend/tune_options.hpp"
#include "host/run/options.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace kilochain::fuzz {

std::vector<std::string> seeds() {
  return {
      file_of_source("examples/first_run.toml"),
      "num_chains = 16\nseed = 18446744073709551615\n[sampler]\nname = \"nuts\"\nmax_tree_depth = 6\n[target]\nname = "
      "\"gaussian\"\npreset = \"gauss2d_corr\"\nx = [1, [2]]\n",
      "--target\nfunnel\n--dim\n3\n--num-chains\n8\n--sampler=hmc\n--step-size\n0.1\n--save-warmup\n--quiet\n",
      "--target\ngaussian_mixture\n--means=-1; 1\n--init\nnormal:0.1\n--prior-only\nno\n--device\ncuda:1\n",
      "--target\nising\n--size\n8x8\n--sampler\ngibbs\n--seed\n-1\n--real\nfloat\n",
      "--target\nbanana\n--sampler\nhmc\n--over\nstep_size=0.01:1:log,num_steps=1:30\n--evaluations\n10\n"};
}

}  // namespace kilochain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kilochain;
  const std::string text(fuzz::text_of(bytes, size));
  fuzz::accept([&] { check(resolve(read_toml(fuzz::write(text)), {}).options); });
  std::vector<std::string> words;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) words.push_back(line.c_str());  // as systems end them
  fuzz::accept([&] {
    Arguments arguments = split_arguments(words);
    arguments.config.clear();  // any file of this machine
    check(read_configuration(arguments).options);
  });
  fuzz::accept([&] {
    if (split_arguments(words).config.empty()) cli::read_tune_configuration(words);
  });
  return 0;
}
