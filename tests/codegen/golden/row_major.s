shl rdi, 8
lea rax, [rdi + rsi]
ret
