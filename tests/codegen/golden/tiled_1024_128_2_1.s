mov rax, rdi
and rax, -256
mov ecx, edi
and ecx, 127
lea rax, [rax + 2*rcx]
shr edi, 7
and edi, 1
or rax, rdi
ret
