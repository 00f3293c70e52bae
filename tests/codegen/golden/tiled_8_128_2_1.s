mov rax, rdi
and rax, -8
shl rax, 11
mov rcx, rsi
and rcx, -128
lea rax, [rax + 8*rcx]
mov ecx, edi
and ecx, 6
shl ecx, 7
or rcx, rax
and esi, 127
lea rax, [rcx + 2*rsi]
and edi, 1
or rax, rdi
ret
