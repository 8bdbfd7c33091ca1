! Names of Fortran.
module mod
  type point
    integer(kind=8) :: m
    real(kind=8) :: n
  end type
contains
  subroutine proc(a)
    integer(kind=4) :: a
    a = a + 1
  end subroutine
end module

subroutine fortran()
  use mod
  type(point) :: p
  integer(kind=4) :: i
  i = 1
  p%m = 2
  p%n = 3
  call proc(i)
end subroutine
