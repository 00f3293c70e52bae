lea rax, [rdi + 8*rsi]
lea rax, [rax + 4*rax]
shl rax, 22
mov rsi, rdx
and rsi, -8
shl rsi, 14
add rsi, rax
mov rax, rcx
and rax, -128
lea rax, [rsi + 8*rax]
mov esi, edx
and esi, 6
shl esi, 7
or rsi, rax
and ecx, 127
lea rax, [rsi + 2*rcx]
and edx, 1
or rax, rdx
ret
