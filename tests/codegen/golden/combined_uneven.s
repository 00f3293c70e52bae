lea rax, [rdi + 2*rdi]
lea rax, [rsi + 2*rax]
shl rax, 7
add rax, rdx
ret
