shufps xmm0, xmm0, 0
xor eax, eax
movups xmm1, xmmword ptr [rdi + 4*rax]
movups xmm2, xmmword ptr [rdi + 4*rax + 16]
movups xmm3, xmmword ptr [rdi + 4*rax + 32]
movups xmm4, xmmword ptr [rdi + 4*rax + 48]
mulps xmm1, xmm0
mulps xmm2, xmm0
movups xmmword ptr [rdi + 4*rax], xmm1
movups xmmword ptr [rdi + 4*rax + 16], xmm2
mulps xmm3, xmm0
mulps xmm4, xmm0
movups xmmword ptr [rdi + 4*rax + 32], xmm3
movups xmmword ptr [rdi + 4*rax + 48], xmm4
add rax, 16
cmp rax, 32768
jne .LBB_1
ret
