mov rax, rdi
and rax, -256
mov ecx, edi
shr ecx, 7
and ecx, 1
and edi, 127
lea rax, [rax + 2*rdi]
or rax, rcx
ret
