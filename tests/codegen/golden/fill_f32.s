shufps xmm0, xmm0, 0
xor eax, eax
movups xmmword ptr [rdi + 4*rax], xmm0
movups xmmword ptr [rdi + 4*rax + 16], xmm0
movups xmmword ptr [rdi + 4*rax + 32], xmm0
movups xmmword ptr [rdi + 4*rax + 48], xmm0
movups xmmword ptr [rdi + 4*rax + 64], xmm0
movups xmmword ptr [rdi + 4*rax + 80], xmm0
movups xmmword ptr [rdi + 4*rax + 96], xmm0
movups xmmword ptr [rdi + 4*rax + 112], xmm0
add rax, 32
cmp rax, 32768
jne .LBB_1
ret
