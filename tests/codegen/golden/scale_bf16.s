shufps xmm0, xmm0, 0
xor eax, eax
movdqa xmm1, xmmword ptr [rip + .LCPI_0]
movdqa xmm2, xmmword ptr [rip + .LCPI_1]
movdqu xmm3, xmmword ptr [rdi + 2*rax]
pxor xmm4, xmm4
punpckhwd xmm4, xmm3
pxor xmm5, xmm5
punpcklwd xmm5, xmm3
mulps xmm5, xmm0
mulps xmm4, xmm0
movaps xmm3, xmm4
psrld xmm3, 16
movaps xmm6, xmm5
psrld xmm6, 16
pand xmm6, xmm1
pand xmm3, xmm1
paddd xmm5, xmm2
paddd xmm5, xmm6
paddd xmm4, xmm2
paddd xmm4, xmm3
psrad xmm4, 16
psrad xmm5, 16
packssdw xmm5, xmm4
movdqu xmmword ptr [rdi + 2*rax], xmm5
add rax, 8
cmp rax, 32768
jne .LBB_1
ret
