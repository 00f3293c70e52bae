mov ecx, edi
and ecx, 7
shr rdi, 3
imul edx, ecx, 86
shr edx, 8
lea rsi, [rsi + 2*rsi]
lea rax, [rdi + 8*rdi]
shl rax, 7
imul rdx, rdx, 381
add rax, rcx
add rax, rsi
add rax, rdx
ret
