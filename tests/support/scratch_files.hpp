// Files that a test writes, gone when it ends; and the text of the Error that a call throws.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "tests/support/folders.hpp"

namespace kilochain::testing_support {

/// A folder of its own for the running test: tests run side by side, in processes of their own.
class ScratchFiles {
 public:
  ScratchFiles() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("kilochain_" + std::string(info->name()) + "_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~ScratchFiles() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ScratchFiles(const ScratchFiles&) = delete;
  ScratchFiles& operator=(const ScratchFiles&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string write_gzipped(const std::string& name, const std::string& bytes) const {
    gzFile file = gzopen(path(name).c_str(), "wb");
    EXPECT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())), static_cast<int>(bytes.size()));
    gzclose(file);
    return path(name);
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path folder_;
};

/// Expects `call()` to throw an Error with this status and exactly this text; "" in front of `text` stays out: the
/// path of the file that the message begins with is given as `prefix`.
template <typename Call>
void expect_error(Call&& call, ExitStatus status, const std::string& prefix, const std::string& text) {
  try {
    call();
    ADD_FAILURE() << "no error; expected: " << prefix << text;
  } catch (const Error& error) {
    EXPECT_EQ(prefix + text, error.what());
    EXPECT_EQ(static_cast<int>(status), static_cast<int>(error.status()));
  }
}

}  // namespace kilochain::testing_support
