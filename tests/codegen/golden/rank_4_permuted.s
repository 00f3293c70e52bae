mov r8d, edx
and r8d, 1
mov eax, ecx
and eax, 127
mov r9d, edx
and r9d, 6
shl r9d, 7
and rcx, -128
and rdx, -8
shl rdx, 14
or rdx, r9
lea rsi, [rdi + 8*rsi]
lea rsi, [rsi + 4*rsi]
shl rsi, 22
lea rcx, [rdx + 8*rcx]
lea rax, [rcx + 2*rax]
add rax, rsi
or rax, r8
ret
