! Two ranks that wait for each other in a procedure.
program recv
  use mpi
  integer :: rank, ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call exchange()
contains
  subroutine exchange()
    integer :: x
    call MPI_Recv(x, 1, MPI_INTEGER, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine
end program
