# targets/stan/interface.cc is compiled by users' compilers, around each Stan program: the program carries its text.
kilochain_carry(targets/stan/interface.cc targets/stan/interface_text.hpp kilochain::stan interface_text)
target_link_libraries(kilochain_host PUBLIC ${CMAKE_DL_LIBS})
