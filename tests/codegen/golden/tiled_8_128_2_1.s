mov ecx, edi
and ecx, 1
mov eax, esi
and eax, 127
mov edx, edi
and edx, 6
shl edx, 7
and rsi, -128
and rdi, -8
shl rdi, 11
lea rsi, [rdi + 8*rsi]
or rsi, rdx
lea rax, [rsi + 2*rax]
or rax, rcx
ret
