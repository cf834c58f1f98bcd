# One line per sampler: kilochain_add_sampler(file-name-in-kernels/samplers Type)
kilochain_add_sampler(gad_mala_fast GadMalaFast)
kilochain_add_sampler(barker Barker)
