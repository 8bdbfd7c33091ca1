/* A program in assembly language, which gdb knows. */

    .globl main
    .text
    .type main, @function
main:
    sub $8, %rsp
    call trap
    .size main, .-main
    .section .note.GNU-stack,"",@progbits
