// Tables of observations, matrices and policies: CSV, NumPy, gzipped or not.
#include <zlib.h>

#include "host/registry/policy_file.hpp"
#include "targets/data/dataset.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace kilochain::fuzz {
namespace {

std::string npy(const std::string& header, std::size_t numbers) {
  std::string out = "\x93NUMPY\x01";
  out += std::string(1, '\0') + static_cast<char>(header.size()) + std::string(1, '\0') + header;
  return out + std::string(8 * numbers, '\x3f');
}
std::string gzipped(const std::string& bytes) {
  const std::string path = folder() + "/seed.gz";
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string challenger = file_of_source("data/challenger.csv");
  return {challenger,
          gzipped(challenger),
          "\"a, b\",region,y\r\n1.5,\"north\",yes\r\n-2e3,south,no\r\nNA,north,yes\r\n7,\"we\"\"st\",no\r\n",
          "1,2,3\n4,5,6\n",
          "a,b\n1,2\n" + std::string(300000, '\n') + "3,4\n",
          std::string("a,\0b\n1,2\n", 9),
          "step_size,num_steps\n0.1,3\n0.5,10\n",
          npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n", 6),
          npy("{'descr': [('a', '<f8'), ('y', '<f8')], 'fortran_order': False, 'shape': (3,), }\n", 6)};
}

}  // namespace kilochain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kilochain;
  const std::string path = fuzz::write(fuzz::text_of(bytes, size));
  fuzz::accept([&] { read_csv(path); });
  fuzz::accept([&] { read_matrix(path); });
  fuzz::accept([&] { load_labelled_csv(path, {}, true, true); });
  fuzz::accept([&] { load_classified_csv(path, {}, true, false); });
  for (const Response response : {Response::number, Response::count})
    fuzz::accept([&] { load_measured_csv(path, {}, response, false, true); });
  TableRules rules{"y"};
  rules.positive = "yes", rules.categories = "region", rules.missing = Missing::drop;
  fuzz::accept([&] { load_labelled_csv(path, rules, true, true); });
  rules.positive = rules.categories = "", rules.groups = "region", rules.drop_columns = "a, b";
  fuzz::accept([&] { load_classified_csv(path, rules, true, true); });
  const PolicyColumn columns[] = {{"step_size", positive(), false}, {"num_steps", between(1, 1000), true}};
  bool has[2] = {};
  fuzz::accept([&] { read_policy_rows("policy", path, columns, 2, 1000, has); });
  return 0;
}
