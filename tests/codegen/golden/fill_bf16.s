movd xmm0, edx
pshuflw xmm0, xmm0, 0
pshufd xmm0, xmm0, 68
xor eax, eax
movdqu xmmword ptr [rdi + 2*rax], xmm0
movdqu xmmword ptr [rdi + 2*rax + 16], xmm0
movdqu xmmword ptr [rdi + 2*rax + 32], xmm0
movdqu xmmword ptr [rdi + 2*rax + 48], xmm0
movdqu xmmword ptr [rdi + 2*rax + 64], xmm0
movdqu xmmword ptr [rdi + 2*rax + 80], xmm0
movdqu xmmword ptr [rdi + 2*rax + 96], xmm0
movdqu xmmword ptr [rdi + 2*rax + 112], xmm0
add rax, 64
cmp rax, 32768
jne .LBB_1
ret
