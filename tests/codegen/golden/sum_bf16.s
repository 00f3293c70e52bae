xorps xmm2, xmm2
xor eax, eax
xorps xmm3, xmm3
xorps xmm1, xmm1
xorps xmm0, xmm0
movdqu xmm4, xmmword ptr [rdi + rax]
movdqu xmm5, xmmword ptr [rdi + rax + 16]
movdqu xmm6, xmmword ptr [rdi + rax + 32]
movdqu xmm7, xmmword ptr [rdi + rax + 48]
pxor xmm8, xmm8
punpcklwd xmm8, xmm5
addps xmm8, xmm1
xorps xmm1, xmm1
punpckhwd xmm1, xmm4
addps xmm1, xmm3
xorps xmm3, xmm3
punpcklwd xmm3, xmm4
addps xmm3, xmm2
xorps xmm2, xmm2
punpckhwd xmm2, xmm5
addps xmm2, xmm0
xorps xmm0, xmm0
punpckhwd xmm0, xmm7
addps xmm0, xmm2
xorps xmm2, xmm2
punpcklwd xmm2, xmm6
addps xmm2, xmm3
xorps xmm3, xmm3
punpckhwd xmm3, xmm6
addps xmm3, xmm1
xorps xmm1, xmm1
punpcklwd xmm1, xmm7
addps xmm1, xmm8
movdqu xmm5, xmmword ptr [rdi + rax + 64]
movdqu xmm6, xmmword ptr [rdi + rax + 80]
pxor xmm4, xmm4
punpcklwd xmm4, xmm6
addps xmm4, xmm1
xorps xmm1, xmm1
punpckhwd xmm1, xmm5
addps xmm1, xmm3
xorps xmm3, xmm3
punpcklwd xmm3, xmm5
addps xmm3, xmm2
xorps xmm2, xmm2
punpckhwd xmm2, xmm6
addps xmm2, xmm0
movdqu xmm5, xmmword ptr [rdi + rax + 96]
movdqu xmm6, xmmword ptr [rdi + rax + 112]
xorps xmm0, xmm0
punpckhwd xmm0, xmm6
addps xmm0, xmm2
xorps xmm2, xmm2
punpcklwd xmm2, xmm5
addps xmm2, xmm3
xorps xmm3, xmm3
punpckhwd xmm3, xmm5
addps xmm3, xmm1
xorps xmm1, xmm1
punpcklwd xmm1, xmm6
addps xmm1, xmm4
sub rax, -128
cmp rax, 65536
jne .LBB_1
movaps xmm4, xmm2
shufps xmm4, xmm2, 85
addss xmm4, xmm2
movaps xmm5, xmm2
unpckhpd xmm5, xmm2
addss xmm5, xmm4
shufps xmm2, xmm2, 255
addss xmm2, xmm5
addss xmm2, xmm3
movaps xmm4, xmm3
shufps xmm4, xmm3, 85
addss xmm4, xmm2
movaps xmm2, xmm3
unpckhpd xmm2, xmm3
addss xmm2, xmm4
shufps xmm3, xmm3, 255
addss xmm3, xmm2
addss xmm3, xmm1
movaps xmm2, xmm1
shufps xmm2, xmm1, 85
addss xmm2, xmm3
movaps xmm3, xmm1
unpckhpd xmm3, xmm1
addss xmm3, xmm2
shufps xmm1, xmm1, 255
addss xmm1, xmm3
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
