push r15
push r14
push r13
push r12
push rbx
sub rsp, 16
lea rax, [rdi + 448]
lea rcx, [rdi + 496]
xor edx, edx
movaps xmm1, xmmword ptr [rip + .LCPI_1]
movaps xmm2, xmmword ptr [rip + .LCPI_2]
movaps xmm3, xmmword ptr [rip + .LCPI_3]
movaps xmm4, xmmword ptr [rip + .LCPI_4]
movaps xmm5, xmmword ptr [rip + .LCPI_5]
movaps xmm6, xmmword ptr [rip + .LCPI_6]
movaps xmm7, xmmword ptr [rip + .LCPI_7]
movaps xmm8, xmmword ptr [rip + .LCPI_8]
movaps xmm9, xmmword ptr [rip + .LCPI_9]
movaps xmm10, xmmword ptr [rip + .LCPI_10]
xor esi, esi
xor r8d, r8d
mov r11d, edx
and r11d, 896
lea r9, [4*r11]
mov r14, rsi
and r14, -4096
lea r15, [r9 + 4*r14]
lea rbx, [rcx + r15]
or r11, r14
add r15, rax
mov r9d, r8d
shl r9d, 9
mov r10d, r9d
and r10d, 28672
and r9d, 3584
add r9, rdi
xor r12d, r12d
movaps xmm14, xmmword ptr [rip + .LCPI_0]
movaps xmm12, xmm14
movaps xmm0, xmm14
movaps xmm15, xmm14
lea r13, [r14 + r12]
cmp r13, 32768
jae .LBB_9
movups xmm13, xmmword ptr [r15 + 4*r12 - 448]
maxps xmm12, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 432]
maxps xmm0, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 416]
maxps xmm15, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 400]
maxps xmm14, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 336]
maxps xmm14, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 352]
maxps xmm15, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 384]
maxps xmm12, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 368]
maxps xmm0, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 304]
maxps xmm0, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 320]
maxps xmm12, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 288]
maxps xmm15, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 272]
maxps xmm14, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 208]
maxps xmm14, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 224]
maxps xmm15, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 256]
maxps xmm12, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 240]
maxps xmm0, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 176]
maxps xmm0, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 192]
maxps xmm12, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 160]
maxps xmm15, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 144]
maxps xmm14, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 80]
maxps xmm14, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 96]
maxps xmm15, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 128]
maxps xmm12, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 112]
maxps xmm0, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 48]
maxps xmm0, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 64]
maxps xmm12, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 32]
maxps xmm15, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 - 16]
maxps xmm14, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 + 48]
maxps xmm14, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 + 32]
maxps xmm15, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12]
maxps xmm12, xmm13
movups xmm13, xmmword ptr [r15 + 4*r12 + 16]
maxps xmm0, xmm13
add r12, 1024
cmp r12, 4096
jne .LBB_2
movaps xmm11, xmm12
shufps xmm11, xmm12, 85
movaps xmm13, xmm12
maxss xmm13, xmm11
movaps xmm11, xmm12
unpckhpd xmm11, xmm12
maxss xmm13, xmm11
shufps xmm12, xmm12, 255
maxss xmm13, xmm12
maxss xmm13, xmm0
movaps xmm11, xmm0
shufps xmm11, xmm0, 85
maxss xmm13, xmm11
movaps xmm11, xmm0
unpckhpd xmm11, xmm0
maxss xmm13, xmm11
shufps xmm0, xmm0, 255
maxss xmm13, xmm0
maxss xmm13, xmm15
movaps xmm0, xmm15
shufps xmm0, xmm15, 85
maxss xmm13, xmm0
movaps xmm0, xmm15
unpckhpd xmm0, xmm15
maxss xmm13, xmm0
shufps xmm15, xmm15, 255
maxss xmm13, xmm15
maxss xmm13, xmm14
movaps xmm0, xmm14
shufps xmm0, xmm14, 85
maxss xmm13, xmm0
movaps xmm0, xmm14
unpckhpd xmm0, xmm14
maxss xmm13, xmm0
shufps xmm14, xmm14, 255
maxss xmm13, xmm14
shufps xmm13, xmm13, 0
xor r14d, r14d
lea r15, [r11 + r14]
cmp r15, 32768
jae .LBB_10
movups xmm0, xmmword ptr [rbx + 4*r14 - 496]
movups xmm14, xmmword ptr [rbx + 4*r14 - 480]
movups xmm12, xmmword ptr [rbx + 4*r14 - 464]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm15, xmm0
addps xmm15, xmm3
movaps xmm11, xmm15
addps xmm11, xmm4
subps xmm0, xmm11
mulps xmm0, xmm5
movaps xmm11, xmm0
mulps xmm11, xmm6
addps xmm11, xmm7
mulps xmm11, xmm0
addps xmm11, xmm8
mulps xmm11, xmm0
addps xmm11, xmm9
mulps xmm11, xmm0
addps xmm11, xmm10
mulps xmm11, xmm0
movups xmm0, xmmword ptr [rbx + 4*r14 - 448]
addps xmm11, xmm10
pslld xmm15, 23
paddd xmm15, xmm11
movdqu xmmword ptr [rbx + 4*r14 - 496], xmm15
subps xmm14, xmm13
maxps xmm14, xmm1
mulps xmm14, xmm2
movaps xmm11, xmm14
addps xmm11, xmm3
movaps xmm15, xmm11
addps xmm15, xmm4
subps xmm14, xmm15
mulps xmm14, xmm5
movaps xmm15, xmm14
mulps xmm15, xmm6
addps xmm15, xmm7
mulps xmm15, xmm14
addps xmm15, xmm8
mulps xmm15, xmm14
addps xmm15, xmm9
mulps xmm15, xmm14
addps xmm15, xmm10
mulps xmm15, xmm14
addps xmm15, xmm10
pslld xmm11, 23
paddd xmm11, xmm15
movdqu xmmword ptr [rbx + 4*r14 - 480], xmm11
subps xmm12, xmm13
maxps xmm12, xmm1
mulps xmm12, xmm2
movaps xmm11, xmm12
addps xmm11, xmm3
movaps xmm14, xmm11
addps xmm14, xmm4
subps xmm12, xmm14
mulps xmm12, xmm5
movaps xmm14, xmm12
mulps xmm14, xmm6
addps xmm14, xmm7
mulps xmm14, xmm12
addps xmm14, xmm8
mulps xmm14, xmm12
addps xmm14, xmm9
mulps xmm14, xmm12
addps xmm14, xmm10
mulps xmm14, xmm12
addps xmm14, xmm10
pslld xmm11, 23
paddd xmm11, xmm14
movdqu xmmword ptr [rbx + 4*r14 - 464], xmm11
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 448], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 432]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 432], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 416]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 416], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 400]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 400], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 384]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 384], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 368]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 368], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 352]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 352], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 336]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 336], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 320]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 320], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 304]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 304], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 288]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 288], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 272]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 272], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 256]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 256], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 240]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 240], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 224]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 224], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 208]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 208], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 192]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 192], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 176]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 176], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 160]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 160], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 144]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 144], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 128]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 128], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 112]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 112], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 96]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 96], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 80]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 80], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 64]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 64], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 48]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 48], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 32]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 32], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14 - 16]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14 - 16], xmm11
movups xmm0, xmmword ptr [rbx + 4*r14]
subps xmm0, xmm13
maxps xmm0, xmm1
mulps xmm0, xmm2
movaps xmm11, xmm0
addps xmm11, xmm3
movaps xmm12, xmm11
addps xmm12, xmm4
subps xmm0, xmm12
mulps xmm0, xmm5
movaps xmm12, xmm0
mulps xmm12, xmm6
addps xmm12, xmm7
mulps xmm12, xmm0
addps xmm12, xmm8
mulps xmm12, xmm0
addps xmm12, xmm9
mulps xmm12, xmm0
addps xmm12, xmm10
mulps xmm12, xmm0
addps xmm12, xmm10
pslld xmm11, 23
paddd xmm11, xmm12
movdqu xmmword ptr [rbx + 4*r14], xmm11
add r14, 1024
cmp r14, 4096
jne .LBB_5
movups xmm13, xmmword ptr [r9 + 4*r10]
movaps xmmword ptr [rsp], xmm13
movups xmm0, xmmword ptr [r9 + 4*r10 + 16]
movups xmm11, xmmword ptr [r9 + 4*r10 + 32]
movups xmm12, xmmword ptr [r9 + 4*r10 + 48]
xorps xmm14, xmm14
addps xmm13, xmm14
addps xmm0, xmm14
addps xmm11, xmm14
addps xmm12, xmm14
movups xmm15, xmmword ptr [r9 + 4*r10 + 64]
addps xmm15, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 80]
addps xmm13, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 96]
addps xmm0, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 112]
addps xmm11, xmm12
movups xmm12, xmmword ptr [r9 + 4*r10 + 176]
addps xmm12, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 160]
addps xmm11, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 144]
addps xmm0, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 128]
addps xmm13, xmm15
movups xmm15, xmmword ptr [r9 + 4*r10 + 192]
addps xmm15, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 208]
addps xmm13, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 224]
addps xmm0, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 240]
addps xmm11, xmm12
movups xmm12, xmmword ptr [r9 + 4*r10 + 304]
addps xmm12, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 288]
addps xmm11, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 272]
addps xmm0, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 256]
addps xmm13, xmm15
movups xmm15, xmmword ptr [r9 + 4*r10 + 320]
addps xmm15, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 336]
addps xmm13, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 352]
addps xmm0, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 368]
addps xmm11, xmm12
movups xmm12, xmmword ptr [r9 + 4*r10 + 432]
addps xmm12, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 416]
addps xmm11, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 400]
addps xmm0, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 384]
addps xmm13, xmm15
movups xmm15, xmmword ptr [r9 + 4*r10 + 448]
addps xmm15, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 464]
addps xmm13, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 480]
addps xmm0, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 496]
addps xmm11, xmm12
movups xmm12, xmmword ptr [r9 + 4*r10 + 4144]
addps xmm12, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 4128]
addps xmm11, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4112]
addps xmm0, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 4096]
addps xmm13, xmm15
movups xmm15, xmmword ptr [r9 + 4*r10 + 4160]
addps xmm15, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 4176]
addps xmm13, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4192]
addps xmm0, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 4208]
addps xmm11, xmm12
movups xmm12, xmmword ptr [r9 + 4*r10 + 4272]
addps xmm12, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 4256]
addps xmm11, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4240]
addps xmm0, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 4224]
addps xmm13, xmm15
movups xmm15, xmmword ptr [r9 + 4*r10 + 4288]
addps xmm15, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 4304]
addps xmm13, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4320]
addps xmm0, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 4336]
addps xmm11, xmm12
movups xmm12, xmmword ptr [r9 + 4*r10 + 4400]
addps xmm12, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 4384]
addps xmm11, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4368]
addps xmm0, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 4352]
addps xmm13, xmm15
movups xmm15, xmmword ptr [r9 + 4*r10 + 4416]
addps xmm15, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 4432]
addps xmm13, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4448]
addps xmm0, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 4464]
addps xmm11, xmm12
movups xmm12, xmmword ptr [r9 + 4*r10 + 4528]
addps xmm12, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 4512]
addps xmm11, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4496]
addps xmm0, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 4480]
addps xmm13, xmm15
movups xmm15, xmmword ptr [r9 + 4*r10 + 4544]
addps xmm15, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 4560]
addps xmm13, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4576]
addps xmm0, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 4592]
addps xmm11, xmm12
movups xmm12, xmmword ptr [r9 + 4*r10 + 8240]
addps xmm12, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 8224]
addps xmm11, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8208]
addps xmm0, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 8192]
addps xmm13, xmm15
movups xmm15, xmmword ptr [r9 + 4*r10 + 8256]
addps xmm15, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 8272]
addps xmm13, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8288]
addps xmm0, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 8304]
addps xmm11, xmm12
movups xmm12, xmmword ptr [r9 + 4*r10 + 8368]
addps xmm12, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 8352]
addps xmm11, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8336]
addps xmm0, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 8320]
addps xmm13, xmm15
movups xmm15, xmmword ptr [r9 + 4*r10 + 8384]
addps xmm15, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 8400]
addps xmm13, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8416]
addps xmm0, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 8432]
addps xmm11, xmm12
movups xmm12, xmmword ptr [r9 + 4*r10 + 8496]
addps xmm12, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 8480]
addps xmm11, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8464]
addps xmm0, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 8448]
addps xmm13, xmm15
movups xmm15, xmmword ptr [r9 + 4*r10 + 8512]
addps xmm15, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 8528]
addps xmm13, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8544]
addps xmm0, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 8560]
addps xmm11, xmm12
movups xmm12, xmmword ptr [r9 + 4*r10 + 8624]
addps xmm12, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 8608]
addps xmm11, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8592]
addps xmm0, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 8576]
addps xmm13, xmm15
movups xmm15, xmmword ptr [r9 + 4*r10 + 8640]
addps xmm15, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 8656]
addps xmm13, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8672]
addps xmm0, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 8688]
addps xmm11, xmm12
movups xmm12, xmmword ptr [r9 + 4*r10 + 12336]
addps xmm12, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 12320]
addps xmm11, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12304]
addps xmm0, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 12288]
addps xmm13, xmm15
movups xmm15, xmmword ptr [r9 + 4*r10 + 12352]
addps xmm15, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 12368]
addps xmm13, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12384]
addps xmm0, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 12400]
addps xmm11, xmm12
movups xmm12, xmmword ptr [r9 + 4*r10 + 12464]
addps xmm12, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 12448]
addps xmm11, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12432]
addps xmm0, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 12416]
addps xmm13, xmm15
movups xmm15, xmmword ptr [r9 + 4*r10 + 12480]
addps xmm15, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 12496]
addps xmm13, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12512]
addps xmm0, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 12528]
addps xmm11, xmm12
movups xmm12, xmmword ptr [r9 + 4*r10 + 12592]
addps xmm12, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 12576]
addps xmm11, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12560]
addps xmm0, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 12544]
addps xmm13, xmm15
movups xmm15, xmmword ptr [r9 + 4*r10 + 12608]
addps xmm15, xmm13
movups xmm13, xmmword ptr [r9 + 4*r10 + 12624]
addps xmm13, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12640]
addps xmm0, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 12656]
addps xmm11, xmm12
movups xmm14, xmmword ptr [r9 + 4*r10 + 12720]
addps xmm14, xmm11
movups xmm11, xmmword ptr [r9 + 4*r10 + 12704]
addps xmm11, xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12688]
addps xmm0, xmm13
movups xmm12, xmmword ptr [r9 + 4*r10 + 12672]
addps xmm12, xmm15
movups xmm15, xmmword ptr [r9 + 4*r10 + 12736]
addps xmm15, xmm12
movups xmm13, xmmword ptr [r9 + 4*r10 + 12752]
addps xmm13, xmm0
movups xmm12, xmmword ptr [r9 + 4*r10 + 12768]
addps xmm12, xmm11
movups xmm0, xmmword ptr [r9 + 4*r10 + 12784]
addps xmm0, xmm14
movaps xmm11, xmm15
shufps xmm11, xmm15, 85
addss xmm11, xmm15
movaps xmm14, xmm15
unpckhpd xmm14, xmm15
addss xmm14, xmm11
shufps xmm15, xmm15, 255
addss xmm15, xmm14
addss xmm15, xmm13
movaps xmm11, xmm13
shufps xmm11, xmm13, 85
addss xmm11, xmm15
movaps xmm14, xmm13
unpckhpd xmm14, xmm13
addss xmm14, xmm11
shufps xmm13, xmm13, 255
addss xmm13, xmm14
addss xmm13, xmm12
movaps xmm11, xmm12
shufps xmm11, xmm12, 85
addss xmm11, xmm13
movaps xmm13, xmm12
unpckhpd xmm13, xmm12
addss xmm13, xmm11
shufps xmm12, xmm12, 255
addss xmm12, xmm13
addss xmm12, xmm0
movaps xmm11, xmm0
shufps xmm11, xmm0, 85
addss xmm11, xmm12
movaps xmm12, xmm0
unpckhpd xmm12, xmm0
addss xmm12, xmm11
shufps xmm0, xmm0, 255
addss xmm0, xmm12
movss xmm13, dword ptr [rip + .LCPI_11]
divss xmm13, xmm0
shufps xmm13, xmm13, 0
movaps xmm0, xmmword ptr [rsp]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 16]
movups xmm11, xmmword ptr [r9 + 4*r10 + 32]
movups xmm12, xmmword ptr [r9 + 4*r10 + 48]
movups xmm14, xmmword ptr [r9 + 4*r10 + 64]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 16], xmm0
mulps xmm11, xmm13
movups xmmword ptr [r9 + 4*r10 + 32], xmm11
mulps xmm12, xmm13
movups xmmword ptr [r9 + 4*r10 + 48], xmm12
mulps xmm14, xmm13
movups xmmword ptr [r9 + 4*r10 + 64], xmm14
movups xmm0, xmmword ptr [r9 + 4*r10 + 80]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 80], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 96]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 96], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 112]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 112], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 128]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 128], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 144]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 144], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 160]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 160], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 176]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 176], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 192]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 192], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 208]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 208], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 224]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 224], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 240]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 240], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 256]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 256], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 272]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 272], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 288]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 288], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 304]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 304], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 320]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 320], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 336]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 336], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 352]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 352], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 368]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 368], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 384]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 384], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 400]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 400], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 416]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 416], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 432]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 432], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 448]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 448], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 464]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 464], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 480]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 480], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 496]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 496], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4096]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4096], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4112]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4112], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4128]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4128], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4144]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4144], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4160]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4160], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4176]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4176], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4192]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4192], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4208]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4208], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4224]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4224], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4240]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4240], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4256]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4256], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4272]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4272], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4288]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4288], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4304]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4304], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4320]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4320], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4336]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4336], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4352]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4352], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4368]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4368], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4384]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4384], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4400]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4400], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4416]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4416], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4432]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4432], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4448]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4448], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4464]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4464], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4480]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4480], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4496]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4496], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4512]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4512], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4528]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4528], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4544]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4544], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4560]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4560], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4576]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4576], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 4592]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 4592], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8192]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8192], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8208]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8208], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8224]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8224], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8240]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8240], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8256]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8256], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8272]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8272], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8288]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8288], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8304]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8304], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8320]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8320], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8336]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8336], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8352]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8352], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8368]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8368], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8384]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8384], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8400]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8400], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8416]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8416], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8432]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8432], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8448]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8448], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8464]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8464], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8480]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8480], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8496]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8496], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8512]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8512], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8528]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8528], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8544]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8544], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8560]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8560], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8576]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8576], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8592]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8592], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8608]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8608], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8624]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8624], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8640]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8640], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8656]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8656], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8672]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8672], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 8688]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 8688], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12288]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12288], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12304]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12304], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12320]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12320], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12336]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12336], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12352]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12352], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12368]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12368], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12384]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12384], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12400]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12400], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12416]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12416], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12432]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12432], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12448]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12448], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12464]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12464], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12480]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12480], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12496]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12496], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12512]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12512], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12528]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12528], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12544]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12544], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12560]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12560], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12576]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12576], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12592]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12592], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12608]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12608], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12624]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12624], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12640]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12640], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12656]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12656], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12672]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12672], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12688]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12688], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12704]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12704], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12720]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12720], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12736]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12736], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12752]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12752], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12768]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12768], xmm0
movups xmm0, xmmword ptr [r9 + 4*r10 + 12784]
mulps xmm0, xmm13
movups xmmword ptr [r9 + 4*r10 + 12784], xmm0
add rsi, 512
sub rdx, -128
cmp r8, 63
lea r8, [r8 + 1]
jb .LBB_1
add rsp, 16
pop rbx
pop r12
pop r13
pop r14
pop r15
ret
lea rdi, [rip + .Lanon.3]
lea rdx, [rip + .Lanon.1]
mov esi, 75
call qword ptr [rip + _RNvNtCsgEmfK2I1SDS_4core9panicking9panic_fmt@GOTPCREL]
lea rdi, [rip + .Lanon.3]
lea rdx, [rip + .Lanon.2]
mov esi, 75
call qword ptr [rip + _RNvNtCsgEmfK2I1SDS_4core9panicking9panic_fmt@GOTPCREL]
