// The undo journal beside a file of draws whose writer was killed: what it says is undone, or refused, and then the
// file is read or refused.
#include <netcdf.h>

#include "host/draws/journal.hpp"
#include "host/run/run.hpp"
#include "tests/draws/draws_support.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace kilochain::fuzz {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
/// A file of draws in the middle of a change, and its journal.
struct HalfDone {
  std::string file, journal;
  HalfDone() {
    const std::string path = folder() + "/half.nc";
    const DrawsHeader header = draws_support::make_header(2, 20, 3, Precision::double_precision);
    {
      DrawsWriter writer(path, header, true);
      draws_support::write_run<double>(writer, header, 14);
      writer.finish();
    }
    int id = -1;
    if (nc_open(path.c_str(), NC_WRITE, &id) != NC_NOERR) std::abort();
    {
      Journal watching(path);
      for (int k = 0; k < 40; ++k) {
        const std::string name = "more_" + std::to_string(k);
        nc_put_att_text(id, NC_GLOBAL, name.c_str(), 100, std::string(100, 'x').c_str());
      }
      if (nc_sync(id) != NC_NOERR) std::abort();
      file = bytes_of(path), journal = bytes_of(path + ".journal");
      nc_close(id);
    }
  }
};
const HalfDone& half_done() {
  static const HalfDone once;
  return once;
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string& journal = half_done().journal;
  return {journal, journal.substr(0, journal.size() / 2), std::string(24, '\0'), std::string(24, '\xff'), ""};
}

}  // namespace kilochain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kilochain;
  const std::string path = fuzz::write(fuzz::half_done().file, "draws.nc");
  fuzz::write(fuzz::text_of(bytes, size), "draws.nc.journal");
  bool undone = false;
  fuzz::accept([&] {
    roll_back(path);
    undone = true;
  });
  if (undone) fuzz::accept([&] { read_result(path); });
  if (fuzz::text_of(bytes, size) == fuzz::half_done().journal) {  // as it was left: all is there again
    if (size < 100 || !undone) std::abort();
    read_result(path);
  }
  return 0;
}
