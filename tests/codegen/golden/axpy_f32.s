shufps xmm0, xmm0, 0
xor eax, eax
movups xmm1, xmmword ptr [rdi + 4*rax]
movups xmm2, xmmword ptr [rdi + 4*rax + 16]
mulps xmm1, xmm0
mulps xmm2, xmm0
movups xmm3, xmmword ptr [rdx + 4*rax]
addps xmm3, xmm1
movups xmm1, xmmword ptr [rdx + 4*rax + 16]
addps xmm1, xmm2
movups xmm2, xmmword ptr [rdx + 4*rax + 32]
movups xmm4, xmmword ptr [rdx + 4*rax + 48]
movups xmmword ptr [rdx + 4*rax], xmm3
movups xmmword ptr [rdx + 4*rax + 16], xmm1
movups xmm1, xmmword ptr [rdi + 4*rax + 32]
movups xmm3, xmmword ptr [rdi + 4*rax + 48]
mulps xmm1, xmm0
addps xmm1, xmm2
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [rdx + 4*rax + 32], xmm1
movups xmmword ptr [rdx + 4*rax + 48], xmm3
add rax, 16
cmp rax, 32768
jne .LBB_1
ret
