# launch FILE PROGRAM [ARGUMENT…]: becomes PROGRAM, with FILE as its stdout and stderr (referee/sandbox/native.py).
# At the start (%rsp) is the number of arguments, 8(%rsp) the launcher's own name, 16(%rsp) FILE, 24(%rsp) PROGRAM.
.globl _start
_start:
    mov 16(%rsp), %rdi
    mov $0x401, %esi            # O_WRONLY | O_APPEND
    mov $2, %eax                # open
    syscall
    mov %eax, %edi
    mov $1, %esi
    mov $33, %eax               # dup2: stdout
    syscall
    mov $2, %esi
    mov $33, %eax               # dup2: stderr
    syscall
    mov $3, %eax                # close
    syscall
    mov 24(%rsp), %rdi
    lea 24(%rsp), %rsi          # its arguments begin with its name
    mov (%rsp), %rcx
    lea 16(%rsp,%rcx,8), %rdx   # the environment follows the arguments and a zero
    mov $59, %eax               # execve, which only comes back if it fails
    syscall
    mov $2, %edi
    lea refusal(%rip), %rsi
    mov $LENGTH, %edx
    mov $1, %eax                # write
    syscall
    mov $127, %edi
    mov $60, %eax               # exit
    syscall
refusal:
