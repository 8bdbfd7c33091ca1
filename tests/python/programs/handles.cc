// Variables of MPI's types, as its libraries declare them, and a stop().
#include <cstdint>

// Open MPI
struct ompi_communicator_t;
typedef struct ompi_communicator_t *MPI_Comm;
struct ompi_request_t;
typedef struct ompi_request_t *MPI_Request;
struct ompi_status_public_t {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR, _cancelled;
    unsigned long _ucount;
};
typedef struct ompi_status_public_t MPI_Status;
// MPICH
typedef int MPI_Win;
struct ADIOI_FileD;
typedef struct ADIOI_FileD *MPI_File;
// the MPI-5 ABI
typedef struct MPI_ABI_Info *MPI_Info;

namespace user {
typedef MPI_Comm comm;
typedef const comm fixed;
struct halo {
    MPI_Comm comm;
    int n;
    MPI_Request requests[2];
};
struct mpi_status { // no status of MPI's
    int MPI_TAGS;
};
} // namespace user

static MPI_Comm address(long number) { return reinterpret_cast<MPI_Comm>(number); }

static MPI_Win of_file = -1;
MPI_Comm of_all = address(11);
int called;

MPI_Comm call() {
    called++;
    return of_all;
}

extern "C" void stop() { __builtin_trap(); }
extern "C" void of_fortran();

static int inner(const MPI_Comm &reference, user::fixed *pointer) {
    MPI_Comm comm = reference, unknown = address(0xdead);
    user::fixed fixed = comm;
    MPI_Request requests[3] = {};
    MPI_Status status = {1, 2, 3, 0, 0};
    MPI_File file = reinterpret_cast<MPI_File>(21);
    MPI_Info info = reinterpret_cast<MPI_Info>(22);
    user::halo halo = {address(31), 2, {reinterpret_cast<MPI_Request>(32), nullptr}};
    user::halo *halo_pointer = &halo;
    user::mpi_status other = {0};
    ompi_communicator_t *bare = comm;
    void *untyped = comm;
    uintptr_t number = 12;
    int integer = -5;
    double real = 1;
    {
        MPI_Win win = static_cast<MPI_Win>(0xa0000001);
        of_fortran();
        integer += win;
    }
    return integer + (fixed == *pointer) + status.MPI_TAG + (untyped == bare) + (number == real) +
           (file != nullptr) + (info != nullptr) + halo_pointer->n + other.MPI_TAGS +
           (requests[0] == nullptr) + (unknown == comm) + called + (call() == comm);
}

int main() {
    MPI_Comm comm = address(10);
    return inner(comm, &comm) + of_file;
}
