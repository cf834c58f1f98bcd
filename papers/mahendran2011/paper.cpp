#include "papers/mahendran2011/paper.hpp"

namespace kilochain::mahendran2011 {

std::vector<Model> models(const papers::DataFolder& data) {
  const auto file = [&](const char* name) { return data.file(std::string("discrete/") + name); };
  return {
      {"2DGrid",
       "ising",
       {{"size", "60x60"}, {"beta", "0.44052863436123346"}, {"hamming", "1800"}},  // 1/2.27
       1,
       300,
       0.88,
       8486,
       {-4834, 0.772, 114, {{1, 0.94}, {10, 0.67}, {50, 0.39}, {100, 0.28}, {250, 0.18}}}},
      {"3DCube",
       "ising",
       {{"size", "9x9x9"}, {"couplings", file("ising3d-9x9x9-couplings.csv")}, {"beta", "1"}, {"hamming", "364"}},
       4,
       50,
       1.6,
       1682,
       {-1256, 0.30, 24, {{10, 0.75}}}},
      {"RBM",
       "rbm",
       {{"weights", file("rbm-weights-hidden500-visible784.npy")},
        {"hidden_bias", file("rbm-bias-hidden500.npy")},
        {"visible_bias", file("rbm-bias-visible784.npy")},
        {"hamming", "428"}},
       7,
       50,
       1.6,
       2200,
       {-5321, 0.35, 912, {}}},
  };
}

}  // namespace kilochain::mahendran2011
