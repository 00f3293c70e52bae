movabs rcx, -6148914691236517205
mov rax, rdi
mul rcx
mov rcx, rdx
shr rcx, 2
imul r8, rcx, 1800
mov rax, rsi
shr rax, 2
movabs rdx, 2951479051793528259
mul rdx
shr rdx, 2
imul rax, rdx, 600
add rax, r8
add rcx, rcx
lea rcx, [rcx + 2*rcx]
sub rdi, rcx
imul rcx, rdi, 100
imul rdx, rdx, 100
sub rsi, rdx
add rax, rsi
add rax, rcx
ret
