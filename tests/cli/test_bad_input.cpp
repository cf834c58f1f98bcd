// Each wrong input that a user can give to `kilochain sample`: its exit status and its message, word for word.
#include "host/registry/registry.hpp"
#include "tests/cli/program.hpp"

namespace kilochain {
namespace {

using namespace testing_support;

/// Runs a small logistic regression on a file; expects a refusal whose message begins with the file's name.
void refuses_csv(const std::string& bytes, const std::string& text, const Argv& more = {}, int status = 3) {
  ScratchFiles files;
  const std::string path = files.write("data.csv", bytes);
  Argv words = {"sample",       "--target", "logistic_regression", "--data", path, "--num-chains", "2",
                "--num-warmup", "2",        "--num-samples",       "2"};
  words.insert(words.end(), more.begin(), more.end());
  expect_refusal(files, words, status, path + text);
}

TEST(BadInput, MissingFile) {
  ScratchFiles files;
  const Outcome o = kilochain(files, {"sample", "--target", "logistic_regression", "--data", files.path("none.csv")});
  EXPECT_EQ(o.status, 3);
  EXPECT_EQ(o.err.rfind("kilochain: " + files.path("none.csv") + ": ", 0), 0u) << o.err;
}
TEST(BadInput, EmptyFile) { refuses_csv("", ": the file is empty (0 bytes). Is this the right file?"); }
TEST(BadInput, RaggedRow) {
  refuses_csv("a,b,y\n1,2,0\n1,2\n",
              ": a row has the wrong number of fields (line 3 has 2, line 1 has 3). Repair or remove the row?");
}
TEST(BadInput, TextForANumber) {
  refuses_csv("a,b,y\n1,2,0\n1,abc,1\n",
              ": \"abc\" is not a number (line 3, column 2 \"b\"). Remove the row or write a number?");
}
TEST(BadInput, NotANumber) {
  refuses_csv("a,b,y\n1,2,0\n1,nan,1\n",
              ": \"nan\" is not a finite number (line 3, column 2 \"b\"). Write a number, or leave such rows out with "
              "--missing "
              "drop?");
}
TEST(BadInput, Infinity) {
  refuses_csv("a,b,y\n1,2,0\n-inf,3,1\n",
              ": \"-inf\" is not a finite number (line 3, column 1 \"a\"). Remove the row or write a number?");
}
TEST(BadInput, LabelNotZeroOrOne) {
  refuses_csv(
      "a,b,y\n1,2,0\n2,3,2\n",
      ": a label is not 0 or 1 (2 in line 3, column \"y\"). Say which label counts as 1, as in --positive 2, or name "
      "the label's column?");
}
TEST(BadInput, ConstantColumn) {
  refuses_csv("a,b,y\n1,2,0\n2,2,1\n",
              ": a column is constant and cannot be standardised (column \"b\" is 2 in all 2 rows). Remove the column, "
              "or do not standardise?");
}
TEST(BadInput, UnknownLabelColumn) {
  refuses_csv("a,b,y\n1,2,0\n2,3,1\n",
              ": there is no column \"z\" (its 3 columns begin with \"a\"). Which of them is meant?", {"--label", "z"},
              2);
}

// Big-endian header of an IDX file: magic, sizes.
std::string idx(std::uint32_t magic, const std::vector<std::uint32_t>& sizes, const std::string& body) {
  std::string out;
  const auto word = [&](std::uint32_t v) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(v >> shift & 255);
  };
  word(magic);
  for (const std::uint32_t s : sizes) word(s);
  return out + body;
}

void refuses_idx(const std::function<std::string(ScratchFiles&)>& images, const std::string& text) {
  ScratchFiles files;
  const std::string image_path = images(files), label_path = files.write("labels", idx(0x801, {4}, "\5\6\5\6"));
  const Outcome o = kilochain(files, {"sample", "--target", "logistic_regression", "--images", image_path, "--labels",
                                      label_path, "--digits", "5,6"});
  EXPECT_EQ(o.status, 3) << o.err;
  EXPECT_EQ(o.out, "");
  // How many bytes come out of a torn stream is zlib's matter: such a text ends with the parenthesis.
  if (text.back() == '(')
    EXPECT_EQ(o.err.rfind("kilochain: " + image_path + text, 0), 0u) << o.err;
  else
    EXPECT_EQ(o.err, "kilochain: " + image_path + text + "\n");
}

TEST(BadInput, IdxWrongMagic) {
  refuses_idx(
      [](ScratchFiles& f) {
        return f.write("images", idx(0x802, {4, 2, 2}, std::string(16, 'a')));
      },
      ": wrong magic number for IDX images (got 2050, expected 2051). Is this an IDX file?");
}
TEST(BadInput, IdxShortBody) {
  refuses_idx(
      [](ScratchFiles& f) {
        return f.write("images", idx(0x803, {4, 2, 2}, std::string(15, 'a')));
      },
      ": the IDX file is too short (got 15 bytes of images, expected 16). Fetch the file again?");
}
TEST(BadInput, IdxTruncatedGzip) {
  refuses_idx(
      [](ScratchFiles& f) {
        std::string body;  // not so regular that the stream has no middle
        for (int i = 0; i < 4 * 30 * 30; ++i) body += static_cast<char>(i * 2654435761u >> 13 & 255);
        f.write_gzipped("whole", idx(0x803, {4, 30, 30}, body));
        const std::string whole = f.read("whole");
        return f.write("images", whole.substr(0, whole.size() / 2));
      },
      ": the gzip stream is truncated (");
}

TEST(BadInput, CovarianceAndMeanDiffer) {
  ScratchFiles files;
  const std::string mean = files.write("mean", "1\n2\n3\n"), covariance = files.write("covariance", "1,0\n0,1\n");
  expect_refusal(files, {"sample", "--target", "gaussian", "--mean", mean, "--covariance", covariance}, 3,
                 "gaussian: mean and covariance differ in dimension (mean 3 in " + mean + ", covariance 2 x 2 in " +
                     covariance + "). Do both files describe the same variables?");
}
TEST(BadInput, CovarianceNotPositiveDefinite) {
  ScratchFiles files;
  const std::string covariance = files.write("covariance", "1,2\n2,1\n");
  expect_refusal(files, {"sample", "--target", "gaussian", "--covariance", covariance}, 3,
                 "gaussian: the covariance is not positive definite (smallest eigenvalue -1.000000 in " + covariance +
                     "). Remove linearly dependent variables, or add a little to the diagonal?");
}

const Argv small = {"sample",       "--target", "gaussian",      "--preset", "gauss2d_corr", "--num-chains", "2",
                    "--num-warmup", "2",        "--num-samples", "2"};
void refuses(const ScratchFiles& files, const Argv& more, const std::string& text) {
  Argv words = small;
  words.insert(words.end(), more.begin(), more.end());
  expect_refusal(files, words, 2, text);
}

TEST(BadInput, Names) {
  ScratchFiles files;
  refuses(files, {"--sampler", "gad_mala_fats"},
          "unknown sampler \"gad_mala_fats\" (" + std::to_string(samplers().size()) +
              " samplers are registered). Did you mean gad_mala_fast? `kilochain samplers` lists all.");
  expect_refusal(files, {"sample", "--target", "gausian"}, 2,
                 "unknown target \"gausian\" (" + std::to_string(targets().size()) +
                     " targets are registered). Did you mean gaussian? `kilochain targets` lists all.");
  refuses(files, {"--sampler", "gad_mala_fast", "--beta-rat", "0.1"},
          "command line: unknown flag --beta-rat (sampler gad_mala_fast, target gaussian). Did you mean --beta-rate?");
  expect_refusal(
      files, {"sample", "--data", "x.csv"}, 2,
      "no target (command line: --data x.csv is given, but not what to do with it). Add --target logistic_regression?");
  const std::string toml = files.write("a.toml", "target = \"gaussian\"\nnum_chian = 3\n");
  expect_refusal(
      files, {"sample", toml}, 2,
      toml + " line 2: unknown key num_chian (sampler ensemble_hmc, target gaussian). Did you mean num_chains?");
}
TEST(BadInput, Ranges) {
  ScratchFiles files;
  expect_refusal(files, {"sample", "--target", "gaussian", "--num-chains", "-1"}, 2,
                 "command line: --num-chains = -1 (must be >= 0 and <= 16777216). Try 0?");
  refuses(files, {"--sampler", "gad_mala_fast", "--target-accept", "1.5"},
          "command line: gad_mala_fast: target_accept = 1.5 (must be > 0 and < 1). Try 0.5?");
  // Before the data, which do not exist, are read, and with file and line.
  const std::string toml =
      files.write("b.toml", "target = \"logistic_regression\"\ndata = \"none.csv\"\n[sampler]\ntarget_accept = 1.5\n");
  expect_refusal(files, {"sample", toml}, 2,
                 toml + " line 4: ensemble_hmc: target_accept = 1.5 (must be > 0 and < 1). Try 0.5?");
  refuses(files, {"--thin", "3"},
          "thin = 3 (num_samples is 2, so no draw would be kept). Use a smaller --thin or a larger --num-samples?");
  refuses(files, {"--device", "gpu"}, "device = gpu (must be auto, cpu, cuda or cuda:K). Try --device auto?");
}
TEST(BadInput, OutputIsTriedBeforeSampling) {
  ScratchFiles files;
  const std::string path = files.path("no/such/folder/out.nc");
  const Outcome o = kilochain(files, {"sample", "--target", "gaussian", "--preset", "gauss2d_corr", "--output", path});
  EXPECT_EQ(o.status, 2) << o.err;
  EXPECT_EQ(o.err.rfind("kilochain: " + path, 0), 0u) << o.err;
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << "no progress, hence no sampling: " << o.err;
}
TEST(BadInput, SummaryOfWhatIsNoDraws) {
  ScratchFiles files;
  const std::string text = files.write("a.nc", "not NetCDF");
  for (const std::string& path : {files.path("none.nc"), text}) {
    const Outcome o = kilochain(files, {"summary", path});
    EXPECT_EQ(o.status, 3) << o.err;
    EXPECT_TRUE(contains(o.err, path)) << o.err;
    EXPECT_EQ(o.out, "");
  }
}

/// Latin-1: what is written is refused before the run, with its place; what is left out may be anything.
TEST(BadInput, BytesThatAreNotUtf8) {
  ScratchFiles files;
  const auto refused = [&](const char* target, const std::string& path, const Argv& more, int status,
                           const std::string& text) {
    Argv words = {"sample", "--target", target, "--data", path, "--output", files.path("o.nc")};
    words.insert(words.end(), more.begin(), more.end());
    expect_refusal(files, words, status, text);
  };
  const std::string write = " Write the table as UTF-8, as with iconv -f LATIN1 -t UTF-8?", bad = "\xEF\xBF\xBD";
  const std::string names = files.write("names.csv", "d\xE9j\xE0,x,y\n1,2,0\n2,1,1\n3,5,0\n");
  refused("logistic_regression", names, {}, 3,
          names + ": \"d" + bad + "j" + bad + "\" is not UTF-8 (line 1, column 1)." + write);
  const std::string classes = files.write("classes.csv", "x,y\n1,the\n2,caf\xE9\n3,the\n");
  refused("softmax_regression", classes, {}, 3,
          classes + ": \"caf" + bad + "\" is not UTF-8 (line 3, column 2 \"y\")." + write);
  const std::string categories = files.write("groups.csv", "g,x,y\n\xC0,1,0\nb,2,1\n\xC0,3,0\nb,4,1\n");
  for (const char* setting : {"--groups", "--categories"})
    refused("logistic_regression", categories, {setting, "g"}, 3,
            categories + ": \"" + bad + "\" is not UTF-8 (line 2, column 1 \"g\")." + write);
  const Outcome left_out =
      kilochain(files, {"sample", "--target", "logistic_regression", "--data", categories, "--drop-columns", "g",
                        "--num-chains", "4", "--num-warmup", "20", "--num-samples", "20", "--json"});
  EXPECT_TRUE(left_out.status == 0 || left_out.status == 6) << left_out.err;
  const std::string file = files.write("\xE9.csv", "x,y\n1,0\n2,1\n3,0\n");
  expect_refusal(files, {"sample", "--target", "logistic_regression", "--data", file}, 2,
                 "data = " + files.path(bad + ".csv") +
                     " (its bytes are not UTF-8). Rename the file, or write the name as UTF-8?");
  expect_refusal(files, {"sample", "--target", "funnel", "--output", files.path("\xE9.nc")}, 2,
                 "output = " + files.path(bad + ".nc") +
                     " (its bytes are not UTF-8). Rename the file, or write the name as UTF-8?");
  // What UTF-8 has of it is as good as any other name, and longer forms than need be are none.
  const Outcome fine =
      kilochain(files, {"sample", "--target", "logistic_regression", "--data",
                        files.write("fine.csv", "d\xC3\xA9j\xC3\xA0 \xF0\x9F\x98\x80,y\n1,0\n2,1\n3,0\n4,1\n"),
                        "--num-chains", "4", "--num-warmup", "20", "--num-samples", "20", "--json"});
  EXPECT_TRUE(contains(fine.out, "d\xC3\xA9j\xC3\xA0 \xF0\x9F\x98\x80")) << fine.out << fine.err;
  const std::string longer = files.write("longer.csv", "a\xC0\xAF,y\n1,0\n2,1\n");
  refused("logistic_regression", longer, {}, 3,
          longer + ": \"a" + bad + bad + "\" is not UTF-8 (line 1, column 1)." + write);
}

}  // namespace
}  // namespace kilochain
