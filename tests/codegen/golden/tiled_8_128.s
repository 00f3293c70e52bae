mov rax, rdi
and rax, -8
shl rax, 11
mov rcx, rsi
and rcx, -128
lea rax, [rax + 8*rcx]
and edi, 7
shl edi, 7
or rax, rdi
and esi, 127
or rax, rsi
ret
