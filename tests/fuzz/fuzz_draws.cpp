// Files of draws: what their attributes say (a line "name=text" each, over a file that is right), and the state of the
// chains. HDF5 itself ends the process on some files whose own bytes were changed, before a byte of ours is read.
#include <netcdf.h>

#include "host/draws/draws_file.hpp"
#include "host/run/run.hpp"
#include "host/run/run_state.hpp"
#include "tests/draws/draws_support.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace kilochain::fuzz {
namespace {

std::vector<char> state() {
  RunState out;
  out.chains = {{'a', 'b'}};
  return to_bytes(out);
}
/// The bytes of a whole file of draws.
std::string whole_file() {
  const std::string path = folder() + "/whole.nc";
  const DrawsHeader header = draws_support::make_header(2, 20, 3, Precision::double_precision);
  DrawsWriter writer(path, header, true);
  draws_support::write_run<double>(writer, header, 14);
  writer.save_state(state());
  writer.add_attributes({{"interrupted", 0}, {"quarantined", {1}}, {"sampling_time", 1.5}});
  writer.finish();
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::vector<std::string> seeds() {
  const std::vector<char> bytes = state();
  return {{bytes.begin(), bytes.end()},
          "variables=[[\"a\", 2], [\"b\", 0]]\ngroups={\"b\": \"posterior\"}\nfixed=[\"a[0]\"]\n",
          "configuration={\"sampler_settings\": {\"step_size\": \"0.1\"}}\ninputs=[[\"a.csv\", \"00\"]]\n",
          "num_chains=3\nreal=float\nkept_draws=moments\n",
          "stats=[\"energy\"]\nquarantined=[0, 1]\nthin=1e9\n",
          "real=float\n",
          "num_chains=1e300\n",
          "fixed=[1\n",
          "kilochain_draws_format=1\nnum_samples=-1\nseed=18446744073709551615\n"};
}

}  // namespace kilochain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kilochain;
  fuzz::accept([&] { run_state_of({bytes, bytes + size}, "state"); });
  static const std::string whole = fuzz::whole_file();
  const std::string path = fuzz::write(whole, "draws.nc");
  int file = -1;
  if (nc_open(path.c_str(), NC_WRITE, &file) != NC_NOERR) std::abort();
  nc_del_att(file, NC_GLOBAL, "header_hash");  // of what is about to change
  std::istringstream lines{std::string(fuzz::text_of(bytes, size))};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = std::min(line.find('='), line.size());
    const std::string name = line.substr(0, equals), text = line.substr(std::min(line.size(), equals + 1));
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (end != text.c_str() && *end == 0)
      nc_put_att_double(file, NC_GLOBAL, name.c_str(), NC_DOUBLE, 1, &number);
    else
      nc_put_att_text(file, NC_GLOBAL, name.c_str(), text.size(), text.data());
  }
  nc_close(file);
  fuzz::accept([&] { read_result(path); });
  fuzz::accept([&] { read_run_state(path); });
  return 0;
}
