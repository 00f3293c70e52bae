mov rax, rsi
ret
