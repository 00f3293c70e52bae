mov eax, edx
and eax, 127
and rdx, -128
mov ecx, esi
and ecx, 7
shl ecx, 7
or rcx, rax
and rsi, -8
shl rsi, 8
or rsi, rcx
lea rax, [rsi + 8*rdx]
ret
