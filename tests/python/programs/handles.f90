! Variables of the types that the module mpi_f08 declares.
module types
  use iso_c_binding
  type, bind(C) :: mpi_comm
    integer :: mpi_val
  end type
  type, bind(C) :: mpi_status
    integer :: mpi_source, mpi_tag, mpi_error
  end type
  interface
    subroutine stop_here() bind(C, name="stop")
    end subroutine
  end interface
end module

subroutine of_fortran() bind(C)
  use types
  type(mpi_comm) :: comm, comms(2)
  type(mpi_status) :: status
  integer :: old
  integer(kind=8) :: long
  integer :: old_status(3)
  comm%mpi_val = -3
  comms(1)%mpi_val = 41
  comms(2)%mpi_val = 42
  status%mpi_source = 7
  old = 5
  long = 6
  old_status = 8
  call stop_here()
  old = old + int(long) + comm%mpi_val + comms(1)%mpi_val + status%mpi_source + old_status(1)
end subroutine
