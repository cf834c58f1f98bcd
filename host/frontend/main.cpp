#include "host/frontend/program.hpp"

int main(int argc, char** argv) { return kilochain::cli::run_program(argc, argv); }
