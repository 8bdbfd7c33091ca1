#include "textflag.h"

// The call-backs that a DLL calls most, as C calls them (System V ABI): arguments in DI, SI, DX and CX, the result in
// AX. What they can't answer from the leaf's memory, or should not, they leave to the general call-back, to
// which they jump with all argument registers as they were. They touch no memory but the leaf's own, and the part of
// the caller's stack that lies between its top and where it stands now: nothing here can fault. AX and R8 to
// R11 are free for them.

// The fields of leaf (leaf_linux_amd64.go).
#define thread       0(R10)
#define top          8(R10)
#define process      16(R10)
#define processInfo  24(R10)
#define image        32(R10)
#define imageInfo    40(R10)
#define sameOrder    48(R10)
#define toFetch      64(R10)
#define toHost       72(R10)
#define toProcess    80(R10)
#define toImage      88(R10)
#define toImageInfo  96(R10)
#define tags         4096(R10)
#define pages        20480(R10)
#define lastTag      $2047

// MOVQ FS:0, AX: what tells threads apart, the address of the C library's own description of each.
#define THREAD \
	BYTE $0x64; BYTE $0x48; BYTE $0x8b; BYTE $0x04; BYTE $0x25; BYTE $0; BYTE $0; BYTE $0; BYTE $0

// mqs_fetch_data(process, address, size, result).
TEXT mpiQueuesFetch(SB), NOSPLIT|NOFRAME, $0
	MOVQ ·leafAt(SB), R10
	THREAD
	CMPQ AX, thread
	JNE  general
	TESTQ DI, DI
	JEQ  general
	CMPQ DI, process
	JNE  general
	MOVL DX, R11          // the size
	TESTL R11, R11
	JLE  general
	CMPL R11, $4096
	JGT  general
	CMPQ CX, SP
	JCS  general
	LEAQ (CX)(R11*1), AX
	CMPQ AX, CX
	JCS  general
	CMPQ AX, top
	JHI  general
	MOVQ SI, R8
	SHRQ $12, R8
	MOVQ R8, R9
	ANDQ lastTag, R9
	INCQ R8               // a tag of 0 is of no page
	LEAQ tags, AX
	CMPQ R8, (AX)(R9*8)
	JNE  general
	MOVQ SI, R8
	ANDQ $4095, R8
	LEAQ (R8)(R11*1), AX
	CMPQ AX, $4096
	JHI  general
	SHLQ $12, R9
	ADDQ R8, R9
	LEAQ pages, AX
	ADDQ AX, R9           // where it stands
	CMPL R11, $8
	JNE  four
	MOVQ (R9), AX
	MOVQ AX, (CX)
	XORL AX, AX
	RET
four:
	CMPL R11, $4
	JNE  any
	MOVL (R9), AX
	MOVL AX, (CX)
	XORL AX, AX
	RET
any:
	MOVQ R9, SI
	MOVQ CX, DI
	MOVQ R11, CX
	REP; MOVSB
	XORL AX, AX
	RET
general:
	MOVQ toFetch, AX
	JMP  AX

// mqs_target_to_host(process, in, out, size).
TEXT mpiQueuesToHost(SB), NOSPLIT|NOFRAME, $0
	MOVQ ·leafAt(SB), R10
	THREAD
	CMPQ AX, thread
	JNE  general
	TESTQ DI, DI
	JEQ  general
	CMPQ DI, sameOrder
	JNE  general
	MOVQ top, R9
	SUBQ $8, R9           // the last place for the longest
	CMPQ SI, SP
	JCS  general
	CMPQ SI, R9
	JHI  general
	CMPQ DX, SP
	JCS  general
	CMPQ DX, R9
	JHI  general
	CMPL CX, $8
	JNE  four
	MOVQ (SI), AX
	MOVQ AX, (DX)
	XORL AX, AX
	RET
four:
	CMPL CX, $4
	JNE  one
	MOVL (SI), AX
	MOVL AX, (DX)
	XORL AX, AX
	RET
one:
	CMPL CX, $1
	JNE  general
	MOVB (SI), AX
	MOVB AX, (DX)
	XORL AX, AX
	RET
general:
	MOVQ toHost, AX
	JMP  AX

// mqs_get_process_info(process).
TEXT mpiQueuesProcessInfo(SB), NOSPLIT|NOFRAME, $0
	MOVQ ·leafAt(SB), R10
	THREAD
	CMPQ AX, thread
	JNE  general
	TESTQ DI, DI
	JEQ  general
	CMPQ DI, process
	JNE  general
	MOVQ processInfo, AX
	RET
general:
	MOVQ toProcess, AX
	JMP  AX

// mqs_get_image(process).
TEXT mpiQueuesImage(SB), NOSPLIT|NOFRAME, $0
	MOVQ ·leafAt(SB), R10
	THREAD
	CMPQ AX, thread
	JNE  general
	TESTQ DI, DI
	JEQ  general
	CMPQ DI, process
	JNE  general
	MOVQ image, AX
	RET
general:
	MOVQ toImage, AX
	JMP  AX

// mqs_get_image_info(image).
TEXT mpiQueuesImageInfo(SB), NOSPLIT|NOFRAME, $0
	MOVQ ·leafAt(SB), R10
	THREAD
	CMPQ AX, thread
	JNE  general
	TESTQ DI, DI
	JEQ  general
	CMPQ DI, image
	JNE  general
	MOVQ imageInfo, AX
	RET
general:
	MOVQ toImageInfo, AX
	JMP  AX

// Called as C functions, on the thread that calls the DLL: what tells the thread from others, and where
// its stack stands, which is as far up as the functions of a DLL can have anything of their own.
TEXT mpiQueuesThread(SB), NOSPLIT|NOFRAME, $0
	THREAD
	RET

TEXT mpiQueuesStack(SB), NOSPLIT|NOFRAME, $0
	MOVQ SP, AX
	RET

GLOBL ·leafCode(SB), NOPTR|RODATA, $56
DATA ·leafCode+0(SB)/8, $mpiQueuesFetch(SB)
DATA ·leafCode+8(SB)/8, $mpiQueuesToHost(SB)
DATA ·leafCode+16(SB)/8, $mpiQueuesProcessInfo(SB)
DATA ·leafCode+24(SB)/8, $mpiQueuesImage(SB)
DATA ·leafCode+32(SB)/8, $mpiQueuesImageInfo(SB)
DATA ·leafCode+40(SB)/8, $mpiQueuesThread(SB)
DATA ·leafCode+48(SB)/8, $mpiQueuesStack(SB)
