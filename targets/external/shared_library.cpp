#include "targets/shared_library.hpp"

#include <fstream>

#include "base/inputs.hpp"
#include "targets/external/functions.hpp"
#include "targets/external/shared_object.hpp"

namespace kilochain {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> out;
  if (path.empty()) return out;
  std::ifstream in(path);
  require(in.good(), ExitStatus::data, path + ": no such file of names", "it cannot be opened", "Is the path right?");
  note_file(path);
  for (std::string line; std::getline(in, line);) {
    require(line.find('\0') == line.npos, ExitStatus::data, path + ": this is no text", "a byte is zero",
            "Is it UTF-16? Write it as UTF-8?");
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (!line.empty()) out.push_back(line);
  }
  return out;
}

}  // namespace

template <class Real>
std::unique_ptr<Target<Real>> SharedLibrary<Real>::make(const Context& context, const Settings& s) {
  require(!s.library.empty(), ExitStatus::usage, "target shared_library has no library", "library is not set",
          "Give --library FILE.so?");
  const SharedObject library(s.library);
  note_file(s.library);
  const char* const fix = "Is it exported, under that name, as C has it? --function names another";
  FunctionDensity density;
  const auto find = [&](auto& function) {
    function = library.function<std::remove_pointer_t<std::remove_reference_t<decltype(function)>>>(s.function, fix);
  };
  if (s.batched == Batched::no) find(density.one);
  if (s.batched == Batched::yes) find(density.chains);
  if (s.batched == Batched::device) find(density.on_device);
  density.dim = static_cast<Index>(s.dim);
  density.names = lines_of(s.names);
  density.call_seconds = s.call_seconds;
  return function_target<Real>(context, s.library, density);
}

template struct SharedLibrary<float>;
template struct SharedLibrary<double>;

}  // namespace kilochain
