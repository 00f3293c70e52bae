mov eax, edx
and eax, 127
mov ecx, esi
and ecx, 7
shl ecx, 7
or rcx, rax
and rdx, -128
lea rax, [rcx + 8*rdx]
and rsi, -8
shl rsi, 8
add rax, rsi
ret
