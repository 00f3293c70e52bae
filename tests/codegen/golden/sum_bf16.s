xorps xmm3, xmm3
xor eax, eax
xorps xmm2, xmm2
xorps xmm1, xmm1
xorps xmm0, xmm0
movdqu xmm4, xmmword ptr [rdi + rax]
movdqu xmm5, xmmword ptr [rdi + rax + 16]
pxor xmm6, xmm6
punpckhwd xmm6, xmm5
addps xmm0, xmm6
pxor xmm6, xmm6
punpcklwd xmm6, xmm4
addps xmm3, xmm6
pxor xmm6, xmm6
punpckhwd xmm6, xmm4
addps xmm2, xmm6
pxor xmm4, xmm4
punpcklwd xmm4, xmm5
addps xmm1, xmm4
add rax, 32
cmp rax, 65536
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
