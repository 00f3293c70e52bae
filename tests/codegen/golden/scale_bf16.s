shufps xmm0, xmm0, 0
xor eax, eax
movdqa xmm1, xmmword ptr [rip + .LCPI_0]
movdqa xmm2, xmmword ptr [rip + .LCPI_1]
movdqu xmm6, xmmword ptr [rdi + rax]
movdqu xmm5, xmmword ptr [rdi + rax + 16]
movdqu xmm4, xmmword ptr [rdi + rax + 32]
movdqu xmm3, xmmword ptr [rdi + rax + 48]
pxor xmm7, xmm7
punpckhwd xmm7, xmm6
pxor xmm8, xmm8
punpcklwd xmm8, xmm6
mulps xmm8, xmm0
mulps xmm7, xmm0
movaps xmm6, xmm7
psrld xmm6, 16
movaps xmm9, xmm8
psrld xmm9, 16
pand xmm9, xmm1
pand xmm6, xmm1
paddd xmm8, xmm2
paddd xmm8, xmm9
paddd xmm7, xmm2
paddd xmm7, xmm6
psrad xmm7, 16
psrad xmm8, 16
packssdw xmm8, xmm7
movdqu xmmword ptr [rdi + rax], xmm8
pxor xmm6, xmm6
punpckhwd xmm6, xmm5
pxor xmm7, xmm7
punpcklwd xmm7, xmm5
mulps xmm7, xmm0
mulps xmm6, xmm0
movaps xmm5, xmm6
psrld xmm5, 16
movaps xmm8, xmm7
psrld xmm8, 16
pand xmm8, xmm1
pand xmm5, xmm1
paddd xmm7, xmm2
paddd xmm7, xmm8
paddd xmm6, xmm2
paddd xmm6, xmm5
psrad xmm6, 16
psrad xmm7, 16
packssdw xmm7, xmm6
movdqu xmmword ptr [rdi + rax + 16], xmm7
pxor xmm5, xmm5
punpckhwd xmm5, xmm4
pxor xmm6, xmm6
punpcklwd xmm6, xmm4
mulps xmm6, xmm0
mulps xmm5, xmm0
movaps xmm4, xmm5
psrld xmm4, 16
movaps xmm7, xmm6
psrld xmm7, 16
pand xmm7, xmm1
pand xmm4, xmm1
paddd xmm6, xmm2
paddd xmm6, xmm7
paddd xmm5, xmm2
paddd xmm5, xmm4
psrad xmm5, 16
psrad xmm6, 16
packssdw xmm6, xmm5
movdqu xmmword ptr [rdi + rax + 32], xmm6
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
movdqu xmmword ptr [rdi + rax + 48], xmm5
movdqu xmm3, xmmword ptr [rdi + rax + 64]
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
movdqu xmmword ptr [rdi + rax + 64], xmm5
movdqu xmm3, xmmword ptr [rdi + rax + 80]
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
movdqu xmmword ptr [rdi + rax + 80], xmm5
movdqu xmm3, xmmword ptr [rdi + rax + 96]
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
movdqu xmmword ptr [rdi + rax + 96], xmm5
movdqu xmm3, xmmword ptr [rdi + rax + 112]
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
movdqu xmmword ptr [rdi + rax + 112], xmm5
sub rax, -128
cmp rax, 65536
jne .LBB_1
ret
