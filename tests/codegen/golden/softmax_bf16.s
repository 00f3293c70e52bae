push rbp
push r15
push r14
push r13
push r12
push rbx
sub rsp, 312
movdqa xmm11, xmmword ptr [rip + .LCPI_11]
movdqa xmm12, xmmword ptr [rip + .LCPI_12]
movdqa xmm6, xmmword ptr [rip + .LCPI_14]
xor ecx, ecx
xor r12d, r12d
xor ebp, ebp
movzx eax, cl
and eax, 3
mov edx, eax
shl edx, 9
mov esi, r12d
and esi, 28672
lea r11d, [rdx + 2*rsi]
lea rdx, [rdi + 504]
add rdx, r11
shl eax, 8
or eax, esi
lea rsi, [rdi + 6168]
add rsi, r11
lea r8, [rdi + 4120]
add r8, r11
lea r9, [rdi + 2072]
add r9, r11
lea r10, [rdi + 24]
add r10, r11
lea rbx, [rdi + 120]
add r11, rbx
mov ebx, ebp
and ebx, 6
shl ebx, 7
mov r13d, ebp
and r13d, 56
shl r13d, 9
or r13d, ebx
mov ebx, 4
xor r14d, r14d
movaps xmm3, xmmword ptr [rip + .LCPI_0]
movaps xmm0, xmm3
movaps xmm1, xmm3
movaps xmm2, xmm3
lea r15, [8*r14]
add r15, r13
cmp r15, 32513
jae .LBB_40
xor r15d, r15d
movq xmm4, qword ptr [r11 + r15 - 120]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm0, xmm5
movq xmm4, qword ptr [r11 + r15 - 112]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm1, xmm5
movq xmm4, qword ptr [r11 + r15 - 104]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm2, xmm5
movq xmm4, qword ptr [r11 + r15 - 96]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm3, xmm5
movq xmm4, qword ptr [r11 + r15 - 88]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm0, xmm5
movq xmm4, qword ptr [r11 + r15 - 80]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm1, xmm5
movq xmm4, qword ptr [r11 + r15 - 72]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm2, xmm5
movq xmm4, qword ptr [r11 + r15 - 64]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm3, xmm5
movq xmm4, qword ptr [r11 + r15 - 56]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm0, xmm5
movq xmm4, qword ptr [r11 + r15 - 48]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm1, xmm5
movq xmm4, qword ptr [r11 + r15 - 40]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm2, xmm5
movq xmm4, qword ptr [r11 + r15 - 32]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm3, xmm5
movq xmm4, qword ptr [r11 + r15 - 24]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm0, xmm5
movq xmm4, qword ptr [r11 + r15 - 16]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm1, xmm5
movq xmm4, qword ptr [r11 + r15 - 8]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm2, xmm5
movq xmm4, qword ptr [r11 + r15]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm3, xmm5
sub r15, -128
cmp r15, 512
jne .LBB_4
sub r14, -128
add r11, 2048
dec rbx
jne .LBB_2
movaps xmmword ptr [rsp + 176], xmm0
movaps xmmword ptr [rsp + 192], xmm1
movaps xmmword ptr [rsp + 208], xmm2
movaps xmmword ptr [rsp + 224], xmm3
movaps xmmword ptr [rsp + 80], xmm1
movaps xmmword ptr [rsp + 96], xmm2
movaps xmmword ptr [rsp + 112], xmm3
movaps xmm2, xmm0
unpckhpd xmm2, xmm0
movaps xmm1, xmm0
maxss xmm1, xmm2
mov r11d, 52
lea rbx, [rsp + 192]
maxss xmm1, dword ptr [rbx]
add rbx, 8
add r11, -8
cmp r11, 4
ja .LBB_7
movss dword ptr [rsp + 64], xmm1
movss dword ptr [rsp + 72], xmm1
mov r11d, 52
lea rbx, [rsp + 80]
movss dword ptr [rbx], xmm1
add r11, -8
add rbx, 8
cmp r11, 4
ja .LBB_9
movaps xmm1, xmm0
shufps xmm1, xmm0, 85
shufps xmm0, xmm0, 255
maxss xmm1, xmm0
mov r11d, 48
lea rbx, [rsp + 196]
maxss xmm1, dword ptr [rbx]
add rbx, 8
add r11, -8
cmp r11, 4
ja .LBB_11
movdqa xmm8, xmm6
movss dword ptr [rsp + 68], xmm1
movss dword ptr [rsp + 76], xmm1
mov r11d, 48
lea rbx, [rsp + 84]
movss dword ptr [rbx], xmm1
add r11, -8
add rbx, 8
cmp r11, 4
ja .LBB_13
movaps xmm6, xmmword ptr [rsp + 64]
movaps xmm7, xmmword ptr [rsp + 80]
movaps xmm0, xmmword ptr [rsp + 96]
movaps xmmword ptr [rsp + 32], xmm0
movaps xmm0, xmmword ptr [rsp + 112]
movaps xmmword ptr [rsp + 16], xmm0
xor r11d, r11d
movaps xmm3, xmmword ptr [rip + .LCPI_10]
movaps xmmword ptr [rsp], xmm6
movaps xmmword ptr [rsp + 48], xmm7
movq xmm4, qword ptr [r10 + r11 - 24]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
subps xmm5, xmm6
movaps xmm13, xmmword ptr [rip + .LCPI_1]
maxps xmm5, xmm13
movaps xmm10, xmmword ptr [rip + .LCPI_2]
mulps xmm5, xmm10
movaps xmm4, xmm5
movaps xmm15, xmmword ptr [rip + .LCPI_3]
addps xmm4, xmm15
movaps xmm6, xmm4
movaps xmm14, xmmword ptr [rip + .LCPI_4]
addps xmm6, xmm14
subps xmm5, xmm6
mulps xmm5, xmmword ptr [rip + .LCPI_5]
movaps xmm6, xmm5
movaps xmm2, xmmword ptr [rip + .LCPI_6]
mulps xmm6, xmm2
movaps xmm1, xmmword ptr [rip + .LCPI_7]
movaps xmm9, xmmword ptr [rip + .LCPI_9]
movaps xmm0, xmm1
movaps xmm1, xmmword ptr [rip + .LCPI_8]
addps xmm6, xmm0
mulps xmm6, xmm5
addps xmm6, xmm1
mulps xmm6, xmm5
addps xmm6, xmm9
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
movq xmm5, qword ptr [r10 + r11 - 16]
pxor xmm6, xmm6
punpcklwd xmm6, xmm5
subps xmm6, xmm7
maxps xmm6, xmm13
mulps xmm6, xmm10
movaps xmm5, xmm6
addps xmm5, xmm15
movaps xmm7, xmm5
addps xmm7, xmm14
subps xmm6, xmm7
mulps xmm6, xmmword ptr [rip + .LCPI_5]
movaps xmm7, xmm6
mulps xmm7, xmm2
addps xmm7, xmm0
mulps xmm7, xmm6
addps xmm7, xmm1
mulps xmm7, xmm6
addps xmm7, xmm9
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
movdqu xmmword ptr [r10 + r11 - 24], xmm4
movq xmm4, qword ptr [r10 + r11 - 8]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
subps xmm5, xmmword ptr [rsp + 32]
maxps xmm5, xmm13
mulps xmm5, xmm10
movaps xmm4, xmm5
addps xmm4, xmm15
movaps xmm6, xmm4
addps xmm6, xmm14
subps xmm5, xmm6
mulps xmm5, xmmword ptr [rip + .LCPI_5]
movaps xmm6, xmm5
mulps xmm6, xmm2
addps xmm6, xmm0
mulps xmm6, xmm5
addps xmm6, xmm1
mulps xmm6, xmm5
addps xmm6, xmm9
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
movq xmm5, qword ptr [r10 + r11]
pxor xmm6, xmm6
punpcklwd xmm6, xmm5
subps xmm6, xmmword ptr [rsp + 16]
maxps xmm6, xmm13
mulps xmm6, xmm10
movaps xmm5, xmm6
addps xmm5, xmm15
movaps xmm7, xmm5
addps xmm7, xmm14
subps xmm6, xmm7
mulps xmm6, xmmword ptr [rip + .LCPI_5]
movaps xmm7, xmm6
mulps xmm7, xmm2
addps xmm7, xmm0
mulps xmm7, xmm6
addps xmm7, xmm1
mulps xmm7, xmm6
addps xmm7, xmm9
mulps xmm7, xmm6
addps xmm7, xmm3
mulps xmm7, xmm6
movaps xmm6, xmmword ptr [rsp]
addps xmm7, xmm3
pslld xmm5, 23
paddd xmm5, xmm7
psrld xmm7, 16
pand xmm7, xmm11
paddd xmm5, xmm12
paddd xmm5, xmm7
movaps xmm7, xmmword ptr [rsp + 48]
psrad xmm4, 16
psrad xmm5, 16
packssdw xmm4, xmm5
movdqu xmmword ptr [r10 + r11 - 8], xmm4
add r11, 32
cmp r11, 512
jne .LBB_15
xor r10d, r10d
movq xmm4, qword ptr [r9 + r10 - 24]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
subps xmm5, xmm6
movaps xmm0, xmmword ptr [rip + .LCPI_1]
maxps xmm5, xmm0
movaps xmm9, xmmword ptr [rip + .LCPI_2]
mulps xmm5, xmm9
movaps xmm4, xmm5
movaps xmm15, xmmword ptr [rip + .LCPI_3]
addps xmm4, xmm15
movaps xmm6, xmm4
movaps xmm13, xmmword ptr [rip + .LCPI_4]
addps xmm6, xmm13
subps xmm5, xmm6
movaps xmm2, xmmword ptr [rip + .LCPI_5]
mulps xmm5, xmm2
movaps xmm6, xmm5
movaps xmm10, xmmword ptr [rip + .LCPI_6]
mulps xmm6, xmm10
movaps xmm14, xmmword ptr [rip + .LCPI_7]
movaps xmm1, xmmword ptr [rip + .LCPI_8]
addps xmm6, xmm14
mulps xmm6, xmm5
addps xmm6, xmm1
mulps xmm6, xmm5
movaps xmm14, xmmword ptr [rip + .LCPI_9]
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
movq xmm5, qword ptr [r9 + r10 - 16]
pxor xmm6, xmm6
punpcklwd xmm6, xmm5
subps xmm6, xmm7
maxps xmm6, xmm0
mulps xmm6, xmm9
movaps xmm5, xmm6
addps xmm5, xmm15
movaps xmm7, xmm5
addps xmm7, xmm13
subps xmm6, xmm7
mulps xmm6, xmm2
movaps xmm7, xmm6
mulps xmm7, xmm10
movaps xmm2, xmmword ptr [rip + .LCPI_7]
addps xmm7, xmm2
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
movdqu xmmword ptr [r9 + r10 - 24], xmm4
movq xmm4, qword ptr [r9 + r10 - 8]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
subps xmm5, xmmword ptr [rsp + 32]
maxps xmm5, xmm0
mulps xmm5, xmm9
movaps xmm4, xmm5
addps xmm4, xmm15
movaps xmm6, xmm4
addps xmm6, xmm13
subps xmm5, xmm6
mulps xmm5, xmmword ptr [rip + .LCPI_5]
movaps xmm6, xmm5
mulps xmm6, xmm10
addps xmm6, xmm2
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
movq xmm5, qword ptr [r9 + r10]
pxor xmm6, xmm6
punpcklwd xmm6, xmm5
subps xmm6, xmmword ptr [rsp + 16]
maxps xmm6, xmm0
mulps xmm6, xmm9
movaps xmm5, xmm6
addps xmm5, xmm15
movaps xmm7, xmm5
addps xmm7, xmm13
subps xmm6, xmm7
mulps xmm6, xmmword ptr [rip + .LCPI_5]
movaps xmm7, xmm6
mulps xmm7, xmm10
addps xmm7, xmm2
mulps xmm7, xmm6
addps xmm7, xmm1
mulps xmm7, xmm6
addps xmm7, xmm14
mulps xmm7, xmm6
addps xmm7, xmm3
mulps xmm7, xmm6
movaps xmm6, xmmword ptr [rsp]
addps xmm7, xmm3
pslld xmm5, 23
paddd xmm5, xmm7
psrld xmm7, 16
pand xmm7, xmm11
paddd xmm5, xmm12
paddd xmm5, xmm7
movaps xmm7, xmmword ptr [rsp + 48]
psrad xmm4, 16
psrad xmm5, 16
packssdw xmm4, xmm5
movdqu xmmword ptr [r9 + r10 - 8], xmm4
add r10, 32
cmp r10, 512
jne .LBB_17
xor r9d, r9d
movq xmm4, qword ptr [r8 + r9 - 24]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
subps xmm5, xmm6
movaps xmm0, xmmword ptr [rip + .LCPI_1]
maxps xmm5, xmm0
movaps xmm2, xmmword ptr [rip + .LCPI_2]
mulps xmm5, xmm2
movaps xmm4, xmm5
movaps xmm13, xmmword ptr [rip + .LCPI_3]
addps xmm4, xmm13
movaps xmm6, xmm4
movaps xmm10, xmmword ptr [rip + .LCPI_4]
addps xmm6, xmm10
subps xmm5, xmm6
movaps xmm15, xmmword ptr [rip + .LCPI_5]
mulps xmm5, xmm15
movaps xmm6, xmm5
movaps xmm9, xmmword ptr [rip + .LCPI_6]
mulps xmm6, xmm9
movaps xmm14, xmmword ptr [rip + .LCPI_7]
movaps xmm1, xmmword ptr [rip + .LCPI_8]
addps xmm6, xmm14
mulps xmm6, xmm5
addps xmm6, xmm1
mulps xmm6, xmm5
movaps xmm14, xmmword ptr [rip + .LCPI_9]
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
movq xmm5, qword ptr [r8 + r9 - 16]
pxor xmm6, xmm6
punpcklwd xmm6, xmm5
subps xmm6, xmm7
maxps xmm6, xmm0
mulps xmm6, xmm2
movaps xmm5, xmm6
addps xmm5, xmm13
movaps xmm7, xmm5
addps xmm7, xmm10
subps xmm6, xmm7
mulps xmm6, xmm15
movaps xmm7, xmm6
mulps xmm7, xmm9
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
movdqu xmmword ptr [r8 + r9 - 24], xmm4
movq xmm4, qword ptr [r8 + r9 - 8]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
subps xmm5, xmmword ptr [rsp + 32]
maxps xmm5, xmm0
mulps xmm5, xmm2
movaps xmm4, xmm5
addps xmm4, xmm13
movaps xmm6, xmm4
addps xmm6, xmm10
subps xmm5, xmm6
mulps xmm5, xmm15
movaps xmm6, xmm5
mulps xmm6, xmm9
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
movq xmm5, qword ptr [r8 + r9]
pxor xmm6, xmm6
punpcklwd xmm6, xmm5
subps xmm6, xmmword ptr [rsp + 16]
maxps xmm6, xmm0
mulps xmm6, xmm2
movaps xmm5, xmm6
addps xmm5, xmm13
movaps xmm7, xmm5
addps xmm7, xmm10
subps xmm6, xmm7
mulps xmm6, xmm15
movaps xmm7, xmm6
mulps xmm7, xmm9
addps xmm7, xmmword ptr [rip + .LCPI_7]
mulps xmm7, xmm6
addps xmm7, xmm1
mulps xmm7, xmm6
addps xmm7, xmm14
mulps xmm7, xmm6
addps xmm7, xmm3
mulps xmm7, xmm6
movaps xmm6, xmmword ptr [rsp]
addps xmm7, xmm3
pslld xmm5, 23
paddd xmm5, xmm7
psrld xmm7, 16
pand xmm7, xmm11
paddd xmm5, xmm12
paddd xmm5, xmm7
movaps xmm7, xmmword ptr [rsp + 48]
psrad xmm4, 16
psrad xmm5, 16
packssdw xmm4, xmm5
movdqu xmmword ptr [r8 + r9 - 8], xmm4
add r9, 32
cmp r9, 512
jne .LBB_19
xor r8d, r8d
movq xmm4, qword ptr [rsi + r8 - 24]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
subps xmm5, xmm6
movaps xmm0, xmmword ptr [rip + .LCPI_1]
maxps xmm5, xmm0
movaps xmm2, xmmword ptr [rip + .LCPI_2]
mulps xmm5, xmm2
movaps xmm4, xmm5
movaps xmm13, xmmword ptr [rip + .LCPI_3]
addps xmm4, xmm13
movaps xmm6, xmm4
movaps xmm10, xmmword ptr [rip + .LCPI_4]
addps xmm6, xmm10
subps xmm5, xmm6
movaps xmm15, xmmword ptr [rip + .LCPI_5]
mulps xmm5, xmm15
movaps xmm6, xmm5
movaps xmm9, xmmword ptr [rip + .LCPI_6]
mulps xmm6, xmm9
movaps xmm14, xmmword ptr [rip + .LCPI_7]
movaps xmm1, xmmword ptr [rip + .LCPI_8]
addps xmm6, xmm14
mulps xmm6, xmm5
addps xmm6, xmm1
mulps xmm6, xmm5
movaps xmm14, xmmword ptr [rip + .LCPI_9]
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
movq xmm5, qword ptr [rsi + r8 - 16]
pxor xmm6, xmm6
punpcklwd xmm6, xmm5
subps xmm6, xmm7
maxps xmm6, xmm0
mulps xmm6, xmm2
movaps xmm5, xmm6
addps xmm5, xmm13
movaps xmm7, xmm5
addps xmm7, xmm10
subps xmm6, xmm7
mulps xmm6, xmm15
movaps xmm7, xmm6
mulps xmm7, xmm9
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
movdqu xmmword ptr [rsi + r8 - 24], xmm4
movq xmm4, qword ptr [rsi + r8 - 8]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
subps xmm5, xmmword ptr [rsp + 32]
maxps xmm5, xmm0
mulps xmm5, xmm2
movaps xmm4, xmm5
addps xmm4, xmm13
movaps xmm6, xmm4
addps xmm6, xmm10
subps xmm5, xmm6
mulps xmm5, xmm15
movaps xmm6, xmm5
mulps xmm6, xmm9
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
movq xmm5, qword ptr [rsi + r8]
pxor xmm6, xmm6
punpcklwd xmm6, xmm5
subps xmm6, xmmword ptr [rsp + 16]
maxps xmm6, xmm0
mulps xmm6, xmm2
movaps xmm5, xmm6
addps xmm5, xmm13
movaps xmm7, xmm5
addps xmm7, xmm10
subps xmm6, xmm7
mulps xmm6, xmm15
movaps xmm7, xmm6
mulps xmm7, xmm9
addps xmm7, xmmword ptr [rip + .LCPI_7]
mulps xmm7, xmm6
addps xmm7, xmm1
mulps xmm7, xmm6
addps xmm7, xmm14
mulps xmm7, xmm6
addps xmm7, xmm3
mulps xmm7, xmm6
movdqa xmm6, xmmword ptr [rsp]
addps xmm7, xmm3
pslld xmm5, 23
paddd xmm5, xmm7
psrld xmm7, 16
pand xmm7, xmm11
paddd xmm5, xmm12
paddd xmm5, xmm7
movdqa xmm7, xmmword ptr [rsp + 48]
psrad xmm4, 16
psrad xmm5, 16
packssdw xmm4, xmm5
movdqu xmmword ptr [rsi + r8 - 8], xmm4
add r8, 32
cmp r8, 512
jne .LBB_21
xorps xmm0, xmm0
xor esi, esi
xorps xmm1, xmm1
xorps xmm2, xmm2
xorps xmm3, xmm3
lea r8, [rax + rsi]
cmp r8, 32513
jae .LBB_40
movq xmm4, qword ptr [rdx + 2*rsi - 504]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm0, xmm5
movq xmm4, qword ptr [rdx + 2*rsi - 472]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm0
movq xmm0, qword ptr [rdx + 2*rsi - 440]
pxor xmm4, xmm4
punpcklwd xmm4, xmm0
addps xmm4, xmm5
movq xmm5, qword ptr [rdx + 2*rsi - 408]
pxor xmm0, xmm0
punpcklwd xmm0, xmm5
addps xmm0, xmm4
movq xmm4, qword ptr [rdx + 2*rsi - 496]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm1, xmm5
movq xmm4, qword ptr [rdx + 2*rsi - 464]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm1
movq xmm1, qword ptr [rdx + 2*rsi - 432]
pxor xmm4, xmm4
punpcklwd xmm4, xmm1
addps xmm4, xmm5
movq xmm5, qword ptr [rdx + 2*rsi - 400]
pxor xmm1, xmm1
punpcklwd xmm1, xmm5
addps xmm1, xmm4
movq xmm4, qword ptr [rdx + 2*rsi - 488]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm2, xmm5
movq xmm4, qword ptr [rdx + 2*rsi - 456]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm2
movq xmm2, qword ptr [rdx + 2*rsi - 424]
pxor xmm4, xmm4
punpcklwd xmm4, xmm2
addps xmm4, xmm5
movq xmm5, qword ptr [rdx + 2*rsi - 392]
pxor xmm2, xmm2
punpcklwd xmm2, xmm5
addps xmm2, xmm4
movq xmm4, qword ptr [rdx + 2*rsi - 480]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm3, xmm5
movq xmm4, qword ptr [rdx + 2*rsi - 448]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm3
movq xmm3, qword ptr [rdx + 2*rsi - 416]
pxor xmm4, xmm4
punpcklwd xmm4, xmm3
addps xmm4, xmm5
movq xmm5, qword ptr [rdx + 2*rsi - 384]
pxor xmm3, xmm3
punpcklwd xmm3, xmm5
addps xmm3, xmm4
movq xmm4, qword ptr [rdx + 2*rsi - 376]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm0
movq xmm0, qword ptr [rdx + 2*rsi - 344]
pxor xmm4, xmm4
punpcklwd xmm4, xmm0
addps xmm4, xmm5
movq xmm0, qword ptr [rdx + 2*rsi - 312]
xorps xmm5, xmm5
punpcklwd xmm5, xmm0
addps xmm5, xmm4
movq xmm4, qword ptr [rdx + 2*rsi - 280]
pxor xmm0, xmm0
punpcklwd xmm0, xmm4
addps xmm0, xmm5
movq xmm4, qword ptr [rdx + 2*rsi - 368]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm1
movq xmm1, qword ptr [rdx + 2*rsi - 336]
pxor xmm4, xmm4
punpcklwd xmm4, xmm1
addps xmm4, xmm5
movq xmm1, qword ptr [rdx + 2*rsi - 304]
xorps xmm5, xmm5
punpcklwd xmm5, xmm1
addps xmm5, xmm4
movq xmm4, qword ptr [rdx + 2*rsi - 272]
pxor xmm1, xmm1
punpcklwd xmm1, xmm4
addps xmm1, xmm5
movq xmm4, qword ptr [rdx + 2*rsi - 360]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm2
movq xmm2, qword ptr [rdx + 2*rsi - 328]
pxor xmm4, xmm4
punpcklwd xmm4, xmm2
addps xmm4, xmm5
movq xmm2, qword ptr [rdx + 2*rsi - 296]
xorps xmm5, xmm5
punpcklwd xmm5, xmm2
addps xmm5, xmm4
movq xmm4, qword ptr [rdx + 2*rsi - 264]
pxor xmm2, xmm2
punpcklwd xmm2, xmm4
addps xmm2, xmm5
movq xmm4, qword ptr [rdx + 2*rsi - 352]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm3
movq xmm3, qword ptr [rdx + 2*rsi - 320]
pxor xmm4, xmm4
punpcklwd xmm4, xmm3
addps xmm4, xmm5
movq xmm3, qword ptr [rdx + 2*rsi - 288]
xorps xmm5, xmm5
punpcklwd xmm5, xmm3
addps xmm5, xmm4
movq xmm4, qword ptr [rdx + 2*rsi - 256]
pxor xmm3, xmm3
punpcklwd xmm3, xmm4
addps xmm3, xmm5
movq xmm4, qword ptr [rdx + 2*rsi - 248]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm0
movq xmm0, qword ptr [rdx + 2*rsi - 216]
pxor xmm4, xmm4
punpcklwd xmm4, xmm0
addps xmm4, xmm5
movq xmm0, qword ptr [rdx + 2*rsi - 184]
xorps xmm5, xmm5
punpcklwd xmm5, xmm0
addps xmm5, xmm4
movq xmm4, qword ptr [rdx + 2*rsi - 152]
pxor xmm0, xmm0
punpcklwd xmm0, xmm4
addps xmm0, xmm5
movq xmm4, qword ptr [rdx + 2*rsi - 240]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm1
movq xmm1, qword ptr [rdx + 2*rsi - 208]
pxor xmm4, xmm4
punpcklwd xmm4, xmm1
addps xmm4, xmm5
movq xmm1, qword ptr [rdx + 2*rsi - 176]
xorps xmm5, xmm5
punpcklwd xmm5, xmm1
addps xmm5, xmm4
movq xmm4, qword ptr [rdx + 2*rsi - 144]
pxor xmm1, xmm1
punpcklwd xmm1, xmm4
addps xmm1, xmm5
movq xmm4, qword ptr [rdx + 2*rsi - 232]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm2
movq xmm2, qword ptr [rdx + 2*rsi - 200]
pxor xmm4, xmm4
punpcklwd xmm4, xmm2
addps xmm4, xmm5
movq xmm2, qword ptr [rdx + 2*rsi - 168]
xorps xmm5, xmm5
punpcklwd xmm5, xmm2
addps xmm5, xmm4
movq xmm4, qword ptr [rdx + 2*rsi - 136]
pxor xmm2, xmm2
punpcklwd xmm2, xmm4
addps xmm2, xmm5
movq xmm4, qword ptr [rdx + 2*rsi - 224]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm3
movq xmm3, qword ptr [rdx + 2*rsi - 192]
pxor xmm4, xmm4
punpcklwd xmm4, xmm3
addps xmm4, xmm5
movq xmm3, qword ptr [rdx + 2*rsi - 160]
xorps xmm5, xmm5
punpcklwd xmm5, xmm3
addps xmm5, xmm4
movq xmm4, qword ptr [rdx + 2*rsi - 128]
pxor xmm3, xmm3
punpcklwd xmm3, xmm4
addps xmm3, xmm5
movq xmm4, qword ptr [rdx + 2*rsi - 120]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm0
movq xmm0, qword ptr [rdx + 2*rsi - 88]
pxor xmm4, xmm4
punpcklwd xmm4, xmm0
addps xmm4, xmm5
movq xmm0, qword ptr [rdx + 2*rsi - 56]
xorps xmm5, xmm5
punpcklwd xmm5, xmm0
addps xmm5, xmm4
movq xmm4, qword ptr [rdx + 2*rsi - 24]
pxor xmm0, xmm0
punpcklwd xmm0, xmm4
addps xmm0, xmm5
movq xmm4, qword ptr [rdx + 2*rsi - 112]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm1
movq xmm1, qword ptr [rdx + 2*rsi - 80]
pxor xmm4, xmm4
punpcklwd xmm4, xmm1
addps xmm4, xmm5
movq xmm1, qword ptr [rdx + 2*rsi - 48]
xorps xmm5, xmm5
punpcklwd xmm5, xmm1
addps xmm5, xmm4
movq xmm4, qword ptr [rdx + 2*rsi - 16]
pxor xmm1, xmm1
punpcklwd xmm1, xmm4
addps xmm1, xmm5
movq xmm4, qword ptr [rdx + 2*rsi - 104]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm2
movq xmm2, qword ptr [rdx + 2*rsi - 72]
pxor xmm4, xmm4
punpcklwd xmm4, xmm2
addps xmm4, xmm5
movq xmm2, qword ptr [rdx + 2*rsi - 40]
xorps xmm5, xmm5
punpcklwd xmm5, xmm2
addps xmm5, xmm4
movq xmm4, qword ptr [rdx + 2*rsi - 8]
pxor xmm2, xmm2
punpcklwd xmm2, xmm4
addps xmm2, xmm5
movq xmm4, qword ptr [rdx + 2*rsi - 96]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm3
movq xmm3, qword ptr [rdx + 2*rsi - 64]
pxor xmm4, xmm4
punpcklwd xmm4, xmm3
addps xmm4, xmm5
movq xmm3, qword ptr [rdx + 2*rsi - 32]
xorps xmm5, xmm5
punpcklwd xmm5, xmm3
addps xmm5, xmm4
movq xmm4, qword ptr [rdx + 2*rsi]
pxor xmm3, xmm3
punpcklwd xmm3, xmm4
addps xmm3, xmm5
add rsi, 1024
cmp rsi, 4096
jne .LBB_23
movaps xmmword ptr [rsp + 176], xmm0
movaps xmmword ptr [rsp + 192], xmm1
movaps xmmword ptr [rsp + 208], xmm2
movaps xmmword ptr [rsp + 224], xmm3
movups xmmword ptr [rsp + 80], xmm1
movups xmmword ptr [rsp + 96], xmm2
movups xmmword ptr [rsp + 112], xmm3
movaps xmm1, xmm0
unpckhpd xmm1, xmm0
addss xmm1, xmm0
mov eax, 52
lea rdx, [rsp + 192]
addss xmm1, dword ptr [rdx]
add rdx, 8
add rax, -8
cmp rax, 4
ja .LBB_26
movss dword ptr [rsp + 64], xmm1
movss dword ptr [rsp + 72], xmm1
mov eax, 52
lea rdx, [rsp + 80]
movss dword ptr [rdx], xmm1
add rax, -8
add rdx, 8
cmp rax, 4
ja .LBB_28
movaps xmm2, xmm0
shufps xmm2, xmm0, 255
shufps xmm0, xmm0, 85
addss xmm0, xmm2
mov eax, 48
lea rdx, [rsp + 196]
addss xmm0, dword ptr [rdx]
add rdx, 8
add rax, -8
cmp rax, 4
ja .LBB_30
movss dword ptr [rsp + 68], xmm0
movss dword ptr [rsp + 76], xmm0
mov eax, 48
lea rdx, [rsp + 84]
movss dword ptr [rdx], xmm0
add rax, -8
add rdx, 8
cmp rax, 4
ja .LBB_32
movss xmm13, dword ptr [rip + .LCPI_13]
movaps xmm9, xmm13
divss xmm9, dword ptr [rsp + 72]
movaps xmm10, xmm13
divss xmm10, dword ptr [rsp + 76]
movaps xmm14, xmm13
divss xmm14, dword ptr [rsp + 80]
movaps xmm15, xmm13
divss xmm15, dword ptr [rsp + 84]
movaps xmm2, xmm13
divss xmm2, dword ptr [rsp + 88]
movaps xmm3, xmm13
divss xmm3, dword ptr [rsp + 92]
movaps xmm4, xmm13
divss xmm4, dword ptr [rsp + 96]
movaps xmm5, xmm13
divss xmm5, dword ptr [rsp + 100]
movaps xmm7, xmm13
divss xmm7, dword ptr [rsp + 104]
movaps xmm6, xmm13
divss xmm6, dword ptr [rsp + 108]
movaps xmmword ptr [rsp + 144], xmm6
movaps xmm6, xmm13
divss xmm6, dword ptr [rsp + 112]
movaps xmmword ptr [rsp + 128], xmm6
movaps xmm6, xmm13
divss xmm6, dword ptr [rsp + 116]
movaps xmmword ptr [rsp + 160], xmm6
movaps xmm6, xmm13
divss xmm6, dword ptr [rsp + 120]
movaps xmmword ptr [rsp + 48], xmm6
movaps xmm6, xmm13
divss xmm6, xmm1
movaps xmmword ptr [rsp + 32], xmm6
movaps xmm1, xmmword ptr [rsp + 128]
movaps xmm6, xmm13
divss xmm6, xmm0
movaps xmmword ptr [rsp + 16], xmm6
movaps xmm0, xmmword ptr [rsp + 144]
movaps xmmword ptr [rsp], xmm13
movaps xmm13, xmmword ptr [rsp + 160]
movaps xmm6, xmmword ptr [rsp]
divss xmm6, dword ptr [rsp + 124]
movaps xmmword ptr [rsp], xmm6
movaps xmm6, xmmword ptr [rsp + 32]
shufps xmm6, xmm6, 0
movaps xmmword ptr [rsp + 32], xmm6
movaps xmm6, xmmword ptr [rsp + 16]
shufps xmm6, xmm6, 0
movaps xmmword ptr [rsp + 16], xmm6
shufps xmm9, xmm9, 0
shufps xmm10, xmm10, 0
shufps xmm14, xmm14, 0
shufps xmm15, xmm15, 0
shufps xmm2, xmm2, 0
shufps xmm3, xmm3, 0
shufps xmm4, xmm4, 0
shufps xmm5, xmm5, 0
shufps xmm7, xmm7, 0
shufps xmm0, xmm0, 0
shufps xmm1, xmm1, 0
shufps xmm13, xmm13, 0
movaps xmm6, xmmword ptr [rsp + 48]
shufps xmm6, xmm6, 0
movaps xmmword ptr [rsp + 48], xmm6
movaps xmm6, xmmword ptr [rsp]
shufps xmm6, xmm6, 0
movaps xmmword ptr [rsp], xmm6
mov eax, 4
xor edx, edx
movaps xmmword ptr [rsp + 160], xmm13
movaps xmmword ptr [rsp + 288], xmm3
movaps xmmword ptr [rsp + 272], xmm4
movaps xmmword ptr [rsp + 256], xmm5
movaps xmmword ptr [rsp + 240], xmm7
movaps xmmword ptr [rsp + 144], xmm0
movaps xmmword ptr [rsp + 128], xmm1
lea rsi, [8*rdx]
add rsi, r13
cmp rsi, 32513
jae .LBB_41
lea r8, [rdi + 2*rsi]
xor esi, esi
movaps xmm13, xmm2
mov r9, rsi
shl r9, 5
movzx r10d, word ptr [r8 + r9]
movd xmm1, r10d
pinsrw xmm1, word ptr [r8 + r9 + 32], 1
movzx r10d, word ptr [r8 + r9 + 128]
movd xmm2, r10d
pinsrw xmm2, word ptr [r8 + r9 + 160], 1
pinsrw xmm1, word ptr [r8 + r9 + 64], 2
pinsrw xmm2, word ptr [r8 + r9 + 192], 2
pinsrw xmm1, word ptr [r8 + r9 + 96], 3
pinsrw xmm2, word ptr [r8 + r9 + 224], 3
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
pextrw r10d, xmm1, 7
pextrw r11d, xmm1, 5
pextrw ebx, xmm1, 3
pextrw r14d, xmm1, 1
mov word ptr [r8 + r9 + 128], r14w
mov word ptr [r8 + r9 + 160], bx
mov word ptr [r8 + r9 + 192], r11w
mov word ptr [r8 + r9 + 224], r10w
movzx r10d, word ptr [r8 + r9 + 130]
movzx r11d, word ptr [r8 + r9 + 2]
movd xmm3, r10d
pinsrw xmm3, word ptr [r8 + r9 + 162], 1
movd xmm4, r11d
pinsrw xmm3, word ptr [r8 + r9 + 194], 2
pinsrw xmm4, word ptr [r8 + r9 + 34], 1
pinsrw xmm3, word ptr [r8 + r9 + 226], 3
pinsrw xmm4, word ptr [r8 + r9 + 66], 2
psrld xmm0, 16
pxor xmm1, xmm1
pinsrw xmm4, word ptr [r8 + r9 + 98], 3
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
pextrw r10d, xmm2, 7
pextrw r11d, xmm2, 5
pextrw ebx, xmm2, 3
paddd xmm1, xmm3
pextrw r14d, xmm2, 1
mov word ptr [r8 + r9 + 130], r14w
mov word ptr [r8 + r9 + 162], bx
mov word ptr [r8 + r9 + 194], r11w
mov word ptr [r8 + r9 + 226], r10w
psrld xmm1, 16
movzx r10d, word ptr [r8 + r9 + 4]
movd xmm4, r10d
movzx r10d, word ptr [r8 + r9 + 132]
movd xmm5, r10d
pinsrw xmm5, word ptr [r8 + r9 + 164], 1
pinsrw xmm4, word ptr [r8 + r9 + 36], 1
pinsrw xmm5, word ptr [r8 + r9 + 196], 2
pinsrw xmm4, word ptr [r8 + r9 + 68], 2
pinsrw xmm5, word ptr [r8 + r9 + 228], 3
pinsrw xmm4, word ptr [r8 + r9 + 100], 3
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
pextrw r11d, xmm3, 7
pextrw ebx, xmm3, 5
movdqa xmm4, xmm2
pextrw r14d, xmm3, 3
psrld xmm4, 16
pextrw r15d, xmm3, 1
psrad xmm3, 16
pextrw r10d, xmm2, 5
mov word ptr [r8 + r9 + 132], r15w
mov word ptr [r8 + r9 + 164], r14w
mov word ptr [r8 + r9 + 196], bx
mov word ptr [r8 + r9 + 228], r11w
movzx r11d, word ptr [r8 + r9 + 6]
movd xmm6, r11d
pinsrw xmm6, word ptr [r8 + r9 + 38], 1
movzx r11d, word ptr [r8 + r9 + 134]
movd xmm7, r11d
pinsrw xmm7, word ptr [r8 + r9 + 166], 1
pinsrw xmm6, word ptr [r8 + r9 + 70], 2
pinsrw xmm7, word ptr [r8 + r9 + 198], 2
pinsrw xmm6, word ptr [r8 + r9 + 102], 3
psrad xmm2, 16
pinsrw xmm7, word ptr [r8 + r9 + 230], 3
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
pextrw r15d, xmm5, 1
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
movq qword ptr [r8 + r9], xmm4
pshufd xmm1, xmm0, 238
pinsrw xmm0, r10d, 2
pshuflw xmm4, xmm5, 201
punpcklwd xmm0, xmm3
pshuflw xmm0, xmm0, 232
pshufd xmm0, xmm0, 232
movq qword ptr [r8 + r9 + 32], xmm4
psrlq xmm2, 48
punpckldq xmm1, xmm2
pand xmm1, xmm8
movq qword ptr [r8 + r9 + 64], xmm0
movdqa xmm0, xmm8
pandn xmm0, xmm3
por xmm0, xmm1
movq qword ptr [r8 + r9 + 96], xmm0
mov word ptr [r8 + r9 + 134], r15w
mov word ptr [r8 + r9 + 166], r14w
mov word ptr [r8 + r9 + 198], bx
mov word ptr [r8 + r9 + 230], r11w
movzx r10d, word ptr [r8 + r9 + 8]
movd xmm1, r10d
movzx r10d, word ptr [r8 + r9 + 136]
movd xmm2, r10d
pinsrw xmm2, word ptr [r8 + r9 + 168], 1
pinsrw xmm1, word ptr [r8 + r9 + 40], 1
pinsrw xmm2, word ptr [r8 + r9 + 200], 2
pinsrw xmm1, word ptr [r8 + r9 + 72], 2
pinsrw xmm2, word ptr [r8 + r9 + 232], 3
pinsrw xmm1, word ptr [r8 + r9 + 104], 3
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
pextrw r10d, xmm3, 7
pextrw r11d, xmm3, 5
pextrw ebx, xmm3, 3
paddd xmm0, xmm12
pextrw r14d, xmm3, 1
mov word ptr [r8 + r9 + 136], r14w
mov word ptr [r8 + r9 + 168], bx
mov word ptr [r8 + r9 + 200], r11w
mov word ptr [r8 + r9 + 232], r10w
paddd xmm0, xmm1
movzx r10d, word ptr [r8 + r9 + 10]
movd xmm2, r10d
movzx r10d, word ptr [r8 + r9 + 138]
movd xmm3, r10d
pinsrw xmm3, word ptr [r8 + r9 + 170], 1
pinsrw xmm2, word ptr [r8 + r9 + 42], 1
pinsrw xmm3, word ptr [r8 + r9 + 202], 2
pinsrw xmm2, word ptr [r8 + r9 + 74], 2
pinsrw xmm3, word ptr [r8 + r9 + 234], 3
pinsrw xmm2, word ptr [r8 + r9 + 106], 3
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
pextrw r10d, xmm4, 7
pextrw r11d, xmm4, 5
pextrw ebx, xmm4, 3
pextrw r14d, xmm4, 1
mov word ptr [r8 + r9 + 138], r14w
mov word ptr [r8 + r9 + 170], bx
mov word ptr [r8 + r9 + 202], r11w
mov word ptr [r8 + r9 + 234], r10w
movzx r10d, word ptr [r8 + r9 + 12]
movd xmm3, r10d
pinsrw xmm3, word ptr [r8 + r9 + 44], 1
movzx r10d, word ptr [r8 + r9 + 140]
movd xmm4, r10d
pinsrw xmm4, word ptr [r8 + r9 + 172], 1
pinsrw xmm3, word ptr [r8 + r9 + 76], 2
pinsrw xmm4, word ptr [r8 + r9 + 204], 2
pinsrw xmm3, word ptr [r8 + r9 + 108], 3
pinsrw xmm4, word ptr [r8 + r9 + 236], 3
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
pextrw r11d, xmm6, 7
pextrw ebx, xmm6, 5
pextrw r14d, xmm6, 3
movdqa xmm4, xmm2
pextrw r15d, xmm6, 1
pextrw r10d, xmm2, 5
mov word ptr [r8 + r9 + 140], r15w
mov word ptr [r8 + r9 + 172], r14w
mov word ptr [r8 + r9 + 204], bx
mov word ptr [r8 + r9 + 236], r11w
movzx r11d, word ptr [r8 + r9 + 14]
movd xmm5, r11d
pinsrw xmm5, word ptr [r8 + r9 + 46], 1
movzx r11d, word ptr [r8 + r9 + 142]
movd xmm7, r11d
pinsrw xmm7, word ptr [r8 + r9 + 174], 1
pinsrw xmm5, word ptr [r8 + r9 + 78], 2
pinsrw xmm7, word ptr [r8 + r9 + 206], 2
pinsrw xmm5, word ptr [r8 + r9 + 110], 3
psrad xmm2, 16
pinsrw xmm7, word ptr [r8 + r9 + 238], 3
psrld xmm4, 16
pxor xmm3, xmm3
punpcklwd xmm3, xmm5
pxor xmm5, xmm5
psrad xmm6, 16
punpcklwd xmm5, xmm7
movaps xmm7, xmmword ptr [rsp + 288]
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
pextrw r14d, xmm5, 3
movdqa xmm4, xmm3
pextrw r15d, xmm5, 1
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
pinsrw xmm0, r10d, 2
movq qword ptr [r8 + r9 + 8], xmm1
pshufd xmm1, xmm5, 230
punpcklwd xmm0, xmm3
pshuflw xmm0, xmm0, 232
pshuflw xmm1, xmm1, 201
pshufd xmm0, xmm0, 232
psrlq xmm2, 48
punpckldq xmm4, xmm2
movq qword ptr [r8 + r9 + 40], xmm1
pand xmm4, xmm8
movdqa xmm1, xmm8
pandn xmm1, xmm3
movq qword ptr [r8 + r9 + 72], xmm0
por xmm1, xmm4
movq qword ptr [r8 + r9 + 104], xmm1
mov word ptr [r8 + r9 + 142], r15w
mov word ptr [r8 + r9 + 174], r14w
mov word ptr [r8 + r9 + 206], bx
mov word ptr [r8 + r9 + 238], r11w
movzx r10d, word ptr [r8 + r9 + 16]
movd xmm1, r10d
pinsrw xmm1, word ptr [r8 + r9 + 48], 1
movzx r10d, word ptr [r8 + r9 + 144]
movd xmm2, r10d
pinsrw xmm2, word ptr [r8 + r9 + 176], 1
pinsrw xmm1, word ptr [r8 + r9 + 80], 2
pinsrw xmm2, word ptr [r8 + r9 + 208], 2
pinsrw xmm1, word ptr [r8 + r9 + 112], 3
pinsrw xmm2, word ptr [r8 + r9 + 240], 3
pxor xmm0, xmm0
punpcklwd xmm0, xmm1
pxor xmm1, xmm1
punpcklwd xmm1, xmm2
movaps xmm2, xmmword ptr [rsp + 272]
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
pextrw r10d, xmm1, 7
pextrw r11d, xmm1, 5
pextrw ebx, xmm1, 3
pextrw r14d, xmm1, 1
mov word ptr [r8 + r9 + 144], r14w
mov word ptr [r8 + r9 + 176], bx
mov word ptr [r8 + r9 + 208], r11w
mov word ptr [r8 + r9 + 240], r10w
movzx r10d, word ptr [r8 + r9 + 146]
movzx r11d, word ptr [r8 + r9 + 18]
movd xmm3, r10d
pinsrw xmm3, word ptr [r8 + r9 + 178], 1
movd xmm4, r11d
pinsrw xmm3, word ptr [r8 + r9 + 210], 2
pinsrw xmm4, word ptr [r8 + r9 + 50], 1
pinsrw xmm3, word ptr [r8 + r9 + 242], 3
pinsrw xmm4, word ptr [r8 + r9 + 82], 2
psrld xmm0, 16
pxor xmm1, xmm1
pinsrw xmm4, word ptr [r8 + r9 + 114], 3
pxor xmm2, xmm2
punpcklwd xmm2, xmm3
movaps xmm3, xmmword ptr [rsp + 256]
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
pextrw r10d, xmm2, 7
pextrw r11d, xmm2, 5
pextrw ebx, xmm2, 3
paddd xmm1, xmm3
pextrw r14d, xmm2, 1
mov word ptr [r8 + r9 + 146], r14w
mov word ptr [r8 + r9 + 178], bx
mov word ptr [r8 + r9 + 210], r11w
mov word ptr [r8 + r9 + 242], r10w
psrld xmm1, 16
movzx r10d, word ptr [r8 + r9 + 20]
movd xmm4, r10d
movzx r10d, word ptr [r8 + r9 + 148]
movd xmm5, r10d
pinsrw xmm5, word ptr [r8 + r9 + 180], 1
pinsrw xmm4, word ptr [r8 + r9 + 52], 1
pinsrw xmm5, word ptr [r8 + r9 + 212], 2
pinsrw xmm4, word ptr [r8 + r9 + 84], 2
pinsrw xmm5, word ptr [r8 + r9 + 244], 3
pinsrw xmm4, word ptr [r8 + r9 + 116], 3
pxor xmm2, xmm2
pxor xmm3, xmm3
punpcklwd xmm3, xmm5
punpcklwd xmm2, xmm4
movaps xmm4, xmmword ptr [rsp + 240]
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
pextrw r11d, xmm3, 7
pextrw ebx, xmm3, 5
movdqa xmm4, xmm2
pextrw r14d, xmm3, 3
psrld xmm4, 16
pextrw r15d, xmm3, 1
psrad xmm3, 16
pextrw r10d, xmm2, 5
mov word ptr [r8 + r9 + 148], r15w
mov word ptr [r8 + r9 + 180], r14w
mov word ptr [r8 + r9 + 212], bx
mov word ptr [r8 + r9 + 244], r11w
movzx r11d, word ptr [r8 + r9 + 22]
movd xmm6, r11d
pinsrw xmm6, word ptr [r8 + r9 + 54], 1
movzx r11d, word ptr [r8 + r9 + 150]
movd xmm7, r11d
pinsrw xmm7, word ptr [r8 + r9 + 182], 1
pinsrw xmm6, word ptr [r8 + r9 + 86], 2
pinsrw xmm7, word ptr [r8 + r9 + 214], 2
pinsrw xmm6, word ptr [r8 + r9 + 118], 3
psrad xmm2, 16
pinsrw xmm7, word ptr [r8 + r9 + 246], 3
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
pextrw r15d, xmm5, 1
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
movq qword ptr [r8 + r9 + 16], xmm4
pshufd xmm1, xmm0, 238
pinsrw xmm0, r10d, 2
pshuflw xmm4, xmm5, 201
punpcklwd xmm0, xmm3
pshuflw xmm0, xmm0, 232
pshufd xmm0, xmm0, 232
movq qword ptr [r8 + r9 + 48], xmm4
psrlq xmm2, 48
punpckldq xmm1, xmm2
pand xmm1, xmm8
movq qword ptr [r8 + r9 + 80], xmm0
movdqa xmm0, xmm8
pandn xmm0, xmm3
por xmm0, xmm1
movq qword ptr [r8 + r9 + 112], xmm0
mov word ptr [r8 + r9 + 150], r15w
mov word ptr [r8 + r9 + 182], r14w
mov word ptr [r8 + r9 + 214], bx
mov word ptr [r8 + r9 + 246], r11w
movzx r10d, word ptr [r8 + r9 + 24]
movd xmm1, r10d
movzx r10d, word ptr [r8 + r9 + 152]
movd xmm2, r10d
pinsrw xmm2, word ptr [r8 + r9 + 184], 1
pinsrw xmm1, word ptr [r8 + r9 + 56], 1
pinsrw xmm2, word ptr [r8 + r9 + 216], 2
pinsrw xmm1, word ptr [r8 + r9 + 88], 2
pinsrw xmm2, word ptr [r8 + r9 + 248], 3
pinsrw xmm1, word ptr [r8 + r9 + 120], 3
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
pextrw r10d, xmm3, 7
pextrw r11d, xmm3, 5
pextrw ebx, xmm3, 3
paddd xmm0, xmm12
pextrw r14d, xmm3, 1
mov word ptr [r8 + r9 + 152], r14w
mov word ptr [r8 + r9 + 184], bx
mov word ptr [r8 + r9 + 216], r11w
mov word ptr [r8 + r9 + 248], r10w
paddd xmm0, xmm1
movzx r10d, word ptr [r8 + r9 + 26]
movd xmm2, r10d
movzx r10d, word ptr [r8 + r9 + 154]
movd xmm3, r10d
pinsrw xmm3, word ptr [r8 + r9 + 186], 1
pinsrw xmm2, word ptr [r8 + r9 + 58], 1
pinsrw xmm3, word ptr [r8 + r9 + 218], 2
pinsrw xmm2, word ptr [r8 + r9 + 90], 2
pinsrw xmm3, word ptr [r8 + r9 + 250], 3
pinsrw xmm2, word ptr [r8 + r9 + 122], 3
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
pextrw r10d, xmm4, 7
pextrw r11d, xmm4, 5
pextrw ebx, xmm4, 3
pextrw r14d, xmm4, 1
mov word ptr [r8 + r9 + 154], r14w
mov word ptr [r8 + r9 + 186], bx
mov word ptr [r8 + r9 + 218], r11w
mov word ptr [r8 + r9 + 250], r10w
movzx r10d, word ptr [r8 + r9 + 28]
movd xmm3, r10d
pinsrw xmm3, word ptr [r8 + r9 + 60], 1
movzx r10d, word ptr [r8 + r9 + 156]
movd xmm4, r10d
pinsrw xmm4, word ptr [r8 + r9 + 188], 1
pinsrw xmm3, word ptr [r8 + r9 + 92], 2
pinsrw xmm4, word ptr [r8 + r9 + 220], 2
pinsrw xmm3, word ptr [r8 + r9 + 124], 3
pinsrw xmm4, word ptr [r8 + r9 + 252], 3
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
pextrw r11d, xmm3, 7
pextrw ebx, xmm3, 5
pextrw r14d, xmm3, 3
movdqa xmm4, xmm2
pextrw r15d, xmm3, 1
psrld xmm4, 16
pextrw r10d, xmm2, 5
psrad xmm3, 16
psrad xmm2, 16
packssdw xmm2, xmm3
mov word ptr [r8 + r9 + 156], r15w
mov word ptr [r8 + r9 + 188], r14w
mov word ptr [r8 + r9 + 220], bx
mov word ptr [r8 + r9 + 252], r11w
movzx r11d, word ptr [r8 + r9 + 30]
movd xmm5, r11d
pinsrw xmm5, word ptr [r8 + r9 + 62], 1
movzx r11d, word ptr [r8 + r9 + 158]
movd xmm6, r11d
pinsrw xmm6, word ptr [r8 + r9 + 190], 1
pinsrw xmm5, word ptr [r8 + r9 + 94], 2
pinsrw xmm6, word ptr [r8 + r9 + 222], 2
pinsrw xmm5, word ptr [r8 + r9 + 126], 3
pinsrw xmm6, word ptr [r8 + r9 + 254], 3
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
pextrw r15d, xmm5, 1
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
movq qword ptr [r8 + r9 + 24], xmm4
movdqa xmm4, xmm2
psrld xmm4, 16
punpckldq xmm5, xmm4
punpckhwd xmm0, xmm1
punpcklwd xmm5, xmm3
pshufd xmm1, xmm5, 39
pshufhw xmm1, xmm1, 232
pshufd xmm1, xmm1, 230
pshuflw xmm1, xmm1, 201
movq qword ptr [r8 + r9 + 56], xmm1
pshufd xmm1, xmm0, 238
pinsrw xmm0, r10d, 2
punpcklwd xmm0, xmm3
pshuflw xmm0, xmm0, 232
pshufd xmm0, xmm0, 232
movq qword ptr [r8 + r9 + 88], xmm0
psrlq xmm2, 48
punpckldq xmm1, xmm2
movdqa xmm0, xmm8
pandn xmm0, xmm3
pand xmm1, xmm8
por xmm0, xmm1
movq qword ptr [r8 + r9 + 120], xmm0
mov word ptr [r8 + r9 + 158], r15w
mov word ptr [r8 + r9 + 190], r14w
mov word ptr [r8 + r9 + 222], bx
mov word ptr [r8 + r9 + 254], r11w
add rsi, 8
cmp rsi, 16
jne .LBB_36
sub rdx, -128
dec rax
movaps xmm2, xmm13
jne .LBB_34
movdqa xmm6, xmm8
add r12, 1024
inc cl
cmp rbp, 62
lea rbp, [rbp + 2]
jb .LBB_1
add rsp, 312
pop rbx
pop r12
pop r13
pop r14
pop r15
pop rbp
ret
lea rdi, [rip + .Lanon.3]
lea rdx, [rip + .Lanon.1]
mov esi, 75
call qword ptr [rip + _RNvNtCsgEmfK2I1SDS_4core9panicking9panic_fmt@GOTPCREL]
lea rdi, [rip + .Lanon.3]
lea rdx, [rip + .Lanon.2]
mov esi, 75
call qword ptr [rip + _RNvNtCsgEmfK2I1SDS_4core9panicking9panic_fmt@GOTPCREL]
