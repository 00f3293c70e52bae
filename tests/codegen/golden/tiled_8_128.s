mov ecx, esi
and ecx, 127
mov edx, edi
and edx, 7
shl edx, 7
and rsi, -128
and rdi, -8
shl rdi, 11
lea rax, [rdi + 8*rsi]
or rax, rdx
or rax, rcx
ret
