mov eax, edi
and eax, 7
shr rdi, 3
lea rcx, [rdi + 8*rdi]
shl rcx, 7
imul edx, eax, 86
shr edx, 8
lea rdi, [rdx + 2*rdx]
shl edi, 7
lea rsi, [rsi + 2*rsi]
add rsi, rcx
add rsi, rdi
lea ecx, [rdx + 2*rdx]
sub al, cl
movzx eax, al
add rax, rsi
ret
