// launch FILE PROGRAM [ARGUMENT…]: becomes PROGRAM, with FILE as its stdout and stderr (referee/sandbox/native.py).
// At the start [sp] is the number of arguments, [sp, #8] the launcher's own name, [sp, #16] FILE, [sp, #24] PROGRAM.
.globl _start
_start:
    mov x0, #-100               // AT_FDCWD
    ldr x1, [sp, #16]
    mov x2, #0x401              // O_WRONLY | O_APPEND
    mov x8, #56                 // openat
    svc #0
    mov x19, x0
    mov x1, #1
    mov x2, #0
    mov x8, #24                 // dup3: stdout
    svc #0
    mov x0, x19
    mov x1, #2
    svc #0                      // and stderr
    mov x0, x19
    mov x8, #57                 // close
    svc #0
    ldr x0, [sp, #24]
    add x1, sp, #24             // its arguments begin with its name
    ldr x2, [sp]
    add x2, sp, x2, lsl #3
    add x2, x2, #16             // the environment follows the arguments and a zero
    mov x8, #221                // execve, which only comes back if it fails
    svc #0
    mov x0, #2
    adr x1, refusal
    ldr w2, length
    mov x8, #64                 // write
    svc #0
    mov x0, #127
    mov x8, #93                 // exit
    svc #0
length:
    .word LENGTH
refusal:
