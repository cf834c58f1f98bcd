// A thread of a kernel: a stack of its own, entered and left by a switch of registers. ucontext would do it portably
// but with two system calls a switch, 50 times the cost; it stands in where the registers are not x86-64's.
#pragma once
#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace kilochain::emulated {

#if defined(__x86_64__)
struct Fiber {
  void* top = nullptr;  ///< the stack's, with what a switch has put there
  /// The next switch to this fiber calls entry(), which never returns.
  void prepare(char* stack, std::size_t bytes, void (*entry)()) {
    auto* p = reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::uintptr_t>(stack + bytes) & ~std::uintptr_t(15));
    *--p = 0;  // entry's return address: none; with it the stack is aligned as after a call
    *--p = reinterpret_cast<std::uint64_t>(entry);
    for (int k = 0; k < 6; ++k) *--p = 0;  // rbp, rbx, r12 to r15
    top = p;
  }
};
extern "C" void kilochain_switch(void** from, void* to);
asm(R"(
.text
.globl kilochain_switch
.type kilochain_switch, @function
kilochain_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size kilochain_switch, .-kilochain_switch
)");
inline void switch_fibers(Fiber& from, Fiber& to) { kilochain_switch(&from.top, to.top); }
#else
struct Fiber {
  ucontext_t context;
  void prepare(char* stack, std::size_t bytes, void (*entry)()) {
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = bytes;
    context.uc_link = nullptr;
    makecontext(&context, entry, 0);
  }
};
inline void switch_fibers(Fiber& from, Fiber& to) { swapcontext(&from.context, &to.context); }
#endif

}  // namespace kilochain::emulated
