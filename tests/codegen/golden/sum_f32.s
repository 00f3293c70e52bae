xorps xmm3, xmm3
xor eax, eax
xorps xmm2, xmm2
xorps xmm1, xmm1
xorps xmm0, xmm0
movups xmm4, xmmword ptr [rdi + rax]
addps xmm4, xmm3
movups xmm3, xmmword ptr [rdi + rax + 16]
addps xmm3, xmm2
movups xmm2, xmmword ptr [rdi + rax + 32]
addps xmm2, xmm1
movups xmm1, xmmword ptr [rdi + rax + 48]
addps xmm1, xmm0
movups xmm0, xmmword ptr [rdi + rax + 112]
addps xmm0, xmm1
movups xmm1, xmmword ptr [rdi + rax + 96]
addps xmm1, xmm2
movups xmm2, xmmword ptr [rdi + rax + 64]
addps xmm2, xmm4
movups xmm4, xmmword ptr [rdi + rax + 80]
addps xmm4, xmm3
movups xmm5, xmmword ptr [rdi + rax + 144]
addps xmm5, xmm4
movups xmm4, xmmword ptr [rdi + rax + 128]
addps xmm4, xmm2
movups xmm2, xmmword ptr [rdi + rax + 160]
addps xmm2, xmm1
movups xmm1, xmmword ptr [rdi + rax + 176]
addps xmm1, xmm0
movups xmm0, xmmword ptr [rdi + rax + 240]
addps xmm0, xmm1
movups xmm1, xmmword ptr [rdi + rax + 224]
addps xmm1, xmm2
movups xmm3, xmmword ptr [rdi + rax + 192]
addps xmm3, xmm4
movups xmm2, xmmword ptr [rdi + rax + 208]
addps xmm2, xmm5
add rax, 256
cmp rax, 131072
jne .LBB_1
movaps xmm4, xmm3
shufps xmm4, xmm3, 85
addss xmm4, xmm3
movaps xmm5, xmm3
unpckhpd xmm5, xmm3
addss xmm5, xmm4
shufps xmm3, xmm3, 255
addss xmm3, xmm5
addss xmm3, xmm2
movaps xmm4, xmm2
shufps xmm4, xmm2, 85
addss xmm4, xmm3
movaps xmm3, xmm2
unpckhpd xmm3, xmm2
addss xmm3, xmm4
shufps xmm2, xmm2, 255
addss xmm2, xmm3
addss xmm2, xmm1
movaps xmm3, xmm1
shufps xmm3, xmm1, 85
addss xmm3, xmm2
movaps xmm2, xmm1
unpckhpd xmm2, xmm1
addss xmm2, xmm3
shufps xmm1, xmm1, 255
addss xmm1, xmm2
addss xmm1, xmm0
movaps xmm2, xmm0
shufps xmm2, xmm0, 85
addss xmm2, xmm1
movaps xmm1, xmm0
unpckhpd xmm1, xmm0
addss xmm1, xmm2
shufps xmm0, xmm0, 255
addss xmm0, xmm1
ret
