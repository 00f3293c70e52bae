shufps xmm0, xmm0, 0
xor eax, eax
movups xmm1, xmmword ptr [rdi + rax]
movups xmm2, xmmword ptr [rdi + rax + 16]
movups xmm3, xmmword ptr [rdi + rax + 32]
movups xmm4, xmmword ptr [rdi + rax + 48]
mulps xmm1, xmm0
mulps xmm2, xmm0
movups xmmword ptr [rdi + rax], xmm1
movups xmmword ptr [rdi + rax + 16], xmm2
mulps xmm3, xmm0
mulps xmm4, xmm0
movups xmmword ptr [rdi + rax + 32], xmm3
movups xmmword ptr [rdi + rax + 48], xmm4
movups xmm1, xmmword ptr [rdi + rax + 64]
movups xmm2, xmmword ptr [rdi + rax + 80]
mulps xmm1, xmm0
mulps xmm2, xmm0
movups xmmword ptr [rdi + rax + 64], xmm1
movups xmmword ptr [rdi + rax + 80], xmm2
movups xmm1, xmmword ptr [rdi + rax + 96]
movups xmm2, xmmword ptr [rdi + rax + 112]
mulps xmm1, xmm0
mulps xmm2, xmm0
movups xmmword ptr [rdi + rax + 96], xmm1
movups xmmword ptr [rdi + rax + 112], xmm2
movups xmm1, xmmword ptr [rdi + rax + 128]
movups xmm2, xmmword ptr [rdi + rax + 144]
mulps xmm1, xmm0
mulps xmm2, xmm0
movups xmmword ptr [rdi + rax + 128], xmm1
movups xmmword ptr [rdi + rax + 144], xmm2
movups xmm1, xmmword ptr [rdi + rax + 160]
movups xmm2, xmmword ptr [rdi + rax + 176]
mulps xmm1, xmm0
mulps xmm2, xmm0
movups xmmword ptr [rdi + rax + 160], xmm1
movups xmmword ptr [rdi + rax + 176], xmm2
movups xmm1, xmmword ptr [rdi + rax + 192]
movups xmm2, xmmword ptr [rdi + rax + 208]
mulps xmm1, xmm0
mulps xmm2, xmm0
movups xmmword ptr [rdi + rax + 192], xmm1
movups xmmword ptr [rdi + rax + 208], xmm2
movups xmm1, xmmword ptr [rdi + rax + 224]
movups xmm2, xmmword ptr [rdi + rax + 240]
mulps xmm1, xmm0
mulps xmm2, xmm0
movups xmmword ptr [rdi + rax + 224], xmm1
movups xmmword ptr [rdi + rax + 240], xmm2
add rax, 256
cmp rax, 131072
jne .LBB_1
ret
