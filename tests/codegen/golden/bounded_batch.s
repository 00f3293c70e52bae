mov rax, rsi
and rax, -8
shl rax, 11
mov rcx, rdx
and rcx, -128
lea rax, [rax + 8*rcx]
mov ecx, esi
and ecx, 6
shl ecx, 7
or rcx, rax
and edx, 127
lea rax, [rcx + 2*rdx]
and esi, 1
or rax, rsi
ret
