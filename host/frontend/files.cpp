#include "host/frontend/files.hpp"

#include <fmt/format.h>

#include <fstream>

#include "base/error.hpp"

namespace kilochain::cli {

void make_folder(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  require(!failed && std::filesystem::is_directory(path), ExitStatus::usage,
          path.string() + ": no such folder, and it cannot be made",
          failed ? failed.message() : "something else has the name", "Name another with --output?");
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  require(file.good(), ExitStatus::output, path.string() + ": cannot be written", fmt::format("{} bytes", text.size()),
          "Is there room, and may you write there?");
}

}  // namespace kilochain::cli
