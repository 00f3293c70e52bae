push rbp
push r15
push r14
push r13
push r12
push rbx
sub rsp, 328
lea r15, [rdi + 504]
xor eax, eax
movaps xmm8, xmmword ptr [rip + .LCPI_1]
movaps xmm9, xmmword ptr [rip + .LCPI_2]
movaps xmm10, xmmword ptr [rip + .LCPI_4]
movaps xmm14, xmmword ptr [rip + .LCPI_5]
movaps xmm15, xmmword ptr [rip + .LCPI_6]
movdqa xmm11, xmmword ptr [rip + .LCPI_11]
movdqa xmm12, xmmword ptr [rip + .LCPI_12]
movdqa xmm2, xmmword ptr [rip + .LCPI_14]
xor r12d, r12d
xor ebp, ebp
movaps xmm6, xmm15
movaps xmm15, xmm14
movaps xmm13, xmm9
movaps xmm9, xmm8
movdqa xmm8, xmm2
mov ecx, r12d
and ecx, 28672
mov qword ptr [rsp + 184], rax
movzx edx, al
and edx, 3
mov eax, edx
shl eax, 8
or eax, ecx
shl edx, 9
lea r10d, [rdx + 2*rcx]
lea rcx, [rdi + 6168]
lea rsi, [rcx + r10]
lea rcx, [rdi + 4120]
lea r8, [rcx + r10]
lea rcx, [rdi + 2072]
lea r9, [rcx + r10]
lea rcx, [rdi + 24]
add r10, rcx
mov ecx, ebp
and ecx, 56
shl ecx, 9
mov r13d, ebp
and r13d, 6
shl r13d, 7
or r13d, ecx
xor ecx, ecx
movaps xmm3, xmmword ptr [rip + .LCPI_0]
movaps xmm0, xmm3
movaps xmm1, xmm3
movaps xmm2, xmm3
movq xmm4, qword ptr [r10 + rcx - 24]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm0, xmm5
movq xmm4, qword ptr [r10 + rcx - 16]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm1, xmm5
movq xmm4, qword ptr [r10 + rcx - 8]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm2, xmm5
movq xmm4, qword ptr [r10 + rcx]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm3, xmm5
add rcx, 32
cmp rcx, 512
jne .LBB_2
xor ecx, ecx
movq xmm4, qword ptr [r9 + rcx - 24]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm0, xmm5
movq xmm4, qword ptr [r9 + rcx - 16]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm1, xmm5
movq xmm4, qword ptr [r9 + rcx - 8]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm2, xmm5
movq xmm4, qword ptr [r9 + rcx]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm3, xmm5
add rcx, 32
cmp rcx, 512
jne .LBB_4
xor ecx, ecx
movq xmm4, qword ptr [r8 + rcx - 24]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm0, xmm5
movq xmm4, qword ptr [r8 + rcx - 16]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm1, xmm5
movq xmm4, qword ptr [r8 + rcx - 8]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm2, xmm5
movq xmm4, qword ptr [r8 + rcx]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm3, xmm5
add rcx, 32
cmp rcx, 512
jne .LBB_6
xor ecx, ecx
movq xmm4, qword ptr [rsi + rcx - 24]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm0, xmm5
movq xmm4, qword ptr [rsi + rcx - 16]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm1, xmm5
movq xmm4, qword ptr [rsi + rcx - 8]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm2, xmm5
movq xmm4, qword ptr [rsi + rcx]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm3, xmm5
add rcx, 32
cmp rcx, 512
jne .LBB_8
movaps xmmword ptr [rsp + 192], xmm0
movaps xmmword ptr [rsp + 208], xmm1
movaps xmmword ptr [rsp + 224], xmm2
movaps xmmword ptr [rsp + 240], xmm3
movaps xmmword ptr [rsp + 80], xmm1
movaps xmmword ptr [rsp + 96], xmm2
movaps xmmword ptr [rsp + 112], xmm3
movaps xmm2, xmm0
unpckhpd xmm2, xmm0
movaps xmm1, xmm0
maxss xmm1, xmm2
mov ecx, 52
lea rdx, [rsp + 208]
maxss xmm1, dword ptr [rdx]
add rdx, 8
add rcx, -8
cmp rcx, 4
ja .LBB_10
movss dword ptr [rsp + 64], xmm1
movss dword ptr [rsp + 72], xmm1
mov ecx, 52
lea rdx, [rsp + 80]
movss dword ptr [rdx], xmm1
add rcx, -8
add rdx, 8
cmp rcx, 4
ja .LBB_12
movaps xmm1, xmm0
shufps xmm1, xmm0, 85
shufps xmm0, xmm0, 255
maxss xmm1, xmm0
mov ecx, 48
lea rdx, [rsp + 212]
maxss xmm1, dword ptr [rdx]
add rdx, 8
add rcx, -8
cmp rcx, 4
ja .LBB_14
movss dword ptr [rsp + 68], xmm1
movss dword ptr [rsp + 76], xmm1
mov ecx, 48
lea rdx, [rsp + 84]
movss dword ptr [rdx], xmm1
add rcx, -8
add rdx, 8
cmp rcx, 4
ja .LBB_16
movaps xmm7, xmmword ptr [rsp + 64]
movaps xmm0, xmmword ptr [rsp + 80]
movaps xmmword ptr [rsp + 48], xmm0
movaps xmm0, xmmword ptr [rsp + 96]
movaps xmmword ptr [rsp + 32], xmm0
movaps xmm0, xmmword ptr [rsp + 112]
movaps xmmword ptr [rsp + 16], xmm0
xor ecx, ecx
movaps xmm1, xmmword ptr [rip + .LCPI_8]
movaps xmm14, xmmword ptr [rip + .LCPI_9]
movaps xmm3, xmmword ptr [rip + .LCPI_10]
movaps xmm2, xmm13
movaps xmm13, xmmword ptr [rip + .LCPI_3]
movaps xmm0, xmm6
movaps xmmword ptr [rsp], xmm7
movq xmm4, qword ptr [r10 + rcx - 24]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
subps xmm5, xmm7
maxps xmm5, xmm9
mulps xmm5, xmm2
movaps xmm4, xmm5
addps xmm4, xmm13
movaps xmm6, xmm4
addps xmm6, xmm10
subps xmm5, xmm6
mulps xmm5, xmm15
movaps xmm6, xmm5
mulps xmm6, xmm0
movaps xmm7, xmmword ptr [rip + .LCPI_7]
addps xmm6, xmm7
mulps xmm6, xmm5
addps xmm6, xmm1
mulps xmm6, xmm5
addps xmm6, xmm14
mulps xmm6, xmm5
addps xmm6, xmm3
mulps xmm6, xmm5
addps xmm6, xmm3
pslld xmm4, 23
paddd xmm4, xmm6
psrld xmm6, 16
pand xmm6, xmm11
paddd xmm4, xmm12
paddd xmm4, xmm6
psrad xmm4, 16
movq xmm5, qword ptr [r10 + rcx - 16]
pxor xmm6, xmm6
punpcklwd xmm6, xmm5
subps xmm6, xmmword ptr [rsp + 48]
maxps xmm6, xmm9
mulps xmm6, xmm2
movaps xmm5, xmm6
addps xmm5, xmm13
movaps xmm7, xmm5
addps xmm7, xmm10
subps xmm6, xmm7
mulps xmm6, xmm15
movaps xmm7, xmm6
mulps xmm7, xmm0
addps xmm7, xmmword ptr [rip + .LCPI_7]
mulps xmm7, xmm6
addps xmm7, xmm1
mulps xmm7, xmm6
addps xmm7, xmm14
mulps xmm7, xmm6
addps xmm7, xmm3
mulps xmm7, xmm6
addps xmm7, xmm3
pslld xmm5, 23
paddd xmm5, xmm7
psrld xmm7, 16
pand xmm7, xmm11
paddd xmm5, xmm12
paddd xmm5, xmm7
psrad xmm5, 16
packssdw xmm4, xmm5
movdqu xmmword ptr [r10 + rcx - 24], xmm4
movq xmm4, qword ptr [r10 + rcx - 8]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
subps xmm5, xmmword ptr [rsp + 32]
maxps xmm5, xmm9
mulps xmm5, xmm2
movaps xmm4, xmm5
addps xmm4, xmm13
movaps xmm6, xmm4
addps xmm6, xmm10
subps xmm5, xmm6
mulps xmm5, xmm15
movaps xmm6, xmm5
mulps xmm6, xmm0
addps xmm6, xmmword ptr [rip + .LCPI_7]
mulps xmm6, xmm5
addps xmm6, xmm1
mulps xmm6, xmm5
addps xmm6, xmm14
mulps xmm6, xmm5
addps xmm6, xmm3
mulps xmm6, xmm5
addps xmm6, xmm3
pslld xmm4, 23
paddd xmm4, xmm6
psrld xmm6, 16
pand xmm6, xmm11
paddd xmm4, xmm12
paddd xmm4, xmm6
movq xmm5, qword ptr [r10 + rcx]
pxor xmm6, xmm6
punpcklwd xmm6, xmm5
subps xmm6, xmmword ptr [rsp + 16]
maxps xmm6, xmm9
mulps xmm6, xmm2
movaps xmm5, xmm6
addps xmm5, xmm13
movaps xmm7, xmm5
addps xmm7, xmm10
subps xmm6, xmm7
mulps xmm6, xmm15
movaps xmm7, xmm6
mulps xmm7, xmm0
addps xmm7, xmmword ptr [rip + .LCPI_7]
mulps xmm7, xmm6
addps xmm7, xmm1
mulps xmm7, xmm6
addps xmm7, xmm14
mulps xmm7, xmm6
addps xmm7, xmm3
mulps xmm7, xmm6
addps xmm7, xmm3
pslld xmm5, 23
paddd xmm5, xmm7
psrld xmm7, 16
pand xmm7, xmm11
paddd xmm5, xmm12
paddd xmm5, xmm7
movaps xmm7, xmmword ptr [rsp]
psrad xmm4, 16
psrad xmm5, 16
packssdw xmm4, xmm5
movdqu xmmword ptr [r10 + rcx - 8], xmm4
add rcx, 32
cmp rcx, 512
jne .LBB_18
xor ecx, ecx
movq xmm4, qword ptr [r9 + rcx - 24]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
subps xmm5, xmm7
maxps xmm5, xmm9
mulps xmm5, xmm2
movaps xmm4, xmm5
addps xmm4, xmm13
movaps xmm6, xmm4
addps xmm6, xmm10
subps xmm5, xmm6
mulps xmm5, xmm15
movaps xmm6, xmm5
mulps xmm6, xmm0
movaps xmm7, xmmword ptr [rip + .LCPI_7]
addps xmm6, xmm7
mulps xmm6, xmm5
addps xmm6, xmm1
mulps xmm6, xmm5
addps xmm6, xmm14
mulps xmm6, xmm5
addps xmm6, xmm3
mulps xmm6, xmm5
addps xmm6, xmm3
pslld xmm4, 23
paddd xmm4, xmm6
psrld xmm6, 16
pand xmm6, xmm11
paddd xmm4, xmm12
paddd xmm4, xmm6
psrad xmm4, 16
movq xmm5, qword ptr [r9 + rcx - 16]
pxor xmm6, xmm6
punpcklwd xmm6, xmm5
subps xmm6, xmmword ptr [rsp + 48]
maxps xmm6, xmm9
mulps xmm6, xmm2
movaps xmm5, xmm6
addps xmm5, xmm13
movaps xmm7, xmm5
addps xmm7, xmm10
subps xmm6, xmm7
mulps xmm6, xmm15
movaps xmm7, xmm6
mulps xmm7, xmm0
addps xmm7, xmmword ptr [rip + .LCPI_7]
mulps xmm7, xmm6
addps xmm7, xmm1
mulps xmm7, xmm6
addps xmm7, xmm14
mulps xmm7, xmm6
addps xmm7, xmm3
mulps xmm7, xmm6
addps xmm7, xmm3
pslld xmm5, 23
paddd xmm5, xmm7
psrld xmm7, 16
pand xmm7, xmm11
paddd xmm5, xmm12
paddd xmm5, xmm7
psrad xmm5, 16
packssdw xmm4, xmm5
movdqu xmmword ptr [r9 + rcx - 24], xmm4
movq xmm4, qword ptr [r9 + rcx - 8]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
subps xmm5, xmmword ptr [rsp + 32]
maxps xmm5, xmm9
mulps xmm5, xmm2
movaps xmm4, xmm5
addps xmm4, xmm13
movaps xmm6, xmm4
addps xmm6, xmm10
subps xmm5, xmm6
mulps xmm5, xmm15
movaps xmm6, xmm5
mulps xmm6, xmm0
addps xmm6, xmmword ptr [rip + .LCPI_7]
mulps xmm6, xmm5
addps xmm6, xmm1
mulps xmm6, xmm5
addps xmm6, xmm14
mulps xmm6, xmm5
addps xmm6, xmm3
mulps xmm6, xmm5
addps xmm6, xmm3
pslld xmm4, 23
paddd xmm4, xmm6
psrld xmm6, 16
pand xmm6, xmm11
paddd xmm4, xmm12
paddd xmm4, xmm6
movq xmm5, qword ptr [r9 + rcx]
pxor xmm6, xmm6
punpcklwd xmm6, xmm5
subps xmm6, xmmword ptr [rsp + 16]
maxps xmm6, xmm9
mulps xmm6, xmm2
movaps xmm5, xmm6
addps xmm5, xmm13
movaps xmm7, xmm5
addps xmm7, xmm10
subps xmm6, xmm7
mulps xmm6, xmm15
movaps xmm7, xmm6
mulps xmm7, xmm0
addps xmm7, xmmword ptr [rip + .LCPI_7]
mulps xmm7, xmm6
addps xmm7, xmm1
mulps xmm7, xmm6
addps xmm7, xmm14
mulps xmm7, xmm6
addps xmm7, xmm3
mulps xmm7, xmm6
addps xmm7, xmm3
pslld xmm5, 23
paddd xmm5, xmm7
psrld xmm7, 16
pand xmm7, xmm11
paddd xmm5, xmm12
paddd xmm5, xmm7
movaps xmm7, xmmword ptr [rsp]
psrad xmm4, 16
psrad xmm5, 16
packssdw xmm4, xmm5
movdqu xmmword ptr [r9 + rcx - 8], xmm4
add rcx, 32
cmp rcx, 512
jne .LBB_20
xor ecx, ecx
movq xmm4, qword ptr [r8 + rcx - 24]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
subps xmm5, xmm7
maxps xmm5, xmm9
mulps xmm5, xmm2
movaps xmm4, xmm5
addps xmm4, xmm13
movaps xmm6, xmm4
addps xmm6, xmm10
subps xmm5, xmm6
mulps xmm5, xmm15
movaps xmm6, xmm5
mulps xmm6, xmm0
movaps xmm7, xmmword ptr [rip + .LCPI_7]
addps xmm6, xmm7
mulps xmm6, xmm5
addps xmm6, xmm1
mulps xmm6, xmm5
addps xmm6, xmm14
mulps xmm6, xmm5
addps xmm6, xmm3
mulps xmm6, xmm5
addps xmm6, xmm3
pslld xmm4, 23
paddd xmm4, xmm6
psrld xmm6, 16
pand xmm6, xmm11
paddd xmm4, xmm12
paddd xmm4, xmm6
psrad xmm4, 16
movq xmm5, qword ptr [r8 + rcx - 16]
pxor xmm6, xmm6
punpcklwd xmm6, xmm5
subps xmm6, xmmword ptr [rsp + 48]
maxps xmm6, xmm9
mulps xmm6, xmm2
movaps xmm5, xmm6
addps xmm5, xmm13
movaps xmm7, xmm5
addps xmm7, xmm10
subps xmm6, xmm7
mulps xmm6, xmm15
movaps xmm7, xmm6
mulps xmm7, xmm0
addps xmm7, xmmword ptr [rip + .LCPI_7]
mulps xmm7, xmm6
addps xmm7, xmm1
mulps xmm7, xmm6
addps xmm7, xmm14
mulps xmm7, xmm6
addps xmm7, xmm3
mulps xmm7, xmm6
addps xmm7, xmm3
pslld xmm5, 23
paddd xmm5, xmm7
psrld xmm7, 16
pand xmm7, xmm11
paddd xmm5, xmm12
paddd xmm5, xmm7
psrad xmm5, 16
packssdw xmm4, xmm5
movdqu xmmword ptr [r8 + rcx - 24], xmm4
movq xmm4, qword ptr [r8 + rcx - 8]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
subps xmm5, xmmword ptr [rsp + 32]
maxps xmm5, xmm9
mulps xmm5, xmm2
movaps xmm4, xmm5
addps xmm4, xmm13
movaps xmm6, xmm4
addps xmm6, xmm10
subps xmm5, xmm6
mulps xmm5, xmm15
movaps xmm6, xmm5
mulps xmm6, xmm0
addps xmm6, xmmword ptr [rip + .LCPI_7]
mulps xmm6, xmm5
addps xmm6, xmm1
mulps xmm6, xmm5
addps xmm6, xmm14
mulps xmm6, xmm5
addps xmm6, xmm3
mulps xmm6, xmm5
addps xmm6, xmm3
pslld xmm4, 23
paddd xmm4, xmm6
psrld xmm6, 16
pand xmm6, xmm11
paddd xmm4, xmm12
paddd xmm4, xmm6
movq xmm5, qword ptr [r8 + rcx]
pxor xmm6, xmm6
punpcklwd xmm6, xmm5
subps xmm6, xmmword ptr [rsp + 16]
maxps xmm6, xmm9
mulps xmm6, xmm2
movaps xmm5, xmm6
addps xmm5, xmm13
movaps xmm7, xmm5
addps xmm7, xmm10
subps xmm6, xmm7
mulps xmm6, xmm15
movaps xmm7, xmm6
mulps xmm7, xmm0
addps xmm7, xmmword ptr [rip + .LCPI_7]
mulps xmm7, xmm6
addps xmm7, xmm1
mulps xmm7, xmm6
addps xmm7, xmm14
mulps xmm7, xmm6
addps xmm7, xmm3
mulps xmm7, xmm6
addps xmm7, xmm3
pslld xmm5, 23
paddd xmm5, xmm7
psrld xmm7, 16
pand xmm7, xmm11
paddd xmm5, xmm12
paddd xmm5, xmm7
movaps xmm7, xmmword ptr [rsp]
psrad xmm4, 16
psrad xmm5, 16
packssdw xmm4, xmm5
movdqu xmmword ptr [r8 + rcx - 8], xmm4
add rcx, 32
cmp rcx, 512
jne .LBB_22
xor ecx, ecx
movq xmm4, qword ptr [rsi + rcx - 24]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
subps xmm5, xmm7
maxps xmm5, xmm9
mulps xmm5, xmm2
movaps xmm4, xmm5
addps xmm4, xmm13
movaps xmm6, xmm4
addps xmm6, xmm10
subps xmm5, xmm6
mulps xmm5, xmm15
movaps xmm6, xmm5
mulps xmm6, xmm0
movaps xmm7, xmmword ptr [rip + .LCPI_7]
addps xmm6, xmm7
mulps xmm6, xmm5
addps xmm6, xmm1
mulps xmm6, xmm5
addps xmm6, xmm14
mulps xmm6, xmm5
addps xmm6, xmm3
mulps xmm6, xmm5
addps xmm6, xmm3
pslld xmm4, 23
paddd xmm4, xmm6
psrld xmm6, 16
pand xmm6, xmm11
paddd xmm4, xmm12
paddd xmm4, xmm6
psrad xmm4, 16
movq xmm5, qword ptr [rsi + rcx - 16]
pxor xmm6, xmm6
punpcklwd xmm6, xmm5
subps xmm6, xmmword ptr [rsp + 48]
maxps xmm6, xmm9
mulps xmm6, xmm2
movaps xmm5, xmm6
addps xmm5, xmm13
movaps xmm7, xmm5
addps xmm7, xmm10
subps xmm6, xmm7
mulps xmm6, xmm15
movaps xmm7, xmm6
mulps xmm7, xmm0
addps xmm7, xmmword ptr [rip + .LCPI_7]
mulps xmm7, xmm6
addps xmm7, xmm1
mulps xmm7, xmm6
addps xmm7, xmm14
mulps xmm7, xmm6
addps xmm7, xmm3
mulps xmm7, xmm6
addps xmm7, xmm3
pslld xmm5, 23
paddd xmm5, xmm7
psrld xmm7, 16
pand xmm7, xmm11
paddd xmm5, xmm12
paddd xmm5, xmm7
psrad xmm5, 16
packssdw xmm4, xmm5
movdqu xmmword ptr [rsi + rcx - 24], xmm4
movq xmm4, qword ptr [rsi + rcx - 8]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
subps xmm5, xmmword ptr [rsp + 32]
maxps xmm5, xmm9
mulps xmm5, xmm2
movaps xmm4, xmm5
addps xmm4, xmm13
movaps xmm6, xmm4
addps xmm6, xmm10
subps xmm5, xmm6
mulps xmm5, xmm15
movaps xmm6, xmm5
mulps xmm6, xmm0
addps xmm6, xmmword ptr [rip + .LCPI_7]
mulps xmm6, xmm5
addps xmm6, xmm1
mulps xmm6, xmm5
addps xmm6, xmm14
mulps xmm6, xmm5
addps xmm6, xmm3
mulps xmm6, xmm5
addps xmm6, xmm3
pslld xmm4, 23
paddd xmm4, xmm6
psrld xmm6, 16
pand xmm6, xmm11
paddd xmm4, xmm12
paddd xmm4, xmm6
movq xmm5, qword ptr [rsi + rcx]
pxor xmm6, xmm6
punpcklwd xmm6, xmm5
subps xmm6, xmmword ptr [rsp + 16]
maxps xmm6, xmm9
mulps xmm6, xmm2
movaps xmm5, xmm6
addps xmm5, xmm13
movaps xmm7, xmm5
addps xmm7, xmm10
subps xmm6, xmm7
mulps xmm6, xmm15
movaps xmm7, xmm6
mulps xmm7, xmm0
addps xmm7, xmmword ptr [rip + .LCPI_7]
mulps xmm7, xmm6
addps xmm7, xmm1
mulps xmm7, xmm6
addps xmm7, xmm14
mulps xmm7, xmm6
addps xmm7, xmm3
mulps xmm7, xmm6
addps xmm7, xmm3
pslld xmm5, 23
paddd xmm5, xmm7
psrld xmm7, 16
pand xmm7, xmm11
paddd xmm5, xmm12
paddd xmm5, xmm7
movdqa xmm7, xmmword ptr [rsp]
psrad xmm4, 16
psrad xmm5, 16
packssdw xmm4, xmm5
movdqu xmmword ptr [rsi + rcx - 8], xmm4
add rcx, 32
cmp rcx, 512
jne .LBB_24
xorps xmm0, xmm0
mov rsi, -4
xorps xmm1, xmm1
xorps xmm2, xmm2
xorps xmm3, xmm3
cmp rax, 32512
ja .LBB_43
movq xmm4, qword ptr [r15 + 2*rax - 504]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm0, xmm5
movq xmm4, qword ptr [r15 + 2*rax - 496]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm1, xmm5
movq xmm4, qword ptr [r15 + 2*rax - 488]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm2, xmm5
movq xmm4, qword ptr [r15 + 2*rax - 480]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm3, xmm5
movq xmm4, qword ptr [r15 + 2*rax - 472]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm0
movq xmm0, qword ptr [r15 + 2*rax - 464]
pxor xmm4, xmm4
punpcklwd xmm4, xmm0
addps xmm4, xmm1
movq xmm0, qword ptr [r15 + 2*rax - 456]
xorps xmm1, xmm1
punpcklwd xmm1, xmm0
addps xmm1, xmm2
movq xmm0, qword ptr [r15 + 2*rax - 448]
xorps xmm2, xmm2
punpcklwd xmm2, xmm0
addps xmm2, xmm3
movq xmm0, qword ptr [r15 + 2*rax - 440]
xorps xmm3, xmm3
punpcklwd xmm3, xmm0
addps xmm3, xmm5
movq xmm0, qword ptr [r15 + 2*rax - 432]
xorps xmm5, xmm5
punpcklwd xmm5, xmm0
addps xmm5, xmm4
movq xmm0, qword ptr [r15 + 2*rax - 424]
xorps xmm4, xmm4
punpcklwd xmm4, xmm0
addps xmm4, xmm1
movq xmm0, qword ptr [r15 + 2*rax - 416]
xorps xmm1, xmm1
punpcklwd xmm1, xmm0
addps xmm1, xmm2
movq xmm0, qword ptr [r15 + 2*rax - 408]
xorps xmm2, xmm2
punpcklwd xmm2, xmm0
addps xmm2, xmm3
movq xmm0, qword ptr [r15 + 2*rax - 400]
xorps xmm3, xmm3
punpcklwd xmm3, xmm0
addps xmm3, xmm5
movq xmm0, qword ptr [r15 + 2*rax - 392]
xorps xmm5, xmm5
punpcklwd xmm5, xmm0
addps xmm5, xmm4
movq xmm0, qword ptr [r15 + 2*rax - 384]
xorps xmm4, xmm4
punpcklwd xmm4, xmm0
addps xmm4, xmm1
movq xmm0, qword ptr [r15 + 2*rax - 376]
xorps xmm1, xmm1
punpcklwd xmm1, xmm0
addps xmm1, xmm2
movq xmm0, qword ptr [r15 + 2*rax - 368]
xorps xmm2, xmm2
punpcklwd xmm2, xmm0
addps xmm2, xmm3
movq xmm0, qword ptr [r15 + 2*rax - 360]
xorps xmm3, xmm3
punpcklwd xmm3, xmm0
addps xmm3, xmm5
movq xmm0, qword ptr [r15 + 2*rax - 352]
xorps xmm5, xmm5
punpcklwd xmm5, xmm0
addps xmm5, xmm4
movq xmm0, qword ptr [r15 + 2*rax - 344]
xorps xmm4, xmm4
punpcklwd xmm4, xmm0
addps xmm4, xmm1
movq xmm0, qword ptr [r15 + 2*rax - 336]
xorps xmm1, xmm1
punpcklwd xmm1, xmm0
addps xmm1, xmm2
movq xmm0, qword ptr [r15 + 2*rax - 328]
xorps xmm2, xmm2
punpcklwd xmm2, xmm0
addps xmm2, xmm3
movq xmm0, qword ptr [r15 + 2*rax - 320]
xorps xmm3, xmm3
punpcklwd xmm3, xmm0
addps xmm3, xmm5
movq xmm0, qword ptr [r15 + 2*rax - 312]
xorps xmm5, xmm5
punpcklwd xmm5, xmm0
addps xmm5, xmm4
movq xmm0, qword ptr [r15 + 2*rax - 304]
xorps xmm4, xmm4
punpcklwd xmm4, xmm0
addps xmm4, xmm1
movq xmm0, qword ptr [r15 + 2*rax - 296]
xorps xmm1, xmm1
punpcklwd xmm1, xmm0
addps xmm1, xmm2
movq xmm0, qword ptr [r15 + 2*rax - 288]
xorps xmm2, xmm2
punpcklwd xmm2, xmm0
addps xmm2, xmm3
movq xmm0, qword ptr [r15 + 2*rax - 280]
xorps xmm3, xmm3
punpcklwd xmm3, xmm0
addps xmm3, xmm5
movq xmm0, qword ptr [r15 + 2*rax - 272]
xorps xmm5, xmm5
punpcklwd xmm5, xmm0
addps xmm5, xmm4
movq xmm0, qword ptr [r15 + 2*rax - 264]
xorps xmm4, xmm4
punpcklwd xmm4, xmm0
addps xmm4, xmm1
movq xmm0, qword ptr [r15 + 2*rax - 256]
xorps xmm1, xmm1
punpcklwd xmm1, xmm0
addps xmm1, xmm2
movq xmm0, qword ptr [r15 + 2*rax - 248]
xorps xmm2, xmm2
punpcklwd xmm2, xmm0
addps xmm2, xmm3
movq xmm0, qword ptr [r15 + 2*rax - 240]
xorps xmm3, xmm3
punpcklwd xmm3, xmm0
addps xmm3, xmm5
movq xmm0, qword ptr [r15 + 2*rax - 232]
xorps xmm5, xmm5
punpcklwd xmm5, xmm0
addps xmm5, xmm4
movq xmm0, qword ptr [r15 + 2*rax - 224]
xorps xmm4, xmm4
punpcklwd xmm4, xmm0
addps xmm4, xmm1
movq xmm0, qword ptr [r15 + 2*rax - 216]
xorps xmm1, xmm1
punpcklwd xmm1, xmm0
addps xmm1, xmm2
movq xmm0, qword ptr [r15 + 2*rax - 208]
xorps xmm2, xmm2
punpcklwd xmm2, xmm0
addps xmm2, xmm3
movq xmm0, qword ptr [r15 + 2*rax - 200]
xorps xmm3, xmm3
punpcklwd xmm3, xmm0
addps xmm3, xmm5
movq xmm0, qword ptr [r15 + 2*rax - 192]
xorps xmm5, xmm5
punpcklwd xmm5, xmm0
addps xmm5, xmm4
movq xmm0, qword ptr [r15 + 2*rax - 184]
xorps xmm4, xmm4
punpcklwd xmm4, xmm0
addps xmm4, xmm1
movq xmm0, qword ptr [r15 + 2*rax - 176]
xorps xmm1, xmm1
punpcklwd xmm1, xmm0
addps xmm1, xmm2
movq xmm0, qword ptr [r15 + 2*rax - 168]
xorps xmm2, xmm2
punpcklwd xmm2, xmm0
addps xmm2, xmm3
movq xmm0, qword ptr [r15 + 2*rax - 160]
xorps xmm3, xmm3
punpcklwd xmm3, xmm0
addps xmm3, xmm5
movq xmm0, qword ptr [r15 + 2*rax - 152]
xorps xmm5, xmm5
punpcklwd xmm5, xmm0
addps xmm5, xmm4
movq xmm0, qword ptr [r15 + 2*rax - 144]
xorps xmm4, xmm4
punpcklwd xmm4, xmm0
addps xmm4, xmm1
movq xmm0, qword ptr [r15 + 2*rax - 136]
xorps xmm1, xmm1
punpcklwd xmm1, xmm0
addps xmm1, xmm2
movq xmm0, qword ptr [r15 + 2*rax - 128]
xorps xmm2, xmm2
punpcklwd xmm2, xmm0
addps xmm2, xmm3
movq xmm0, qword ptr [r15 + 2*rax - 120]
xorps xmm3, xmm3
punpcklwd xmm3, xmm0
addps xmm3, xmm5
movq xmm0, qword ptr [r15 + 2*rax - 112]
xorps xmm5, xmm5
punpcklwd xmm5, xmm0
addps xmm5, xmm4
movq xmm0, qword ptr [r15 + 2*rax - 104]
xorps xmm4, xmm4
punpcklwd xmm4, xmm0
addps xmm4, xmm1
movq xmm0, qword ptr [r15 + 2*rax - 96]
xorps xmm1, xmm1
punpcklwd xmm1, xmm0
addps xmm1, xmm2
movq xmm0, qword ptr [r15 + 2*rax - 88]
xorps xmm2, xmm2
punpcklwd xmm2, xmm0
addps xmm2, xmm3
movq xmm0, qword ptr [r15 + 2*rax - 80]
xorps xmm3, xmm3
punpcklwd xmm3, xmm0
addps xmm3, xmm5
movq xmm0, qword ptr [r15 + 2*rax - 72]
xorps xmm5, xmm5
punpcklwd xmm5, xmm0
addps xmm5, xmm4
movq xmm0, qword ptr [r15 + 2*rax - 64]
xorps xmm4, xmm4
punpcklwd xmm4, xmm0
addps xmm4, xmm1
movq xmm0, qword ptr [r15 + 2*rax - 56]
xorps xmm1, xmm1
punpcklwd xmm1, xmm0
addps xmm1, xmm2
movq xmm0, qword ptr [r15 + 2*rax - 48]
xorps xmm2, xmm2
punpcklwd xmm2, xmm0
addps xmm2, xmm3
movq xmm0, qword ptr [r15 + 2*rax - 40]
xorps xmm3, xmm3
punpcklwd xmm3, xmm0
addps xmm3, xmm5
movq xmm0, qword ptr [r15 + 2*rax - 32]
xorps xmm5, xmm5
punpcklwd xmm5, xmm0
addps xmm5, xmm4
movq xmm4, qword ptr [r15 + 2*rax - 24]
pxor xmm0, xmm0
punpcklwd xmm0, xmm4
addps xmm0, xmm1
movq xmm4, qword ptr [r15 + 2*rax - 16]
xorps xmm1, xmm1
punpcklwd xmm1, xmm4
addps xmm1, xmm2
movq xmm4, qword ptr [r15 + 2*rax - 8]
xorps xmm2, xmm2
punpcklwd xmm2, xmm4
addps xmm2, xmm3
movq xmm4, qword ptr [r15 + 2*rax]
xorps xmm3, xmm3
punpcklwd xmm3, xmm4
addps xmm3, xmm5
add rax, 1024
inc rsi
jne .LBB_26
movaps xmmword ptr [rsp + 192], xmm0
movaps xmmword ptr [rsp + 208], xmm1
movaps xmmword ptr [rsp + 224], xmm2
movaps xmmword ptr [rsp + 240], xmm3
movups xmmword ptr [rsp + 80], xmm1
movups xmmword ptr [rsp + 96], xmm2
movups xmmword ptr [rsp + 112], xmm3
movaps xmm1, xmm0
unpckhpd xmm1, xmm0
addss xmm1, xmm0
mov eax, 52
lea rcx, [rsp + 208]
addss xmm1, dword ptr [rcx]
add rcx, 8
add rax, -8
cmp rax, 4
ja .LBB_29
movss dword ptr [rsp + 64], xmm1
movss dword ptr [rsp + 72], xmm1
mov eax, 52
lea rcx, [rsp + 80]
movss dword ptr [rcx], xmm1
add rax, -8
add rcx, 8
cmp rax, 4
ja .LBB_31
movaps xmm2, xmm0
shufps xmm2, xmm0, 255
shufps xmm0, xmm0, 85
addss xmm0, xmm2
mov eax, 48
lea rcx, [rsp + 212]
addss xmm0, dword ptr [rcx]
add rcx, 8
add rax, -8
cmp rax, 4
ja .LBB_33
movss dword ptr [rsp + 68], xmm0
movss dword ptr [rsp + 76], xmm0
mov eax, 48
lea rcx, [rsp + 84]
movss dword ptr [rcx], xmm0
add rax, -8
add rcx, 8
cmp rax, 4
ja .LBB_35
movss xmm13, dword ptr [rip + .LCPI_13]
movaps xmm9, xmm13
divss xmm9, dword ptr [rsp + 72]
movaps xmm10, xmm13
divss xmm10, dword ptr [rsp + 76]
movaps xmm14, xmm13
divss xmm14, dword ptr [rsp + 80]
movaps xmm15, xmm13
divss xmm15, dword ptr [rsp + 84]
movaps xmm3, xmm13
divss xmm3, dword ptr [rsp + 88]
movaps xmm4, xmm13
divss xmm4, dword ptr [rsp + 92]
movaps xmm5, xmm13
divss xmm5, dword ptr [rsp + 96]
movaps xmm6, xmm13
divss xmm6, dword ptr [rsp + 100]
movaps xmm7, xmm13
divss xmm7, dword ptr [rsp + 104]
movaps xmm2, xmm13
divss xmm2, dword ptr [rsp + 108]
movaps xmmword ptr [rsp + 144], xmm2
movaps xmm2, xmm13
divss xmm2, dword ptr [rsp + 112]
movaps xmmword ptr [rsp + 128], xmm2
movaps xmm2, xmm13
divss xmm2, dword ptr [rsp + 116]
movaps xmmword ptr [rsp + 160], xmm2
movaps xmm2, xmm13
divss xmm2, dword ptr [rsp + 120]
movaps xmmword ptr [rsp + 48], xmm2
movaps xmm2, xmm13
divss xmm2, xmm1
movaps xmmword ptr [rsp + 32], xmm2
movaps xmm1, xmmword ptr [rsp + 128]
movaps xmm2, xmm13
divss xmm2, xmm0
movaps xmmword ptr [rsp + 16], xmm2
movaps xmm0, xmmword ptr [rsp + 144]
movaps xmmword ptr [rsp], xmm13
movaps xmm13, xmmword ptr [rsp + 160]
movaps xmm2, xmmword ptr [rsp]
divss xmm2, dword ptr [rsp + 124]
movaps xmmword ptr [rsp], xmm2
movaps xmm2, xmmword ptr [rsp + 32]
shufps xmm2, xmm2, 0
movaps xmmword ptr [rsp + 32], xmm2
movaps xmm2, xmmword ptr [rsp + 16]
shufps xmm2, xmm2, 0
movaps xmmword ptr [rsp + 16], xmm2
shufps xmm9, xmm9, 0
shufps xmm10, xmm10, 0
shufps xmm14, xmm14, 0
shufps xmm15, xmm15, 0
shufps xmm3, xmm3, 0
shufps xmm4, xmm4, 0
shufps xmm5, xmm5, 0
shufps xmm6, xmm6, 0
shufps xmm7, xmm7, 0
shufps xmm0, xmm0, 0
shufps xmm1, xmm1, 0
shufps xmm13, xmm13, 0
movaps xmm2, xmmword ptr [rsp + 48]
shufps xmm2, xmm2, 0
movaps xmmword ptr [rsp + 48], xmm2
movaps xmm2, xmmword ptr [rsp]
shufps xmm2, xmm2, 0
movaps xmmword ptr [rsp], xmm2
mov esi, 4
xor r8d, r8d
movaps xmmword ptr [rsp + 160], xmm13
movaps xmmword ptr [rsp + 304], xmm4
movaps xmmword ptr [rsp + 288], xmm5
movaps xmmword ptr [rsp + 272], xmm6
movaps xmmword ptr [rsp + 256], xmm7
movaps xmmword ptr [rsp + 144], xmm0
movaps xmmword ptr [rsp + 128], xmm1
lea rax, [8*r8]
add rax, r13
cmp rax, 32512
ja .LBB_45
lea rax, [rdi + 2*rax]
xor r10d, r10d
movaps xmm13, xmm3
mov r9, r10
shl r9, 5
movzx ecx, word ptr [rax + r9]
movd xmm1, ecx
pinsrw xmm1, word ptr [rax + r9 + 32], 1
movzx ecx, word ptr [rax + r9 + 128]
movd xmm2, ecx
pinsrw xmm2, word ptr [rax + r9 + 160], 1
pinsrw xmm1, word ptr [rax + r9 + 64], 2
pinsrw xmm2, word ptr [rax + r9 + 192], 2
pinsrw xmm1, word ptr [rax + r9 + 96], 3
pinsrw xmm2, word ptr [rax + r9 + 224], 3
xorps xmm0, xmm0
punpcklwd xmm0, xmm1
pxor xmm1, xmm1
punpcklwd xmm1, xmm2
movaps xmm2, xmmword ptr [rsp + 32]
mulps xmm1, xmm2
mulps xmm0, xmm2
movaps xmm2, xmm0
movaps xmm3, xmm1
psrld xmm3, 16
psrld xmm2, 16
pand xmm3, xmm11
paddd xmm1, xmm12
paddd xmm1, xmm3
pand xmm2, xmm11
paddd xmm0, xmm12
paddd xmm0, xmm2
pextrw ecx, xmm1, 7
pextrw edx, xmm1, 5
pextrw r11d, xmm1, 3
pextrw ebx, xmm1, 1
mov word ptr [rax + r9 + 128], bx
mov word ptr [rax + r9 + 160], r11w
mov word ptr [rax + r9 + 192], dx
mov word ptr [rax + r9 + 224], cx
movzx ecx, word ptr [rax + r9 + 130]
movzx edx, word ptr [rax + r9 + 2]
movd xmm3, ecx
pinsrw xmm3, word ptr [rax + r9 + 162], 1
movd xmm4, edx
pinsrw xmm3, word ptr [rax + r9 + 194], 2
pinsrw xmm4, word ptr [rax + r9 + 34], 1
pinsrw xmm3, word ptr [rax + r9 + 226], 3
pinsrw xmm4, word ptr [rax + r9 + 66], 2
psrld xmm0, 16
pxor xmm1, xmm1
pinsrw xmm4, word ptr [rax + r9 + 98], 3
pxor xmm2, xmm2
punpcklwd xmm2, xmm3
movaps xmm3, xmmword ptr [rsp + 16]
mulps xmm2, xmm3
punpcklwd xmm1, xmm4
mulps xmm1, xmm3
movaps xmm3, xmm1
movaps xmm4, xmm2
psrld xmm3, 16
psrld xmm4, 16
pand xmm4, xmm11
paddd xmm2, xmm12
pand xmm3, xmm11
paddd xmm2, xmm4
paddd xmm1, xmm12
pextrw ecx, xmm2, 7
pextrw edx, xmm2, 5
pextrw r11d, xmm2, 3
paddd xmm1, xmm3
pextrw ebx, xmm2, 1
mov word ptr [rax + r9 + 130], bx
mov word ptr [rax + r9 + 162], r11w
mov word ptr [rax + r9 + 194], dx
mov word ptr [rax + r9 + 226], cx
psrld xmm1, 16
movzx ecx, word ptr [rax + r9 + 4]
movd xmm4, ecx
movzx ecx, word ptr [rax + r9 + 132]
movd xmm5, ecx
pinsrw xmm5, word ptr [rax + r9 + 164], 1
pinsrw xmm4, word ptr [rax + r9 + 36], 1
pinsrw xmm5, word ptr [rax + r9 + 196], 2
pinsrw xmm4, word ptr [rax + r9 + 68], 2
pinsrw xmm5, word ptr [rax + r9 + 228], 3
pinsrw xmm4, word ptr [rax + r9 + 100], 3
pxor xmm2, xmm2
pxor xmm3, xmm3
punpcklwd xmm3, xmm5
punpcklwd xmm2, xmm4
mulps xmm3, xmm9
mulps xmm2, xmm9
movaps xmm4, xmm2
psrld xmm4, 16
movaps xmm5, xmm3
psrld xmm5, 16
pand xmm5, xmm11
pand xmm4, xmm11
paddd xmm3, xmm12
paddd xmm3, xmm5
paddd xmm2, xmm12
paddd xmm2, xmm4
pextrw edx, xmm3, 7
pextrw r11d, xmm3, 5
movdqa xmm4, xmm2
pextrw ebx, xmm3, 3
psrld xmm4, 16
pextrw r14d, xmm3, 1
psrad xmm3, 16
pextrw ecx, xmm2, 5
mov word ptr [rax + r9 + 132], r14w
mov word ptr [rax + r9 + 164], bx
mov word ptr [rax + r9 + 196], r11w
mov word ptr [rax + r9 + 228], dx
movzx edx, word ptr [rax + r9 + 6]
movd xmm6, edx
pinsrw xmm6, word ptr [rax + r9 + 38], 1
movzx edx, word ptr [rax + r9 + 134]
movd xmm7, edx
pinsrw xmm7, word ptr [rax + r9 + 166], 1
pinsrw xmm6, word ptr [rax + r9 + 70], 2
pinsrw xmm7, word ptr [rax + r9 + 198], 2
pinsrw xmm6, word ptr [rax + r9 + 102], 3
psrad xmm2, 16
pinsrw xmm7, word ptr [rax + r9 + 230], 3
packssdw xmm2, xmm3
pxor xmm3, xmm3
pxor xmm5, xmm5
punpcklwd xmm5, xmm7
punpcklwd xmm3, xmm6
mulps xmm5, xmm10
mulps xmm3, xmm10
movaps xmm6, xmm3
psrld xmm6, 16
movaps xmm7, xmm5
psrld xmm7, 16
pand xmm7, xmm11
pand xmm6, xmm11
paddd xmm5, xmm12
paddd xmm5, xmm7
paddd xmm3, xmm12
paddd xmm3, xmm6
pextrw r11d, xmm5, 7
pextrw ebx, xmm5, 5
movdqa xmm6, xmm3
pextrw r14d, xmm5, 3
psrld xmm6, 16
pextrw edx, xmm5, 1
psrad xmm5, 16
psrad xmm3, 16
movdqa xmm7, xmm0
punpcklwd xmm7, xmm1
packssdw xmm3, xmm5
pshufd xmm5, xmm7, 238
punpckldq xmm7, xmm4
punpcklwd xmm7, xmm6
pshufd xmm4, xmm7, 108
pshufhw xmm4, xmm4, 232
movdqa xmm6, xmm2
psrld xmm6, 16
pshufd xmm4, xmm4, 232
punpckldq xmm5, xmm6
punpcklwd xmm5, xmm3
pshufd xmm5, xmm5, 39
pshuflw xmm4, xmm4, 108
pshufhw xmm5, xmm5, 232
pshufd xmm5, xmm5, 230
punpckhwd xmm0, xmm1
movq qword ptr [rax + r9], xmm4
pshufd xmm1, xmm0, 238
pinsrw xmm0, ecx, 2
pshuflw xmm4, xmm5, 201
punpcklwd xmm0, xmm3
pshuflw xmm0, xmm0, 232
pshufd xmm0, xmm0, 232
movq qword ptr [rax + r9 + 32], xmm4
psrlq xmm2, 48
punpckldq xmm1, xmm2
pand xmm1, xmm8
movq qword ptr [rax + r9 + 64], xmm0
movdqa xmm0, xmm8
pandn xmm0, xmm3
por xmm0, xmm1
movq qword ptr [rax + r9 + 96], xmm0
mov word ptr [rax + r9 + 134], dx
mov word ptr [rax + r9 + 166], r14w
mov word ptr [rax + r9 + 198], bx
mov word ptr [rax + r9 + 230], r11w
movzx ecx, word ptr [rax + r9 + 8]
movd xmm1, ecx
movzx ecx, word ptr [rax + r9 + 136]
movd xmm2, ecx
pinsrw xmm2, word ptr [rax + r9 + 168], 1
pinsrw xmm1, word ptr [rax + r9 + 40], 1
pinsrw xmm2, word ptr [rax + r9 + 200], 2
pinsrw xmm1, word ptr [rax + r9 + 72], 2
pinsrw xmm2, word ptr [rax + r9 + 232], 3
pinsrw xmm1, word ptr [rax + r9 + 104], 3
pxor xmm0, xmm0
pxor xmm3, xmm3
punpcklwd xmm3, xmm2
punpcklwd xmm0, xmm1
mulps xmm3, xmm14
mulps xmm0, xmm14
movaps xmm1, xmm0
psrld xmm1, 16
movaps xmm2, xmm3
psrld xmm2, 16
pand xmm2, xmm11
pand xmm1, xmm11
paddd xmm3, xmm12
paddd xmm3, xmm2
pextrw ecx, xmm3, 7
pextrw edx, xmm3, 5
pextrw r11d, xmm3, 3
paddd xmm0, xmm12
pextrw ebx, xmm3, 1
mov word ptr [rax + r9 + 136], bx
mov word ptr [rax + r9 + 168], r11w
mov word ptr [rax + r9 + 200], dx
mov word ptr [rax + r9 + 232], cx
paddd xmm0, xmm1
movzx ecx, word ptr [rax + r9 + 10]
movd xmm2, ecx
movzx ecx, word ptr [rax + r9 + 138]
movd xmm3, ecx
pinsrw xmm3, word ptr [rax + r9 + 170], 1
pinsrw xmm2, word ptr [rax + r9 + 42], 1
pinsrw xmm3, word ptr [rax + r9 + 202], 2
pinsrw xmm2, word ptr [rax + r9 + 74], 2
pinsrw xmm3, word ptr [rax + r9 + 234], 3
pinsrw xmm2, word ptr [rax + r9 + 106], 3
psrld xmm0, 16
pxor xmm1, xmm1
pxor xmm4, xmm4
punpcklwd xmm1, xmm2
punpcklwd xmm4, xmm3
mulps xmm4, xmm15
mulps xmm1, xmm15
movaps xmm2, xmm1
psrld xmm2, 16
movaps xmm3, xmm4
psrld xmm3, 16
pand xmm3, xmm11
paddd xmm4, xmm12
paddd xmm4, xmm3
paddd xmm1, xmm12
pand xmm2, xmm11
paddd xmm1, xmm2
psrld xmm1, 16
pextrw ecx, xmm4, 7
pextrw edx, xmm4, 5
pextrw r11d, xmm4, 3
pextrw ebx, xmm4, 1
mov word ptr [rax + r9 + 138], bx
mov word ptr [rax + r9 + 170], r11w
mov word ptr [rax + r9 + 202], dx
mov word ptr [rax + r9 + 234], cx
movzx ecx, word ptr [rax + r9 + 12]
movd xmm3, ecx
pinsrw xmm3, word ptr [rax + r9 + 44], 1
movzx ecx, word ptr [rax + r9 + 140]
movd xmm4, ecx
pinsrw xmm4, word ptr [rax + r9 + 172], 1
pinsrw xmm3, word ptr [rax + r9 + 76], 2
pinsrw xmm4, word ptr [rax + r9 + 204], 2
pinsrw xmm3, word ptr [rax + r9 + 108], 3
pinsrw xmm4, word ptr [rax + r9 + 236], 3
pxor xmm2, xmm2
punpcklwd xmm2, xmm3
pxor xmm6, xmm6
punpcklwd xmm6, xmm4
mulps xmm6, xmm13
mulps xmm2, xmm13
movaps xmm4, xmm2
movaps xmm5, xmm6
psrld xmm5, 16
psrld xmm4, 16
pand xmm5, xmm11
paddd xmm6, xmm12
paddd xmm6, xmm5
pand xmm4, xmm11
paddd xmm2, xmm12
paddd xmm2, xmm4
pextrw edx, xmm6, 7
pextrw r11d, xmm6, 5
pextrw ebx, xmm6, 3
movdqa xmm4, xmm2
pextrw r14d, xmm6, 1
pextrw ecx, xmm2, 5
mov word ptr [rax + r9 + 140], r14w
mov word ptr [rax + r9 + 172], bx
mov word ptr [rax + r9 + 204], r11w
mov word ptr [rax + r9 + 236], dx
movzx edx, word ptr [rax + r9 + 14]
movd xmm5, edx
pinsrw xmm5, word ptr [rax + r9 + 46], 1
movzx edx, word ptr [rax + r9 + 142]
movd xmm7, edx
pinsrw xmm7, word ptr [rax + r9 + 174], 1
pinsrw xmm5, word ptr [rax + r9 + 78], 2
pinsrw xmm7, word ptr [rax + r9 + 206], 2
pinsrw xmm5, word ptr [rax + r9 + 110], 3
psrad xmm2, 16
pinsrw xmm7, word ptr [rax + r9 + 238], 3
psrld xmm4, 16
pxor xmm3, xmm3
punpcklwd xmm3, xmm5
pxor xmm5, xmm5
psrad xmm6, 16
punpcklwd xmm5, xmm7
movaps xmm7, xmmword ptr [rsp + 304]
mulps xmm5, xmm7
mulps xmm3, xmm7
packssdw xmm2, xmm6
movaps xmm6, xmm3
movaps xmm7, xmm5
psrld xmm7, 16
psrld xmm6, 16
pand xmm7, xmm11
pand xmm6, xmm11
paddd xmm5, xmm12
paddd xmm5, xmm7
paddd xmm3, xmm12
paddd xmm3, xmm6
pextrw r11d, xmm5, 7
movdqa xmm6, xmm0
punpcklwd xmm6, xmm1
pextrw ebx, xmm5, 5
pshufd xmm7, xmm6, 238
punpckldq xmm6, xmm4
pextrw edx, xmm5, 3
movdqa xmm4, xmm3
pextrw r14d, xmm5, 1
psrld xmm4, 16
psrad xmm5, 16
psrad xmm3, 16
packssdw xmm3, xmm5
punpcklwd xmm6, xmm4
pshufd xmm4, xmm6, 108
movdqa xmm5, xmm2
pshufhw xmm4, xmm4, 232
psrld xmm5, 16
punpckldq xmm7, xmm5
punpcklwd xmm7, xmm3
pshufd xmm4, xmm4, 232
pshufd xmm5, xmm7, 39
pshufhw xmm5, xmm5, 232
punpckhwd xmm0, xmm1
pshuflw xmm1, xmm4, 108
pshufd xmm4, xmm0, 238
pinsrw xmm0, ecx, 2
movq qword ptr [rax + r9 + 8], xmm1
pshufd xmm1, xmm5, 230
punpcklwd xmm0, xmm3
pshuflw xmm0, xmm0, 232
pshuflw xmm1, xmm1, 201
pshufd xmm0, xmm0, 232
psrlq xmm2, 48
punpckldq xmm4, xmm2
movq qword ptr [rax + r9 + 40], xmm1
pand xmm4, xmm8
movdqa xmm1, xmm8
pandn xmm1, xmm3
movq qword ptr [rax + r9 + 72], xmm0
por xmm1, xmm4
movq qword ptr [rax + r9 + 104], xmm1
mov word ptr [rax + r9 + 142], r14w
mov word ptr [rax + r9 + 174], dx
mov word ptr [rax + r9 + 206], bx
mov word ptr [rax + r9 + 238], r11w
movzx ecx, word ptr [rax + r9 + 16]
movd xmm1, ecx
pinsrw xmm1, word ptr [rax + r9 + 48], 1
movzx ecx, word ptr [rax + r9 + 144]
movd xmm2, ecx
pinsrw xmm2, word ptr [rax + r9 + 176], 1
pinsrw xmm1, word ptr [rax + r9 + 80], 2
pinsrw xmm2, word ptr [rax + r9 + 208], 2
pinsrw xmm1, word ptr [rax + r9 + 112], 3
pinsrw xmm2, word ptr [rax + r9 + 240], 3
pxor xmm0, xmm0
punpcklwd xmm0, xmm1
pxor xmm1, xmm1
punpcklwd xmm1, xmm2
movaps xmm2, xmmword ptr [rsp + 288]
mulps xmm1, xmm2
mulps xmm0, xmm2
movaps xmm2, xmm0
movaps xmm3, xmm1
psrld xmm3, 16
psrld xmm2, 16
pand xmm3, xmm11
paddd xmm1, xmm12
paddd xmm1, xmm3
pand xmm2, xmm11
paddd xmm0, xmm12
paddd xmm0, xmm2
pextrw ecx, xmm1, 7
pextrw edx, xmm1, 5
pextrw r11d, xmm1, 3
pextrw ebx, xmm1, 1
mov word ptr [rax + r9 + 144], bx
mov word ptr [rax + r9 + 176], r11w
mov word ptr [rax + r9 + 208], dx
mov word ptr [rax + r9 + 240], cx
movzx ecx, word ptr [rax + r9 + 146]
movzx edx, word ptr [rax + r9 + 18]
movd xmm3, ecx
pinsrw xmm3, word ptr [rax + r9 + 178], 1
movd xmm4, edx
pinsrw xmm3, word ptr [rax + r9 + 210], 2
pinsrw xmm4, word ptr [rax + r9 + 50], 1
pinsrw xmm3, word ptr [rax + r9 + 242], 3
pinsrw xmm4, word ptr [rax + r9 + 82], 2
psrld xmm0, 16
pxor xmm1, xmm1
pinsrw xmm4, word ptr [rax + r9 + 114], 3
pxor xmm2, xmm2
punpcklwd xmm2, xmm3
movaps xmm3, xmmword ptr [rsp + 272]
mulps xmm2, xmm3
punpcklwd xmm1, xmm4
mulps xmm1, xmm3
movaps xmm3, xmm1
movaps xmm4, xmm2
psrld xmm3, 16
psrld xmm4, 16
pand xmm4, xmm11
paddd xmm2, xmm12
pand xmm3, xmm11
paddd xmm2, xmm4
paddd xmm1, xmm12
pextrw ecx, xmm2, 7
pextrw edx, xmm2, 5
pextrw r11d, xmm2, 3
paddd xmm1, xmm3
pextrw ebx, xmm2, 1
mov word ptr [rax + r9 + 146], bx
mov word ptr [rax + r9 + 178], r11w
mov word ptr [rax + r9 + 210], dx
mov word ptr [rax + r9 + 242], cx
psrld xmm1, 16
movzx ecx, word ptr [rax + r9 + 20]
movd xmm4, ecx
movzx ecx, word ptr [rax + r9 + 148]
movd xmm5, ecx
pinsrw xmm5, word ptr [rax + r9 + 180], 1
pinsrw xmm4, word ptr [rax + r9 + 52], 1
pinsrw xmm5, word ptr [rax + r9 + 212], 2
pinsrw xmm4, word ptr [rax + r9 + 84], 2
pinsrw xmm5, word ptr [rax + r9 + 244], 3
pinsrw xmm4, word ptr [rax + r9 + 116], 3
pxor xmm2, xmm2
pxor xmm3, xmm3
punpcklwd xmm3, xmm5
punpcklwd xmm2, xmm4
movaps xmm4, xmmword ptr [rsp + 256]
mulps xmm3, xmm4
mulps xmm2, xmm4
movaps xmm4, xmm2
psrld xmm4, 16
movaps xmm5, xmm3
psrld xmm5, 16
pand xmm5, xmm11
pand xmm4, xmm11
paddd xmm3, xmm12
paddd xmm3, xmm5
paddd xmm2, xmm12
paddd xmm2, xmm4
pextrw edx, xmm3, 7
pextrw r11d, xmm3, 5
movdqa xmm4, xmm2
pextrw ebx, xmm3, 3
psrld xmm4, 16
pextrw r14d, xmm3, 1
psrad xmm3, 16
pextrw ecx, xmm2, 5
mov word ptr [rax + r9 + 148], r14w
mov word ptr [rax + r9 + 180], bx
mov word ptr [rax + r9 + 212], r11w
mov word ptr [rax + r9 + 244], dx
movzx edx, word ptr [rax + r9 + 22]
movd xmm6, edx
pinsrw xmm6, word ptr [rax + r9 + 54], 1
movzx edx, word ptr [rax + r9 + 150]
movd xmm7, edx
pinsrw xmm7, word ptr [rax + r9 + 182], 1
pinsrw xmm6, word ptr [rax + r9 + 86], 2
pinsrw xmm7, word ptr [rax + r9 + 214], 2
pinsrw xmm6, word ptr [rax + r9 + 118], 3
psrad xmm2, 16
pinsrw xmm7, word ptr [rax + r9 + 246], 3
packssdw xmm2, xmm3
pxor xmm3, xmm3
pxor xmm5, xmm5
punpcklwd xmm5, xmm7
punpcklwd xmm3, xmm6
movaps xmm6, xmmword ptr [rsp + 144]
mulps xmm5, xmm6
mulps xmm3, xmm6
movaps xmm6, xmm3
psrld xmm6, 16
movaps xmm7, xmm5
psrld xmm7, 16
pand xmm7, xmm11
pand xmm6, xmm11
paddd xmm5, xmm12
paddd xmm5, xmm7
paddd xmm3, xmm12
paddd xmm3, xmm6
pextrw r11d, xmm5, 7
pextrw ebx, xmm5, 5
movdqa xmm6, xmm3
pextrw r14d, xmm5, 3
psrld xmm6, 16
pextrw edx, xmm5, 1
psrad xmm5, 16
psrad xmm3, 16
movdqa xmm7, xmm0
punpcklwd xmm7, xmm1
packssdw xmm3, xmm5
pshufd xmm5, xmm7, 238
punpckldq xmm7, xmm4
punpcklwd xmm7, xmm6
pshufd xmm4, xmm7, 108
pshufhw xmm4, xmm4, 232
movdqa xmm6, xmm2
psrld xmm6, 16
pshufd xmm4, xmm4, 232
punpckldq xmm5, xmm6
punpcklwd xmm5, xmm3
pshufd xmm5, xmm5, 39
pshuflw xmm4, xmm4, 108
pshufhw xmm5, xmm5, 232
pshufd xmm5, xmm5, 230
punpckhwd xmm0, xmm1
movq qword ptr [rax + r9 + 16], xmm4
pshufd xmm1, xmm0, 238
pinsrw xmm0, ecx, 2
pshuflw xmm4, xmm5, 201
punpcklwd xmm0, xmm3
pshuflw xmm0, xmm0, 232
pshufd xmm0, xmm0, 232
movq qword ptr [rax + r9 + 48], xmm4
psrlq xmm2, 48
punpckldq xmm1, xmm2
pand xmm1, xmm8
movq qword ptr [rax + r9 + 80], xmm0
movdqa xmm0, xmm8
pandn xmm0, xmm3
por xmm0, xmm1
movq qword ptr [rax + r9 + 112], xmm0
mov word ptr [rax + r9 + 150], dx
mov word ptr [rax + r9 + 182], r14w
mov word ptr [rax + r9 + 214], bx
mov word ptr [rax + r9 + 246], r11w
movzx ecx, word ptr [rax + r9 + 24]
movd xmm1, ecx
movzx ecx, word ptr [rax + r9 + 152]
movd xmm2, ecx
pinsrw xmm2, word ptr [rax + r9 + 184], 1
pinsrw xmm1, word ptr [rax + r9 + 56], 1
pinsrw xmm2, word ptr [rax + r9 + 216], 2
pinsrw xmm1, word ptr [rax + r9 + 88], 2
pinsrw xmm2, word ptr [rax + r9 + 248], 3
pinsrw xmm1, word ptr [rax + r9 + 120], 3
pxor xmm0, xmm0
pxor xmm3, xmm3
punpcklwd xmm3, xmm2
punpcklwd xmm0, xmm1
movaps xmm1, xmmword ptr [rsp + 128]
mulps xmm3, xmm1
mulps xmm0, xmm1
movaps xmm1, xmm0
psrld xmm1, 16
movaps xmm2, xmm3
psrld xmm2, 16
pand xmm2, xmm11
pand xmm1, xmm11
paddd xmm3, xmm12
paddd xmm3, xmm2
pextrw ecx, xmm3, 7
pextrw edx, xmm3, 5
pextrw r11d, xmm3, 3
paddd xmm0, xmm12
pextrw ebx, xmm3, 1
mov word ptr [rax + r9 + 152], bx
mov word ptr [rax + r9 + 184], r11w
mov word ptr [rax + r9 + 216], dx
mov word ptr [rax + r9 + 248], cx
paddd xmm0, xmm1
movzx ecx, word ptr [rax + r9 + 26]
movd xmm2, ecx
movzx ecx, word ptr [rax + r9 + 154]
movd xmm3, ecx
pinsrw xmm3, word ptr [rax + r9 + 186], 1
pinsrw xmm2, word ptr [rax + r9 + 58], 1
pinsrw xmm3, word ptr [rax + r9 + 218], 2
pinsrw xmm2, word ptr [rax + r9 + 90], 2
pinsrw xmm3, word ptr [rax + r9 + 250], 3
pinsrw xmm2, word ptr [rax + r9 + 122], 3
psrld xmm0, 16
pxor xmm1, xmm1
pxor xmm4, xmm4
punpcklwd xmm1, xmm2
punpcklwd xmm4, xmm3
movaps xmm2, xmmword ptr [rsp + 160]
mulps xmm4, xmm2
mulps xmm1, xmm2
movaps xmm2, xmm1
psrld xmm2, 16
movaps xmm3, xmm4
psrld xmm3, 16
pand xmm3, xmm11
paddd xmm4, xmm12
paddd xmm4, xmm3
paddd xmm1, xmm12
pand xmm2, xmm11
paddd xmm1, xmm2
psrld xmm1, 16
pextrw ecx, xmm4, 7
pextrw edx, xmm4, 5
pextrw r11d, xmm4, 3
pextrw ebx, xmm4, 1
mov word ptr [rax + r9 + 154], bx
mov word ptr [rax + r9 + 186], r11w
mov word ptr [rax + r9 + 218], dx
mov word ptr [rax + r9 + 250], cx
movzx ecx, word ptr [rax + r9 + 28]
movd xmm3, ecx
pinsrw xmm3, word ptr [rax + r9 + 60], 1
movzx ecx, word ptr [rax + r9 + 156]
movd xmm4, ecx
pinsrw xmm4, word ptr [rax + r9 + 188], 1
pinsrw xmm3, word ptr [rax + r9 + 92], 2
pinsrw xmm4, word ptr [rax + r9 + 220], 2
pinsrw xmm3, word ptr [rax + r9 + 124], 3
pinsrw xmm4, word ptr [rax + r9 + 252], 3
pxor xmm2, xmm2
punpcklwd xmm2, xmm3
pxor xmm3, xmm3
punpcklwd xmm3, xmm4
movaps xmm4, xmmword ptr [rsp + 48]
mulps xmm3, xmm4
mulps xmm2, xmm4
movaps xmm4, xmm2
movaps xmm5, xmm3
psrld xmm5, 16
psrld xmm4, 16
pand xmm5, xmm11
paddd xmm3, xmm12
paddd xmm3, xmm5
pand xmm4, xmm11
paddd xmm2, xmm12
paddd xmm2, xmm4
pextrw edx, xmm3, 7
pextrw r11d, xmm3, 5
pextrw ebx, xmm3, 3
movdqa xmm4, xmm2
pextrw r14d, xmm3, 1
psrld xmm4, 16
pextrw ecx, xmm2, 5
psrad xmm3, 16
psrad xmm2, 16
packssdw xmm2, xmm3
mov word ptr [rax + r9 + 156], r14w
mov word ptr [rax + r9 + 188], bx
mov word ptr [rax + r9 + 220], r11w
mov word ptr [rax + r9 + 252], dx
movzx edx, word ptr [rax + r9 + 30]
movd xmm5, edx
pinsrw xmm5, word ptr [rax + r9 + 62], 1
movzx edx, word ptr [rax + r9 + 158]
movd xmm6, edx
pinsrw xmm6, word ptr [rax + r9 + 190], 1
pinsrw xmm5, word ptr [rax + r9 + 94], 2
pinsrw xmm6, word ptr [rax + r9 + 222], 2
pinsrw xmm5, word ptr [rax + r9 + 126], 3
pinsrw xmm6, word ptr [rax + r9 + 254], 3
pxor xmm3, xmm3
punpcklwd xmm3, xmm5
pxor xmm5, xmm5
punpcklwd xmm5, xmm6
movaps xmm6, xmmword ptr [rsp]
mulps xmm5, xmm6
mulps xmm3, xmm6
movaps xmm6, xmm3
psrld xmm6, 16
movaps xmm7, xmm5
psrld xmm7, 16
pand xmm7, xmm11
pand xmm6, xmm11
paddd xmm5, xmm12
paddd xmm5, xmm7
paddd xmm3, xmm12
paddd xmm3, xmm6
pextrw r11d, xmm5, 7
pextrw ebx, xmm5, 5
pextrw r14d, xmm5, 3
movdqa xmm6, xmm3
pextrw edx, xmm5, 1
psrad xmm5, 16
psrad xmm3, 16
movdqa xmm7, xmm0
packssdw xmm3, xmm5
punpcklwd xmm7, xmm1
pshufd xmm5, xmm7, 238
punpckldq xmm7, xmm4
psrld xmm6, 16
punpcklwd xmm7, xmm6
pshufd xmm4, xmm7, 108
pshufhw xmm4, xmm4, 232
pshufd xmm4, xmm4, 232
pshuflw xmm4, xmm4, 108
movq qword ptr [rax + r9 + 24], xmm4
movdqa xmm4, xmm2
psrld xmm4, 16
punpckldq xmm5, xmm4
punpckhwd xmm0, xmm1
punpcklwd xmm5, xmm3
pshufd xmm1, xmm5, 39
pshufhw xmm1, xmm1, 232
pshufd xmm1, xmm1, 230
pshuflw xmm1, xmm1, 201
movq qword ptr [rax + r9 + 56], xmm1
pshufd xmm1, xmm0, 238
pinsrw xmm0, ecx, 2
punpcklwd xmm0, xmm3
pshuflw xmm0, xmm0, 232
pshufd xmm0, xmm0, 232
movq qword ptr [rax + r9 + 88], xmm0
psrlq xmm2, 48
punpckldq xmm1, xmm2
movdqa xmm0, xmm8
pandn xmm0, xmm3
pand xmm1, xmm8
por xmm0, xmm1
movq qword ptr [rax + r9 + 120], xmm0
mov word ptr [rax + r9 + 158], dx
mov word ptr [rax + r9 + 190], r14w
mov word ptr [rax + r9 + 222], bx
mov word ptr [rax + r9 + 254], r11w
add r10, 8
cmp r10, 16
jne .LBB_39
sub r8, -128
dec rsi
movaps xmm3, xmm13
jne .LBB_37
movdqa xmm2, xmm8
add r12, 1024
mov rax, qword ptr [rsp + 184]
inc al
cmp rbp, 62
lea rbp, [rbp + 2]
movaps xmm8, xmmword ptr [rip + .LCPI_1]
movaps xmm9, xmmword ptr [rip + .LCPI_2]
movaps xmm10, xmmword ptr [rip + .LCPI_4]
movaps xmm14, xmmword ptr [rip + .LCPI_5]
movaps xmm15, xmmword ptr [rip + .LCPI_6]
jb .LBB_1
add rsp, 328
pop rbx
pop r12
pop r13
pop r14
pop r15
pop rbp
ret
lea rsi, [rax + 256]
lea rcx, [rip + .Lanon.1]
mov edx, 32768
mov rdi, rax
call qword ptr [rip + _RNvNtNtCsgEmfK2I1SDS_4core5slice5index16slice_index_fail@GOTPCREL]
lea rsi, [rax + 256]
lea rcx, [rip + .Lanon.2]
mov edx, 32768
mov rdi, rax
call qword ptr [rip + _RNvNtNtCsgEmfK2I1SDS_4core5slice5index16slice_index_fail@GOTPCREL]
