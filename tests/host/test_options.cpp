// What a user writes, in flags and TOML, and the Options or the message that it becomes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "host/frontend/configuration.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::expect_error;
using testing_support::ScratchFiles;
using Words = std::vector<std::string>;

Configuration parse(const Words& words) { return read_configuration(split_arguments(words)); }
/// With a target, so that only what is tested is wrong.
Configuration gaussian(Words words) {
  words.insert(words.end(), {"--target", "gaussian"});
  return parse(words);
}
void refused(const Words& words, const std::string& text) {
  expect_error([&] { parse(words); }, ExitStatus::usage, "", text);
}
void refused_gaussian(const Words& words, const std::string& text) {
  expect_error([&] { gaussian(words); }, ExitStatus::usage, "", text);
}

TEST(Options, DefaultsAreThoseOfTheApi) {
  Options expected;
  expected.target = "gaussian";
  const Configuration c = gaussian({});
  EXPECT_EQ(to_json(c.options), to_json(expected));
  EXPECT_FALSE(c.quiet || c.verbose || c.json);
}

TEST(Options, EveryFlagReachesItsOption) {
  const Configuration c = gaussian({"--sampler",
                                    "gad_mala_fast",
                                    "--adapt-scope",
                                    "chain",
                                    "--init",
                                    "zeros",
                                    "--num-chains=64",
                                    "--num_warmup",
                                    "0",
                                    "--num-samples",
                                    "1e3",
                                    "--thin",
                                    "5",
                                    "--seed",
                                    "18446744073709551615",
                                    "--device",
                                    "cpu",
                                    "--real",
                                    "float",
                                    "--threads",
                                    "2",
                                    "--chain-batch-size",
                                    "32",
                                    "--draws",
                                    "moments",
                                    "--output",
                                    "a=b.nc",
                                    "--save-warmup",
                                    "--quiet",
                                    "yes",
                                    "--verbose=on",
                                    "--json",
                                    "--preset",
                                    "gauss2d_corr",
                                    "--target-accept",
                                    "0.5",
                                    "--sampler.beta-rate",
                                    "0.01"});
  const Options& o = c.options;
  EXPECT_EQ(o.adapt_scope, Scope::chain);
  EXPECT_EQ(o.init, "zeros");
  EXPECT_EQ(o.num_chains, 64);
  EXPECT_EQ(o.num_warmup, 0);
  EXPECT_EQ(o.num_samples, 1000);
  EXPECT_EQ(o.thin, 5);
  EXPECT_EQ(o.seed, 18446744073709551615u);
  EXPECT_EQ(o.device, "cpu");
  EXPECT_EQ(o.real, Precision::single_precision);
  EXPECT_EQ(o.threads, 2);
  EXPECT_EQ(o.chain_batch_size, 32);
  EXPECT_EQ(o.draws, KeptDraws::moments);
  EXPECT_EQ(o.output, "a=b.nc");
  EXPECT_TRUE(o.save_warmup && c.quiet && c.verbose && c.json);
  EXPECT_EQ(o.target_settings, (SettingTexts{{"preset", "gauss2d_corr"}}));
  EXPECT_EQ(o.sampler_settings, (SettingTexts{{"target_accept", "0.5"}, {"beta_rate", "0.01"}}));
}

TEST(Options, TheNumberOfChainsMayBeAutomatic) {
  EXPECT_EQ(gaussian({"--num-chains", "auto"}).options.num_chains, 0);
  EXPECT_EQ(gaussian({"--num-chains", "0"}).options.num_chains, 0);
}

TEST(Options, EnumerationsHaveTheirNames) {
  EXPECT_EQ(gaussian({"--adapt-scope", "pooled"}).options.adapt_scope, Scope::pooled);
  EXPECT_EQ(gaussian({"--real", "double"}).options.real, Precision::double_precision);
  EXPECT_EQ(gaussian({"--real", "auto"}).options.real, std::nullopt);
  EXPECT_EQ(gaussian({"--draws", "none"}).options.draws, KeptDraws::none);
  EXPECT_EQ(gaussian({"--num-warmup", "auto"}).options.num_warmup, std::nullopt);
  EXPECT_EQ(gaussian({"--num-samples", "auto"}).options.num_samples, std::nullopt);
}

// Every common key with a value of its own: as a flag and in TOML it must give the same, so none may be left out of
// either.
TEST(Options, TomlIsFlags) {
  ScratchFiles files;
  const std::map<std::string, std::string> values = {{"target", "gaussian"},
                                                     {"sampler", "gad_mala_fast"},
                                                     {"adapt_scope", "chain"},
                                                     {"init", "normal:2"},
                                                     {"num_chains", "7"},
                                                     {"num_warmup", "8"},
                                                     {"num_samples", "9"},
                                                     {"thin", "2"},
                                                     {"seed", "10"},
                                                     {"device", "cpu"},
                                                     {"real", "float"},
                                                     {"threads", "1"},
                                                     {"no_graphs", "true"},
                                                     {"chain_batch_size", "3"},
                                                     {"draws", "none"},
                                                     {"equal_modes", "one"},
                                                     {"output", "out.nc"},
                                                     {"max_seconds", "60"},
                                                     {"target_ess", "500"},
                                                     {"target_mcse", "0"},
                                                     {"superchains", "4"},
                                                     {"overwrite", "true"},
                                                     {"checkpoint_seconds", "30"},
                                                     {"save_warmup", "true"},
                                                     {"prior_only", "true"},
                                                     {"quiet", "true"},
                                                     {"verbose", "true"},
                                                     {"json", "true"},
                                                     {"preset", "neal_gaussian"},
                                                     {"learning_rate", "0.001"}};
  Words flags;
  std::string toml;
  for (const auto& [key, value] : values) {
    flags.insert(flags.end(), {flag_of(key), value});
    const bool bare = value == "true" || value.find_first_not_of("0123456789.") == std::string::npos;
    toml += key + " = " + (bare ? value : "\"" + value + "\"") + "\n";
  }
  for (const Key& key : common_keys())
    EXPECT_TRUE(values.count(key.info.name)) << key.info.name << " is missing in this test";
  const Configuration a = parse(flags), b = parse({files.write("a.toml", toml)});
  EXPECT_EQ(to_json(a.options), to_json(b.options));
  EXPECT_TRUE(a.quiet && a.verbose && a.json && b.quiet && b.verbose && b.json);
  EXPECT_NE(to_json(a.options), to_json(gaussian({}).options));
}

TEST(Options, TomlTablesAndTypes) {
  ScratchFiles files;
  const Options o =
      parse({files.write("a.toml",
                         "num-chains = 12\nnum_warmup = 'auto'\n[target]\nname = 'gaussian'\nmean = [1, 2.5, 'x']\n"
                         "[sampler]\nname = 'gad_mala_fast'\ntarget-accept = 0.574\n")})
          .options;
  EXPECT_EQ(o.num_chains, 12);
  EXPECT_EQ(o.num_warmup, std::nullopt);
  EXPECT_EQ(o.target, "gaussian");
  EXPECT_EQ(o.target_settings.at("mean"), "1,2.5,x");
  EXPECT_EQ(o.sampler_settings.at("target_accept"), "0.574");
}

TEST(Options, FlagsOverrideToml) {
  ScratchFiles files;
  const std::string path =
      files.write("a.toml", "num_chains = 12\nseed = 3\ntarget_accept = 0.4\ntarget = 'nothing_yet'\nquiet = true\n");
  const Configuration c = gaussian({"--num-chains", "5", path, "--sampler.target-accept", "0.6", "--quiet", "no"});
  EXPECT_EQ(c.options.num_chains, 5);
  EXPECT_EQ(c.options.seed, 3u);
  EXPECT_EQ(c.options.target, "gaussian");
  EXPECT_EQ(c.options.sampler_settings.at("target_accept"), "0.6");
  EXPECT_FALSE(c.quiet);
}

TEST(Options, RefusesWrongFlags) {
  refused_gaussian(
      {"--num-chain", "4"},
      "command line: unknown flag --num-chain (sampler ensemble_hmc, target gaussian). Did you mean --num-chains?");
  refused_gaussian({"--target-acept", "4"},
                   "command line: unknown flag --target-acept (sampler ensemble_hmc, target gaussian). Did you mean "
                   "--target-accept?");
  refused_gaussian({"--sampler", "gad_mala_fast", "--sampler.facto", "x"},
                   "command line: unknown flag --sampler.facto (sampler gad_mala_fast, target gaussian). Did you mean "
                   "--sampler.factor?");
  refused_gaussian({"--num-chains", "-5"}, "command line: --num-chains = -5 (must be >= 0 and <= 16777216). Try 0?");
  refused_gaussian({"--thin", "1.5"}, "command line: --thin = 1.5 (not a whole number). Try 1?");
  refused_gaussian({"--threads", "two"},
                   "command line: --threads = two (not a number). Write --threads = a number >= 0 and <= 4096?");
  refused_gaussian({"--seed", "-1"},
                   "command line: --seed = -1 (must be a whole number >= 0 and <= 18446744073709551615). Try 1?");
  refused_gaussian(
      {"--seed", "18446744073709551616"},
      "command line: --seed = 18446744073709551616 (must be a whole number >= 0 and <= 18446744073709551615). Try 1?");
  refused_gaussian({"--draws", "moment"},
                   "command line: --draws = moment (must be one of all|moments|none|energy). Did you mean moments?");
  refused_gaussian({"--json=perhaps"}, "command line: --json = perhaps (must be yes or no). Write --json = yes?");
  refused_gaussian({"--seed", "1", "--seed=2"}, "command line: --seed is given twice (1 and 2). Keep one?");
  refused_gaussian({"--sampler", "gad_mala_fast", "--beta-rate", "1", "--sampler.beta-rate", "2"},
                   "command line: --sampler.beta-rate is given twice (1 and 2). Keep one?");
  refused_gaussian({"--output="}, "command line: --output is empty (a text is needed). Leave it out?");
  refused_gaussian({"--output", "--json"},
                   "command line: --output has no value (followed by --json). Write --output VALUE?");
  refused({"--seed"}, "command line: --seed has no value (the last argument). Write --seed VALUE?");
  refused_gaussian({"--typo"},
                   "command line: unknown flag --typo (sampler ensemble_hmc, target gaussian). `kilochain sample "
                   "--help` says how to list all.");
  refused_gaussian(
      {"--chains", "4"},
      "command line: unknown flag --chains (sampler ensemble_hmc, target gaussian). Did you mean --num-chains?");
  refused_gaussian(
      {"-v"}, "command line: unknown flag -v (flags begin with two dashes). `kilochain sample --help` lists them.");
  refused({"a.toml", "b"},
          "command line: unexpected argument \"b\" (the configuration file is already a.toml). Is a -- missing in "
          "front of it?");
}

TEST(Options, RefusesUnknownNames) {
  refused({"--sampler", "gad_mala_fats", "--target", "gaussian"},
          "unknown sampler \"gad_mala_fats\" (" + std::to_string(samplers().size()) +
              " samplers are registered). Did you mean gad_mala_fast? `kilochain samplers` lists all.");
  refused({"--target", "gausian"},
          "unknown target \"gausian\" (" + std::to_string(targets().size()) +
              " targets are registered). Did you mean gaussian? `kilochain targets` lists all.");
}

TEST(Options, NoTargetSuggestsOne) {
  ScratchFiles files;
  const std::string toml = files.write("a.toml", "covariance = 'c.csv'\n");
  refused({toml}, "no target (" + toml +
                      " line 1: covariance c.csv is given, but not what to do with it). Add target = \"gaussian\"?");
  refused({},
          "no target (neither --target nor a TOML file names one). Try --target logistic_regression --data FILE.csv? "
          "`kilochain targets` lists all.");
  refused({"--covariance", "c.csv"},
          "no target (command line: --covariance c.csv is given, but not what to do with it). Add --target gaussian?");
}

TEST(Options, SettingOfAnotherTargetIsSaid) {
  TargetEntry other;
  other.name = "zz_of_this_test";
  other.settings = {{"degrees_of_freedom", "number", "5", "> 0", ""}, {"learning_rate", "number", "1", "", ""}};
  RegisterTarget registered(other);
  refused_gaussian({"--degrees-of-freedom", "3"},
                   "command line: unknown flag --degrees-of-freedom (a setting of target zz_of_this_test, but the "
                   "target is gaussian). "
                   "Use --target zz_of_this_test, or remove it?");
  refused(
      {"--sampler", "gad_mala_fast", "--target", "zz_of_this_test", "--learning-rate", "1"},
      "command line: --learning-rate is ambiguous (a setting of sampler gad_mala_fast and of target zz_of_this_test). "
      "Write --sampler.learning-rate or --target.learning-rate?");
  const Options o = parse({"--sampler", "gad_mala_fast", "--target", "zz_of_this_test", "--sampler.learning-rate", "1",
                           "--target.learning-rate", "2"})
                        .options;
  EXPECT_EQ(o.sampler_settings.at("learning_rate"), "1");
  EXPECT_EQ(o.target_settings.at("learning_rate"), "2");
}

TEST(Options, RefusesWrongToml) {
  ScratchFiles files;
  const std::string path = files.path("a.toml");
  const auto refused_toml = [&](const std::string& toml, const std::string& text) {
    files.write("a.toml", toml);
    expect_error([&] { parse({path}); }, ExitStatus::usage, path, text);
  };
  refused_toml("target = 'gaussian'\nnum_chian = 4\n",
               " line 2: unknown key num_chian (sampler ensemble_hmc, target gaussian). Did you mean num_chains?");
  refused_toml("target = 'gaussian'\n\nnum_chains = -1\n",
               " line 3: num_chains = -1 (must be >= 0 and <= 16777216). Try 0?");
  refused_toml("[other]\nx = 1\n", ": unknown table [other] (line 1). Use [sampler], [target] or no table?");
  refused_toml("seed = 1979-05-27\n", ": seed is a date or time (line 1). Write a text, a number, true or false?");
  refused_toml("init = [[1], [2]]\n",
               ": init is an array in an array (line 1). Write a text, a number, true or false?");
  refused_toml("[target]\nname = 'gaussian'\n[sampler]\nname = 'gad_mala_fast'\nbeta_rat = 1\n",
               " line 5: unknown key sampler.beta_rat (sampler gad_mala_fast, target gaussian). Did you mean "
               "sampler.beta_rate?");
  try {
    files.write("a.toml", "target = 'gaussian'\nnum_chains 5\n");
    parse({path});
    ADD_FAILURE();
  } catch (const Error& error) {  // the words are those of the TOML library
    EXPECT_EQ(std::string(error.what()).rfind(path + ": not TOML: ", 0), 0u) << error.what();
    EXPECT_NE(std::string(error.what()).find("(line 2, column "), std::string::npos) << error.what();
    EXPECT_EQ(error.status(), ExitStatus::usage);
  }
}

TEST(Options, RefusesFilesThatAreNone) {
  ScratchFiles files;
  const std::string end = " Is the path right? Flags begin with --, `kilochain sample --help` lists them.";
  refused({files.path("no.toml")}, files.path("no.toml") + ": no configuration can be read (no such file)." + end);
  refused({files.path("")}, files.path("") + ": no configuration can be read (a directory)." + end);
}

TEST(Options, HelpIsSeenAnywhere) {
  EXPECT_TRUE(split_arguments({"--num-chains", "4", "--help"}).help);
  EXPECT_TRUE(split_arguments({"-h"}).help);
  EXPECT_FALSE(split_arguments({"--num-chains", "4"}).help);
}

}  // namespace
}  // namespace kilochain
