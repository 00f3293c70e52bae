movabs rcx, -6148914691236517205
mov rax, rdi
mul rcx
mov rcx, rdx
mov rax, rsi
shr rax, 2
movabs rdx, 2951479051793528259
mul rdx
shr rcx, 2
shr rdx, 2
imul rax, rdx, 100
sub rsi, rax
imul rdx, rdx, 600
imul rdi, rdi, 100
imul rax, rcx, 1200
add rax, rdi
add rax, rsi
add rax, rdx
ret
