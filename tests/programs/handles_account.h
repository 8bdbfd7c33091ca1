/*
 * handles_account: a test program's own account of its handles.
 *
 * Each entry names an expression that a debugger can evaluate in the frame of
 * the program's main function, and what `mpi-handle -json` ought to say of it:
 * keys that are absent are not to be compared, and where a list stands in place
 * of a word any of its words will do. account_write puts it into
 * OUTDIR/handles-N.json.
 */
#ifndef HANDLES_ACCOUNT_H
#define HANDLES_ACCOUNT_H

#include <mpi.h>

/* The library of MPI 5's ABI has no Fortran of its own; its numbers are those of any Fortran. */
#if defined MPI_ABI_VERSION && MPI_ABI_VERSION > 0
#define MPI_Comm_c2f MPI_Comm_toint
#define MPI_Type_c2f MPI_Type_toint
#endif

/* The kind that is asked for with -type; NULL where the declared type says it. */
typedef const char *account_type;

/* A handle of which what there is to say is written as JSON's members; printf's arguments. */
void account(const char *expression, account_type type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What MPI itself says of a live handle. Predefined objects have the state "predefined". */
void account_comm(const char *expression, account_type type, MPI_Comm comm);
void account_group(const char *expression, account_type type, MPI_Group group);

/* construction is how a type without a name was built, NULL: not compared. */
void account_datatype(const char *expression, account_type type, MPI_Datatype datatype,
                      const char *construction);

/* A request: what the program did to get it. Length -1: neither tag nor length is compared. */
void account_request(const char *expression, account_type type, const char *kind,
                     const char *status, MPI_Comm comm, int peer, int tag, long length);

/* The windows and the files are lists of their own in `mpi-windows -json` and `mpi-files -json`;
 * epochs is JSON, NULL: not compared. */
void account_window(const char *expression, account_type type, MPI_Win win, const char *flavor,
                    const char *epochs);
void account_file(const char *expression, account_type type, const char *name, const char *modes,
                  MPI_Comm comm);

void account_status(const char *expression, account_type type, int source, int tag, long length);

/* Writes what was noted. */
void account_write(void);

#endif
