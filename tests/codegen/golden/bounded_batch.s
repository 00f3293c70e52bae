mov ecx, esi
and ecx, 1
mov eax, edx
and eax, 127
mov edi, esi
and edi, 6
shl edi, 7
and rdx, -128
and rsi, -8
shl rsi, 11
lea rdx, [rsi + 8*rdx]
or rdx, rdi
lea rax, [rdx + 2*rax]
or rax, rcx
ret
