shl rsi, 7
lea rax, [rsi + rdx]
ret
