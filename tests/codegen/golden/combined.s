shl rdi, 10
shl rsi, 7
lea rax, [rsi + rdi]
add rax, rdx
ret
