! A Fortran program with the C library: a density of its own with data, its draws, an error as text. 0 when all is well.
module small_density
  use iso_c_binding
  implicit none
contains
  integer(c_int) function density(n, x, gradient, lp, user_data) bind(c)
    integer(c_size_t), value :: n
    real(c_double), intent(in) :: x(n)
    real(c_double), intent(out) :: gradient(n), lp
    type(c_ptr), value :: user_data
    real(c_double), pointer :: mean
    call c_f_pointer(user_data, mean)
    gradient = mean - x
    lp = -sum(gradient**2) / 2
    density = 0
  end function
end module

program small_program
  use iso_c_binding
  use small_density
  implicit none
  interface
    type(c_ptr) function kilochain_create() bind(c)
      import c_ptr
    end function
    subroutine kilochain_free(run) bind(c)
      import c_ptr
      type(c_ptr), value :: run
    end subroutine
    integer(c_int) function kilochain_set(run, key, text) bind(c)
      import c_ptr, c_int, c_char
      type(c_ptr), value :: run
      character(kind=c_char), intent(in) :: key(*), text(*)
    end function
    integer(c_int) function kilochain_set_density(run, f, n, names, user_data) bind(c)
      import c_ptr, c_int, c_size_t, c_funptr
      type(c_ptr), value :: run, names, user_data
      type(c_funptr), value :: f
      integer(c_size_t), value :: n
    end function
    integer(c_int) function kilochain_sample(run) bind(c)
      import c_ptr, c_int
      type(c_ptr), value :: run
    end function
    integer(c_size_t) function kilochain_num_draws(run) bind(c)
      import c_ptr, c_size_t
      type(c_ptr), value :: run
    end function
    type(c_ptr) function kilochain_draws(run) bind(c)
      import c_ptr
      type(c_ptr), value :: run
    end function
    real(c_double) function kilochain_figure(run, k, figure) bind(c)
      import c_ptr, c_size_t, c_double, c_char
      type(c_ptr), value :: run
      integer(c_size_t), value :: k
      character(kind=c_char), intent(in) :: figure(*)
    end function
  end interface
  type(c_ptr) :: run
  real(c_double), target :: mean = 3
  real(c_double), pointer :: draws(:, :, :)  ! value, draw, chain
  run = kilochain_create()
  if (kilochain_set_density(run, c_funloc(density), 2_c_size_t, c_null_ptr, c_loc(mean)) /= 0) stop 1
  call set("num_chains", "8")
  call set("sampler", "nuts")
  call set("adapt_scope", "chain")
  call set("num_warmup", "200")
  call set("num_samples", "400")
  if (kilochain_sample(run) /= 0) stop 2
  if (kilochain_num_draws(run) /= 400) stop 3
  call c_f_pointer(kilochain_draws(run), draws, [2, 400, 8])
  if (abs(sum(draws(1, :, :)) / 3200 - figure("mean")) > 1e-12) stop 4  ! 3 200 roundings
  if (abs(figure("mean") - mean) > 5 * figure("mcse_mean")) stop 5
  call set("num_chains", "none")
  if (kilochain_sample(run) /= 2) stop 6
  call kilochain_free(run)
contains
  subroutine set(key, text)
    character(*), intent(in) :: key, text
    if (kilochain_set(run, key // c_null_char, text // c_null_char) /= 0) stop 7
  end subroutine
  real(c_double) function figure(name)
    character(*), intent(in) :: name
    figure = kilochain_figure(run, 0_c_size_t, name // c_null_char)
  end function
end program
