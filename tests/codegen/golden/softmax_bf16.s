push rbp
push r15
push r14
push r13
push r12
push rbx
sub rsp, 328
lea r13, [rdi + 504]
movdqa xmm11, xmmword ptr [rip + .LCPI_11]
movdqa xmm12, xmmword ptr [rip + .LCPI_12]
movdqa xmm6, xmmword ptr [rip + .LCPI_14]
xor eax, eax
xor ebp, ebp
xor esi, esi
mov ecx, ebp
and ecx, 28672
mov qword ptr [rsp + 184], rax
movzx edx, al
and edx, 3
mov eax, edx
shl eax, 8
or eax, ecx
shl edx, 9
lea r14d, [rdx + 2*rcx]
lea rcx, [rdi + 6168]
lea r9, [rcx + r14]
lea rcx, [rdi + 4120]
lea r10, [rcx + r14]
lea rcx, [rdi + 2072]
lea r11, [rcx + r14]
lea rcx, [rdi + 24]
lea rbx, [rcx + r14]
lea rcx, [rdi + 120]
add r14, rcx
mov edx, esi
and edx, 6
shl edx, 7
mov ecx, esi
and ecx, 56
shl ecx, 9
or ecx, edx
mov r15d, 4
xor r12d, r12d
movaps xmm3, xmmword ptr [rip + .LCPI_0]
movaps xmm0, xmm3
movaps xmm1, xmm3
movaps xmm2, xmm3
lea r8, [rcx + 8*r12]
cmp r8, 32512
ja .LBB_42
xor r8d, r8d
movq xmm4, qword ptr [r14 + r8 - 120]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm0, xmm5
movq xmm4, qword ptr [r14 + r8 - 112]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm1, xmm5
movq xmm4, qword ptr [r14 + r8 - 104]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm2, xmm5
movq xmm4, qword ptr [r14 + r8 - 96]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm3, xmm5
movq xmm4, qword ptr [r14 + r8 - 88]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm0, xmm5
movq xmm4, qword ptr [r14 + r8 - 80]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm1, xmm5
movq xmm4, qword ptr [r14 + r8 - 72]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm2, xmm5
movq xmm4, qword ptr [r14 + r8 - 64]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm3, xmm5
movq xmm4, qword ptr [r14 + r8 - 56]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm0, xmm5
movq xmm4, qword ptr [r14 + r8 - 48]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm1, xmm5
movq xmm4, qword ptr [r14 + r8 - 40]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm2, xmm5
movq xmm4, qword ptr [r14 + r8 - 32]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm3, xmm5
movq xmm4, qword ptr [r14 + r8 - 24]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm0, xmm5
movq xmm4, qword ptr [r14 + r8 - 16]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm1, xmm5
movq xmm4, qword ptr [r14 + r8 - 8]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm2, xmm5
movq xmm4, qword ptr [r14 + r8]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
maxps xmm3, xmm5
sub r8, -128
cmp r8, 512
jne .LBB_4
sub r12, -128
add r14, 2048
dec r15
jne .LBB_2
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
mov edx, 52
lea r8, [rsp + 208]
maxss xmm1, dword ptr [r8]
add r8, 8
add rdx, -8
cmp rdx, 4
ja .LBB_7
movss dword ptr [rsp + 64], xmm1
movss dword ptr [rsp + 72], xmm1
mov edx, 52
lea r8, [rsp + 80]
movss dword ptr [r8], xmm1
add rdx, -8
add r8, 8
cmp rdx, 4
ja .LBB_9
movaps xmm1, xmm0
shufps xmm1, xmm0, 85
shufps xmm0, xmm0, 255
maxss xmm1, xmm0
mov edx, 48
lea r8, [rsp + 212]
maxss xmm1, dword ptr [r8]
add r8, 8
add rdx, -8
cmp rdx, 4
ja .LBB_11
movdqa xmm8, xmm6
movss dword ptr [rsp + 68], xmm1
movss dword ptr [rsp + 76], xmm1
mov edx, 48
lea r8, [rsp + 84]
movss dword ptr [r8], xmm1
add rdx, -8
add r8, 8
cmp rdx, 4
ja .LBB_13
movaps xmm6, xmmword ptr [rsp + 64]
movaps xmm7, xmmword ptr [rsp + 80]
movaps xmm0, xmmword ptr [rsp + 96]
movaps xmmword ptr [rsp + 32], xmm0
movaps xmm0, xmmword ptr [rsp + 112]
movaps xmmword ptr [rsp + 16], xmm0
xor r8d, r8d
movaps xmm3, xmmword ptr [rip + .LCPI_10]
movaps xmmword ptr [rsp], xmm6
movaps xmmword ptr [rsp + 48], xmm7
movq xmm4, qword ptr [rbx + r8 - 24]
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
movq xmm5, qword ptr [rbx + r8 - 16]
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
movdqu xmmword ptr [rbx + r8 - 24], xmm4
movq xmm4, qword ptr [rbx + r8 - 8]
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
movq xmm5, qword ptr [rbx + r8]
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
movdqu xmmword ptr [rbx + r8 - 8], xmm4
add r8, 32
cmp r8, 512
jne .LBB_15
xor r8d, r8d
movq xmm4, qword ptr [r11 + r8 - 24]
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
movq xmm5, qword ptr [r11 + r8 - 16]
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
movdqu xmmword ptr [r11 + r8 - 24], xmm4
movq xmm4, qword ptr [r11 + r8 - 8]
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
movq xmm5, qword ptr [r11 + r8]
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
movdqu xmmword ptr [r11 + r8 - 8], xmm4
add r8, 32
cmp r8, 512
jne .LBB_17
xor r8d, r8d
movq xmm4, qword ptr [r10 + r8 - 24]
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
movq xmm5, qword ptr [r10 + r8 - 16]
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
movdqu xmmword ptr [r10 + r8 - 24], xmm4
movq xmm4, qword ptr [r10 + r8 - 8]
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
movq xmm5, qword ptr [r10 + r8]
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
movdqu xmmword ptr [r10 + r8 - 8], xmm4
add r8, 32
cmp r8, 512
jne .LBB_19
xor r8d, r8d
movq xmm4, qword ptr [r9 + r8 - 24]
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
movq xmm5, qword ptr [r9 + r8 - 16]
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
movdqu xmmword ptr [r9 + r8 - 24], xmm4
movq xmm4, qword ptr [r9 + r8 - 8]
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
movq xmm5, qword ptr [r9 + r8]
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
movdqu xmmword ptr [r9 + r8 - 8], xmm4
add r8, 32
cmp r8, 512
jne .LBB_21
xorps xmm0, xmm0
mov r8, -4
xorps xmm1, xmm1
xorps xmm2, xmm2
xorps xmm3, xmm3
cmp rax, 32512
ja .LBB_40
movq xmm4, qword ptr [r13 + 2*rax - 504]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm0, xmm5
movq xmm4, qword ptr [r13 + 2*rax - 472]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm0
movq xmm0, qword ptr [r13 + 2*rax - 440]
pxor xmm4, xmm4
punpcklwd xmm4, xmm0
addps xmm4, xmm5
movq xmm5, qword ptr [r13 + 2*rax - 408]
pxor xmm0, xmm0
punpcklwd xmm0, xmm5
addps xmm0, xmm4
movq xmm4, qword ptr [r13 + 2*rax - 496]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm1, xmm5
movq xmm4, qword ptr [r13 + 2*rax - 464]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm1
movq xmm1, qword ptr [r13 + 2*rax - 432]
pxor xmm4, xmm4
punpcklwd xmm4, xmm1
addps xmm4, xmm5
movq xmm5, qword ptr [r13 + 2*rax - 400]
pxor xmm1, xmm1
punpcklwd xmm1, xmm5
addps xmm1, xmm4
movq xmm4, qword ptr [r13 + 2*rax - 488]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm2, xmm5
movq xmm4, qword ptr [r13 + 2*rax - 456]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm2
movq xmm2, qword ptr [r13 + 2*rax - 424]
pxor xmm4, xmm4
punpcklwd xmm4, xmm2
addps xmm4, xmm5
movq xmm5, qword ptr [r13 + 2*rax - 392]
pxor xmm2, xmm2
punpcklwd xmm2, xmm5
addps xmm2, xmm4
movq xmm4, qword ptr [r13 + 2*rax - 480]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm3, xmm5
movq xmm4, qword ptr [r13 + 2*rax - 448]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm3
movq xmm3, qword ptr [r13 + 2*rax - 416]
pxor xmm4, xmm4
punpcklwd xmm4, xmm3
addps xmm4, xmm5
movq xmm5, qword ptr [r13 + 2*rax - 384]
pxor xmm3, xmm3
punpcklwd xmm3, xmm5
addps xmm3, xmm4
movq xmm4, qword ptr [r13 + 2*rax - 376]
pxor xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm0
movq xmm0, qword ptr [r13 + 2*rax - 344]
pxor xmm4, xmm4
punpcklwd xmm4, xmm0
addps xmm4, xmm5
movq xmm0, qword ptr [r13 + 2*rax - 312]
xorps xmm5, xmm5
punpcklwd xmm5, xmm0
addps xmm5, xmm4
movq xmm4, qword ptr [r13 + 2*rax - 280]
pxor xmm0, xmm0
punpcklwd xmm0, xmm4
addps xmm0, xmm5
movq xmm4, qword ptr [r13 + 2*rax - 368]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm1
movq xmm1, qword ptr [r13 + 2*rax - 336]
pxor xmm4, xmm4
punpcklwd xmm4, xmm1
addps xmm4, xmm5
movq xmm1, qword ptr [r13 + 2*rax - 304]
xorps xmm5, xmm5
punpcklwd xmm5, xmm1
addps xmm5, xmm4
movq xmm4, qword ptr [r13 + 2*rax - 272]
pxor xmm1, xmm1
punpcklwd xmm1, xmm4
addps xmm1, xmm5
movq xmm4, qword ptr [r13 + 2*rax - 360]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm2
movq xmm2, qword ptr [r13 + 2*rax - 328]
pxor xmm4, xmm4
punpcklwd xmm4, xmm2
addps xmm4, xmm5
movq xmm2, qword ptr [r13 + 2*rax - 296]
xorps xmm5, xmm5
punpcklwd xmm5, xmm2
addps xmm5, xmm4
movq xmm4, qword ptr [r13 + 2*rax - 264]
pxor xmm2, xmm2
punpcklwd xmm2, xmm4
addps xmm2, xmm5
movq xmm4, qword ptr [r13 + 2*rax - 352]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm3
movq xmm3, qword ptr [r13 + 2*rax - 320]
pxor xmm4, xmm4
punpcklwd xmm4, xmm3
addps xmm4, xmm5
movq xmm3, qword ptr [r13 + 2*rax - 288]
xorps xmm5, xmm5
punpcklwd xmm5, xmm3
addps xmm5, xmm4
movq xmm4, qword ptr [r13 + 2*rax - 256]
pxor xmm3, xmm3
punpcklwd xmm3, xmm4
addps xmm3, xmm5
movq xmm4, qword ptr [r13 + 2*rax - 248]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm0
movq xmm0, qword ptr [r13 + 2*rax - 216]
pxor xmm4, xmm4
punpcklwd xmm4, xmm0
addps xmm4, xmm5
movq xmm0, qword ptr [r13 + 2*rax - 184]
xorps xmm5, xmm5
punpcklwd xmm5, xmm0
addps xmm5, xmm4
movq xmm4, qword ptr [r13 + 2*rax - 152]
pxor xmm0, xmm0
punpcklwd xmm0, xmm4
addps xmm0, xmm5
movq xmm4, qword ptr [r13 + 2*rax - 240]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm1
movq xmm1, qword ptr [r13 + 2*rax - 208]
pxor xmm4, xmm4
punpcklwd xmm4, xmm1
addps xmm4, xmm5
movq xmm1, qword ptr [r13 + 2*rax - 176]
xorps xmm5, xmm5
punpcklwd xmm5, xmm1
addps xmm5, xmm4
movq xmm4, qword ptr [r13 + 2*rax - 144]
pxor xmm1, xmm1
punpcklwd xmm1, xmm4
addps xmm1, xmm5
movq xmm4, qword ptr [r13 + 2*rax - 232]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm2
movq xmm2, qword ptr [r13 + 2*rax - 200]
pxor xmm4, xmm4
punpcklwd xmm4, xmm2
addps xmm4, xmm5
movq xmm2, qword ptr [r13 + 2*rax - 168]
xorps xmm5, xmm5
punpcklwd xmm5, xmm2
addps xmm5, xmm4
movq xmm4, qword ptr [r13 + 2*rax - 136]
pxor xmm2, xmm2
punpcklwd xmm2, xmm4
addps xmm2, xmm5
movq xmm4, qword ptr [r13 + 2*rax - 224]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm3
movq xmm3, qword ptr [r13 + 2*rax - 192]
pxor xmm4, xmm4
punpcklwd xmm4, xmm3
addps xmm4, xmm5
movq xmm3, qword ptr [r13 + 2*rax - 160]
xorps xmm5, xmm5
punpcklwd xmm5, xmm3
addps xmm5, xmm4
movq xmm4, qword ptr [r13 + 2*rax - 128]
pxor xmm3, xmm3
punpcklwd xmm3, xmm4
addps xmm3, xmm5
movq xmm4, qword ptr [r13 + 2*rax - 120]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm0
movq xmm0, qword ptr [r13 + 2*rax - 88]
pxor xmm4, xmm4
punpcklwd xmm4, xmm0
addps xmm4, xmm5
movq xmm0, qword ptr [r13 + 2*rax - 56]
xorps xmm5, xmm5
punpcklwd xmm5, xmm0
addps xmm5, xmm4
movq xmm4, qword ptr [r13 + 2*rax - 24]
pxor xmm0, xmm0
punpcklwd xmm0, xmm4
addps xmm0, xmm5
movq xmm4, qword ptr [r13 + 2*rax - 112]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm1
movq xmm1, qword ptr [r13 + 2*rax - 80]
pxor xmm4, xmm4
punpcklwd xmm4, xmm1
addps xmm4, xmm5
movq xmm1, qword ptr [r13 + 2*rax - 48]
xorps xmm5, xmm5
punpcklwd xmm5, xmm1
addps xmm5, xmm4
movq xmm4, qword ptr [r13 + 2*rax - 16]
pxor xmm1, xmm1
punpcklwd xmm1, xmm4
addps xmm1, xmm5
movq xmm4, qword ptr [r13 + 2*rax - 104]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm2
movq xmm2, qword ptr [r13 + 2*rax - 72]
pxor xmm4, xmm4
punpcklwd xmm4, xmm2
addps xmm4, xmm5
movq xmm2, qword ptr [r13 + 2*rax - 40]
xorps xmm5, xmm5
punpcklwd xmm5, xmm2
addps xmm5, xmm4
movq xmm4, qword ptr [r13 + 2*rax - 8]
pxor xmm2, xmm2
punpcklwd xmm2, xmm4
addps xmm2, xmm5
movq xmm4, qword ptr [r13 + 2*rax - 96]
xorps xmm5, xmm5
punpcklwd xmm5, xmm4
addps xmm5, xmm3
movq xmm3, qword ptr [r13 + 2*rax - 64]
pxor xmm4, xmm4
punpcklwd xmm4, xmm3
addps xmm4, xmm5
movq xmm3, qword ptr [r13 + 2*rax - 32]
xorps xmm5, xmm5
punpcklwd xmm5, xmm3
addps xmm5, xmm4
movq xmm4, qword ptr [r13 + 2*rax]
pxor xmm3, xmm3
punpcklwd xmm3, xmm4
addps xmm3, xmm5
add rax, 1024
inc r8
jne .LBB_23
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
lea rdx, [rsp + 208]
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
lea rdx, [rsp + 212]
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
mov r8d, 4
xor r10d, r10d
movaps xmmword ptr [rsp + 160], xmm13
movaps xmmword ptr [rsp + 304], xmm3
movaps xmmword ptr [rsp + 288], xmm4
movaps xmmword ptr [rsp + 272], xmm5
movaps xmmword ptr [rsp + 256], xmm7
movaps xmmword ptr [rsp + 144], xmm0
movaps xmmword ptr [rsp + 128], xmm1
lea rax, [rcx + 8*r10]
cmp rax, 32512
ja .LBB_43
lea rax, [rdi + 2*rax]
xor r9d, r9d
movaps xmm13, xmm2
mov r11, r9
shl r11, 5
movzx edx, word ptr [rax + r11]
movd xmm1, edx
pinsrw xmm1, word ptr [rax + r11 + 32], 1
movzx edx, word ptr [rax + r11 + 128]
movd xmm2, edx
pinsrw xmm2, word ptr [rax + r11 + 160], 1
pinsrw xmm1, word ptr [rax + r11 + 64], 2
pinsrw xmm2, word ptr [rax + r11 + 192], 2
pinsrw xmm1, word ptr [rax + r11 + 96], 3
pinsrw xmm2, word ptr [rax + r11 + 224], 3
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
pextrw edx, xmm1, 7
pextrw ebx, xmm1, 5
pextrw r14d, xmm1, 3
pextrw r15d, xmm1, 1
mov word ptr [rax + r11 + 128], r15w
mov word ptr [rax + r11 + 160], r14w
mov word ptr [rax + r11 + 192], bx
mov word ptr [rax + r11 + 224], dx
movzx edx, word ptr [rax + r11 + 130]
movzx ebx, word ptr [rax + r11 + 2]
movd xmm3, edx
pinsrw xmm3, word ptr [rax + r11 + 162], 1
movd xmm4, ebx
pinsrw xmm3, word ptr [rax + r11 + 194], 2
pinsrw xmm4, word ptr [rax + r11 + 34], 1
pinsrw xmm3, word ptr [rax + r11 + 226], 3
pinsrw xmm4, word ptr [rax + r11 + 66], 2
psrld xmm0, 16
pxor xmm1, xmm1
pinsrw xmm4, word ptr [rax + r11 + 98], 3
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
pextrw edx, xmm2, 7
pextrw ebx, xmm2, 5
pextrw r14d, xmm2, 3
paddd xmm1, xmm3
pextrw r15d, xmm2, 1
mov word ptr [rax + r11 + 130], r15w
mov word ptr [rax + r11 + 162], r14w
mov word ptr [rax + r11 + 194], bx
mov word ptr [rax + r11 + 226], dx
psrld xmm1, 16
movzx edx, word ptr [rax + r11 + 4]
movd xmm4, edx
movzx edx, word ptr [rax + r11 + 132]
movd xmm5, edx
pinsrw xmm5, word ptr [rax + r11 + 164], 1
pinsrw xmm4, word ptr [rax + r11 + 36], 1
pinsrw xmm5, word ptr [rax + r11 + 196], 2
pinsrw xmm4, word ptr [rax + r11 + 68], 2
pinsrw xmm5, word ptr [rax + r11 + 228], 3
pinsrw xmm4, word ptr [rax + r11 + 100], 3
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
pextrw r14d, xmm3, 5
movdqa xmm4, xmm2
pextrw r15d, xmm3, 3
psrld xmm4, 16
pextrw r12d, xmm3, 1
psrad xmm3, 16
pextrw ebx, xmm2, 5
mov word ptr [rax + r11 + 132], r12w
mov word ptr [rax + r11 + 164], r15w
mov word ptr [rax + r11 + 196], r14w
mov word ptr [rax + r11 + 228], dx
movzx edx, word ptr [rax + r11 + 6]
movd xmm6, edx
pinsrw xmm6, word ptr [rax + r11 + 38], 1
movzx edx, word ptr [rax + r11 + 134]
movd xmm7, edx
pinsrw xmm7, word ptr [rax + r11 + 166], 1
pinsrw xmm6, word ptr [rax + r11 + 70], 2
pinsrw xmm7, word ptr [rax + r11 + 198], 2
pinsrw xmm6, word ptr [rax + r11 + 102], 3
psrad xmm2, 16
pinsrw xmm7, word ptr [rax + r11 + 230], 3
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
pextrw r14d, xmm5, 7
pextrw r15d, xmm5, 5
movdqa xmm6, xmm3
pextrw r12d, xmm5, 3
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
movq qword ptr [rax + r11], xmm4
pshufd xmm1, xmm0, 238
pinsrw xmm0, ebx, 2
pshuflw xmm4, xmm5, 201
punpcklwd xmm0, xmm3
pshuflw xmm0, xmm0, 232
pshufd xmm0, xmm0, 232
movq qword ptr [rax + r11 + 32], xmm4
psrlq xmm2, 48
punpckldq xmm1, xmm2
pand xmm1, xmm8
movq qword ptr [rax + r11 + 64], xmm0
movdqa xmm0, xmm8
pandn xmm0, xmm3
por xmm0, xmm1
movq qword ptr [rax + r11 + 96], xmm0
mov word ptr [rax + r11 + 134], dx
mov word ptr [rax + r11 + 166], r12w
mov word ptr [rax + r11 + 198], r15w
mov word ptr [rax + r11 + 230], r14w
movzx edx, word ptr [rax + r11 + 8]
movd xmm1, edx
movzx edx, word ptr [rax + r11 + 136]
movd xmm2, edx
pinsrw xmm2, word ptr [rax + r11 + 168], 1
pinsrw xmm1, word ptr [rax + r11 + 40], 1
pinsrw xmm2, word ptr [rax + r11 + 200], 2
pinsrw xmm1, word ptr [rax + r11 + 72], 2
pinsrw xmm2, word ptr [rax + r11 + 232], 3
pinsrw xmm1, word ptr [rax + r11 + 104], 3
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
pextrw edx, xmm3, 7
pextrw ebx, xmm3, 5
pextrw r14d, xmm3, 3
paddd xmm0, xmm12
pextrw r15d, xmm3, 1
mov word ptr [rax + r11 + 136], r15w
mov word ptr [rax + r11 + 168], r14w
mov word ptr [rax + r11 + 200], bx
mov word ptr [rax + r11 + 232], dx
paddd xmm0, xmm1
movzx edx, word ptr [rax + r11 + 10]
movd xmm2, edx
movzx edx, word ptr [rax + r11 + 138]
movd xmm3, edx
pinsrw xmm3, word ptr [rax + r11 + 170], 1
pinsrw xmm2, word ptr [rax + r11 + 42], 1
pinsrw xmm3, word ptr [rax + r11 + 202], 2
pinsrw xmm2, word ptr [rax + r11 + 74], 2
pinsrw xmm3, word ptr [rax + r11 + 234], 3
pinsrw xmm2, word ptr [rax + r11 + 106], 3
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
pextrw edx, xmm4, 7
pextrw ebx, xmm4, 5
pextrw r14d, xmm4, 3
pextrw r15d, xmm4, 1
mov word ptr [rax + r11 + 138], r15w
mov word ptr [rax + r11 + 170], r14w
mov word ptr [rax + r11 + 202], bx
mov word ptr [rax + r11 + 234], dx
movzx edx, word ptr [rax + r11 + 12]
movd xmm3, edx
pinsrw xmm3, word ptr [rax + r11 + 44], 1
movzx edx, word ptr [rax + r11 + 140]
movd xmm4, edx
pinsrw xmm4, word ptr [rax + r11 + 172], 1
pinsrw xmm3, word ptr [rax + r11 + 76], 2
pinsrw xmm4, word ptr [rax + r11 + 204], 2
pinsrw xmm3, word ptr [rax + r11 + 108], 3
pinsrw xmm4, word ptr [rax + r11 + 236], 3
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
pextrw r14d, xmm6, 5
pextrw r15d, xmm6, 3
movdqa xmm4, xmm2
pextrw r12d, xmm6, 1
pextrw ebx, xmm2, 5
mov word ptr [rax + r11 + 140], r12w
mov word ptr [rax + r11 + 172], r15w
mov word ptr [rax + r11 + 204], r14w
mov word ptr [rax + r11 + 236], dx
movzx edx, word ptr [rax + r11 + 14]
movd xmm5, edx
pinsrw xmm5, word ptr [rax + r11 + 46], 1
movzx edx, word ptr [rax + r11 + 142]
movd xmm7, edx
pinsrw xmm7, word ptr [rax + r11 + 174], 1
pinsrw xmm5, word ptr [rax + r11 + 78], 2
pinsrw xmm7, word ptr [rax + r11 + 206], 2
pinsrw xmm5, word ptr [rax + r11 + 110], 3
psrad xmm2, 16
pinsrw xmm7, word ptr [rax + r11 + 238], 3
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
pextrw r14d, xmm5, 7
movdqa xmm6, xmm0
punpcklwd xmm6, xmm1
pextrw r15d, xmm5, 5
pshufd xmm7, xmm6, 238
punpckldq xmm6, xmm4
pextrw edx, xmm5, 3
movdqa xmm4, xmm3
pextrw r12d, xmm5, 1
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
pinsrw xmm0, ebx, 2
movq qword ptr [rax + r11 + 8], xmm1
pshufd xmm1, xmm5, 230
punpcklwd xmm0, xmm3
pshuflw xmm0, xmm0, 232
pshuflw xmm1, xmm1, 201
pshufd xmm0, xmm0, 232
psrlq xmm2, 48
punpckldq xmm4, xmm2
movq qword ptr [rax + r11 + 40], xmm1
pand xmm4, xmm8
movdqa xmm1, xmm8
pandn xmm1, xmm3
movq qword ptr [rax + r11 + 72], xmm0
por xmm1, xmm4
movq qword ptr [rax + r11 + 104], xmm1
mov word ptr [rax + r11 + 142], r12w
mov word ptr [rax + r11 + 174], dx
mov word ptr [rax + r11 + 206], r15w
mov word ptr [rax + r11 + 238], r14w
movzx edx, word ptr [rax + r11 + 16]
movd xmm1, edx
pinsrw xmm1, word ptr [rax + r11 + 48], 1
movzx edx, word ptr [rax + r11 + 144]
movd xmm2, edx
pinsrw xmm2, word ptr [rax + r11 + 176], 1
pinsrw xmm1, word ptr [rax + r11 + 80], 2
pinsrw xmm2, word ptr [rax + r11 + 208], 2
pinsrw xmm1, word ptr [rax + r11 + 112], 3
pinsrw xmm2, word ptr [rax + r11 + 240], 3
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
pextrw edx, xmm1, 7
pextrw ebx, xmm1, 5
pextrw r14d, xmm1, 3
pextrw r15d, xmm1, 1
mov word ptr [rax + r11 + 144], r15w
mov word ptr [rax + r11 + 176], r14w
mov word ptr [rax + r11 + 208], bx
mov word ptr [rax + r11 + 240], dx
movzx edx, word ptr [rax + r11 + 146]
movzx ebx, word ptr [rax + r11 + 18]
movd xmm3, edx
pinsrw xmm3, word ptr [rax + r11 + 178], 1
movd xmm4, ebx
pinsrw xmm3, word ptr [rax + r11 + 210], 2
pinsrw xmm4, word ptr [rax + r11 + 50], 1
pinsrw xmm3, word ptr [rax + r11 + 242], 3
pinsrw xmm4, word ptr [rax + r11 + 82], 2
psrld xmm0, 16
pxor xmm1, xmm1
pinsrw xmm4, word ptr [rax + r11 + 114], 3
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
pextrw edx, xmm2, 7
pextrw ebx, xmm2, 5
pextrw r14d, xmm2, 3
paddd xmm1, xmm3
pextrw r15d, xmm2, 1
mov word ptr [rax + r11 + 146], r15w
mov word ptr [rax + r11 + 178], r14w
mov word ptr [rax + r11 + 210], bx
mov word ptr [rax + r11 + 242], dx
psrld xmm1, 16
movzx edx, word ptr [rax + r11 + 20]
movd xmm4, edx
movzx edx, word ptr [rax + r11 + 148]
movd xmm5, edx
pinsrw xmm5, word ptr [rax + r11 + 180], 1
pinsrw xmm4, word ptr [rax + r11 + 52], 1
pinsrw xmm5, word ptr [rax + r11 + 212], 2
pinsrw xmm4, word ptr [rax + r11 + 84], 2
pinsrw xmm5, word ptr [rax + r11 + 244], 3
pinsrw xmm4, word ptr [rax + r11 + 116], 3
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
pextrw r14d, xmm3, 5
movdqa xmm4, xmm2
pextrw r15d, xmm3, 3
psrld xmm4, 16
pextrw r12d, xmm3, 1
psrad xmm3, 16
pextrw ebx, xmm2, 5
mov word ptr [rax + r11 + 148], r12w
mov word ptr [rax + r11 + 180], r15w
mov word ptr [rax + r11 + 212], r14w
mov word ptr [rax + r11 + 244], dx
movzx edx, word ptr [rax + r11 + 22]
movd xmm6, edx
pinsrw xmm6, word ptr [rax + r11 + 54], 1
movzx edx, word ptr [rax + r11 + 150]
movd xmm7, edx
pinsrw xmm7, word ptr [rax + r11 + 182], 1
pinsrw xmm6, word ptr [rax + r11 + 86], 2
pinsrw xmm7, word ptr [rax + r11 + 214], 2
pinsrw xmm6, word ptr [rax + r11 + 118], 3
psrad xmm2, 16
pinsrw xmm7, word ptr [rax + r11 + 246], 3
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
pextrw r14d, xmm5, 7
pextrw r15d, xmm5, 5
movdqa xmm6, xmm3
pextrw r12d, xmm5, 3
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
movq qword ptr [rax + r11 + 16], xmm4
pshufd xmm1, xmm0, 238
pinsrw xmm0, ebx, 2
pshuflw xmm4, xmm5, 201
punpcklwd xmm0, xmm3
pshuflw xmm0, xmm0, 232
pshufd xmm0, xmm0, 232
movq qword ptr [rax + r11 + 48], xmm4
psrlq xmm2, 48
punpckldq xmm1, xmm2
pand xmm1, xmm8
movq qword ptr [rax + r11 + 80], xmm0
movdqa xmm0, xmm8
pandn xmm0, xmm3
por xmm0, xmm1
movq qword ptr [rax + r11 + 112], xmm0
mov word ptr [rax + r11 + 150], dx
mov word ptr [rax + r11 + 182], r12w
mov word ptr [rax + r11 + 214], r15w
mov word ptr [rax + r11 + 246], r14w
movzx edx, word ptr [rax + r11 + 24]
movd xmm1, edx
movzx edx, word ptr [rax + r11 + 152]
movd xmm2, edx
pinsrw xmm2, word ptr [rax + r11 + 184], 1
pinsrw xmm1, word ptr [rax + r11 + 56], 1
pinsrw xmm2, word ptr [rax + r11 + 216], 2
pinsrw xmm1, word ptr [rax + r11 + 88], 2
pinsrw xmm2, word ptr [rax + r11 + 248], 3
pinsrw xmm1, word ptr [rax + r11 + 120], 3
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
pextrw edx, xmm3, 7
pextrw ebx, xmm3, 5
pextrw r14d, xmm3, 3
paddd xmm0, xmm12
pextrw r15d, xmm3, 1
mov word ptr [rax + r11 + 152], r15w
mov word ptr [rax + r11 + 184], r14w
mov word ptr [rax + r11 + 216], bx
mov word ptr [rax + r11 + 248], dx
paddd xmm0, xmm1
movzx edx, word ptr [rax + r11 + 26]
movd xmm2, edx
movzx edx, word ptr [rax + r11 + 154]
movd xmm3, edx
pinsrw xmm3, word ptr [rax + r11 + 186], 1
pinsrw xmm2, word ptr [rax + r11 + 58], 1
pinsrw xmm3, word ptr [rax + r11 + 218], 2
pinsrw xmm2, word ptr [rax + r11 + 90], 2
pinsrw xmm3, word ptr [rax + r11 + 250], 3
pinsrw xmm2, word ptr [rax + r11 + 122], 3
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
pextrw edx, xmm4, 7
pextrw ebx, xmm4, 5
pextrw r14d, xmm4, 3
pextrw r15d, xmm4, 1
mov word ptr [rax + r11 + 154], r15w
mov word ptr [rax + r11 + 186], r14w
mov word ptr [rax + r11 + 218], bx
mov word ptr [rax + r11 + 250], dx
movzx edx, word ptr [rax + r11 + 28]
movd xmm3, edx
pinsrw xmm3, word ptr [rax + r11 + 60], 1
movzx edx, word ptr [rax + r11 + 156]
movd xmm4, edx
pinsrw xmm4, word ptr [rax + r11 + 188], 1
pinsrw xmm3, word ptr [rax + r11 + 92], 2
pinsrw xmm4, word ptr [rax + r11 + 220], 2
pinsrw xmm3, word ptr [rax + r11 + 124], 3
pinsrw xmm4, word ptr [rax + r11 + 252], 3
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
pextrw r14d, xmm3, 5
pextrw r15d, xmm3, 3
movdqa xmm4, xmm2
pextrw r12d, xmm3, 1
psrld xmm4, 16
pextrw ebx, xmm2, 5
psrad xmm3, 16
psrad xmm2, 16
packssdw xmm2, xmm3
mov word ptr [rax + r11 + 156], r12w
mov word ptr [rax + r11 + 188], r15w
mov word ptr [rax + r11 + 220], r14w
mov word ptr [rax + r11 + 252], dx
movzx edx, word ptr [rax + r11 + 30]
movd xmm5, edx
pinsrw xmm5, word ptr [rax + r11 + 62], 1
movzx edx, word ptr [rax + r11 + 158]
movd xmm6, edx
pinsrw xmm6, word ptr [rax + r11 + 190], 1
pinsrw xmm5, word ptr [rax + r11 + 94], 2
pinsrw xmm6, word ptr [rax + r11 + 222], 2
pinsrw xmm5, word ptr [rax + r11 + 126], 3
pinsrw xmm6, word ptr [rax + r11 + 254], 3
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
pextrw r14d, xmm5, 7
pextrw r15d, xmm5, 5
pextrw r12d, xmm5, 3
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
movq qword ptr [rax + r11 + 24], xmm4
movdqa xmm4, xmm2
psrld xmm4, 16
punpckldq xmm5, xmm4
punpckhwd xmm0, xmm1
punpcklwd xmm5, xmm3
pshufd xmm1, xmm5, 39
pshufhw xmm1, xmm1, 232
pshufd xmm1, xmm1, 230
pshuflw xmm1, xmm1, 201
movq qword ptr [rax + r11 + 56], xmm1
pshufd xmm1, xmm0, 238
pinsrw xmm0, ebx, 2
punpcklwd xmm0, xmm3
pshuflw xmm0, xmm0, 232
pshufd xmm0, xmm0, 232
movq qword ptr [rax + r11 + 88], xmm0
psrlq xmm2, 48
punpckldq xmm1, xmm2
movdqa xmm0, xmm8
pandn xmm0, xmm3
pand xmm1, xmm8
por xmm0, xmm1
movq qword ptr [rax + r11 + 120], xmm0
mov word ptr [rax + r11 + 158], dx
mov word ptr [rax + r11 + 190], r12w
mov word ptr [rax + r11 + 222], r15w
mov word ptr [rax + r11 + 254], r14w
add r9, 8
cmp r9, 16
jne .LBB_36
sub r10, -128
dec r8
movaps xmm2, xmm13
jne .LBB_34
movdqa xmm6, xmm8
add rbp, 1024
mov rax, qword ptr [rsp + 184]
inc al
cmp rsi, 62
lea rsi, [rsi + 2]
jb .LBB_1
add rsp, 328
pop rbx
pop r12
pop r13
pop r14
pop r15
pop rbp
ret
lea rsi, [r8 + 256]
lea rcx, [rip + .Lanon.1]
mov edx, 32768
mov rdi, r8
call qword ptr [rip + _RNvNtNtCsgEmfK2I1SDS_4core5slice5index16slice_index_fail@GOTPCREL]
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
