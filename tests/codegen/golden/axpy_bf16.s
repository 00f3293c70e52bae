shufps xmm0, xmm0, 0
xor eax, eax
movdqa xmm1, xmmword ptr [rip + .LCPI_0]
movdqa xmm2, xmmword ptr [rip + .LCPI_1]
movdqu xmm3, xmmword ptr [rdx + 2*rax]
movdqu xmm4, xmmword ptr [rdi + 2*rax]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
pxor xmm6, xmm6
punpckhwd xmm6, xmm4
mulps xmm6, xmm0
mulps xmm5, xmm0
pxor xmm4, xmm4
punpckhwd xmm4, xmm3
addps xmm4, xmm6
xorps xmm6, xmm6
punpcklwd xmm6, xmm3
addps xmm6, xmm5
movaps xmm3, xmm4
psrld xmm3, 16
movaps xmm5, xmm6
psrld xmm5, 16
pand xmm5, xmm1
pand xmm3, xmm1
paddd xmm6, xmm2
paddd xmm6, xmm5
paddd xmm4, xmm2
paddd xmm4, xmm3
psrad xmm4, 16
psrad xmm6, 16
packssdw xmm6, xmm4
movdqu xmmword ptr [rdx + 2*rax], xmm6
add rax, 8
cmp rax, 32768
jne .LBB_1
ret
