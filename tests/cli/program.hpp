// Runs the built program as a user does: arguments in; exit status, standard output and standard error out.
#pragma once
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/scratch_files.hpp"

namespace kilochain::testing_support {

using Argv = std::vector<std::string>;

/// A program under way; its output goes to files, so that it never waits for a reader.
class Program {
 public:
  Program(const ScratchFiles& files, Argv arguments) : files_(files) {
    arguments.insert(arguments.begin(), KILOCHAIN_BINARY_DIR "/kilochain");
    std::vector<char*> argv;
    for (std::string& word : arguments) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::string out = files.path("stdout"), err = files.path("stderr");
    pid_ = fork();
    if (pid_ == 0) {
      // An interactive shell's Ctrl-C: not ignored, as it is for background jobs.
      signal(SIGINT, SIG_DFL);
      dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), 1);
      dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), 2);
      execv(argv[0], argv.data());
      _exit(127);
    }
  }
  ~Program() {
    if (status_ < 0) kill(pid_, SIGKILL), wait();
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void send(int signal_number) const { kill(pid_, signal_number); }
  pid_t pid() const { return pid_; }
  bool running() {
    int raw = 0;
    if (status_ >= 0) return false;
    if (waitpid(pid_, &raw, WNOHANG) == 0) return true;
    finished(raw);
    return false;
  }
  /// The exit status, or 1000 + the signal that killed it.
  int wait() {
    int raw = 0;
    if (status_ < 0 && waitpid(pid_, &raw, 0) == pid_) finished(raw);
    return status_;
  }
  std::string out() const { return files_.read("stdout"); }
  std::string err() const { return files_.read("stderr"); }

 private:
  void finished(int raw) { status_ = WIFEXITED(raw) ? WEXITSTATUS(raw) : 1000 + WTERMSIG(raw); }
  const ScratchFiles& files_;
  pid_t pid_ = -1;
  int status_ = -1;
};

struct Outcome {
  int status;
  std::string out, err;
};

inline Outcome kilochain(const ScratchFiles& files, const Argv& arguments) {
  Program program(files, arguments);
  const int status = program.wait();
  return {status, program.out(), program.err()};
}

/// Until `done()` or the program's end; false when it ended first. The whole test's time limit is ctest's.
inline bool wait_until(Program& program, const std::function<bool()>& done) {
  while (program.running()) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

/// How often a word stands in what the program has said on standard error: a phase's second line comes seconds after
/// its first.
inline int times_said(const Program& program, const std::string& word) {
  int count = 0;
  const std::string told = program.err();
  for (std::size_t at = told.find(word); at != std::string::npos; at = told.find(word, at + 1)) ++count;
  return count;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A refusal: this status, nothing on standard output, and exactly this line on standard error.
inline void expect_refusal(const ScratchFiles& files, const Argv& arguments, int status, const std::string& text) {
  const Outcome o = kilochain(files, arguments);
  EXPECT_EQ(o.status, status) << o.err;
  EXPECT_EQ(o.out, "");
  EXPECT_EQ(o.err, "kilochain: " + text + "\n");
}

inline std::vector<std::string> keys_of(const nlohmann::json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  return keys;  // sorted: nlohmann's objects are
}

}  // namespace kilochain::testing_support
