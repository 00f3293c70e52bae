shl rsi, 7
lea rax, [rsi + rdi]
ret
