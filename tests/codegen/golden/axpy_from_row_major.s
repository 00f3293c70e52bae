shufps xmm0, xmm0, 0
add rdi, 2032
mov rax, -1
xor ecx, ecx
xor esi, esi
mov r8d, ecx
and r8d, 896
mov r9d, esi
and r9d, 28672
lea r9, [rdx + 4*r9]
movups xmm1, xmmword ptr [rdi + 4*rsi - 2032]
movups xmm2, xmmword ptr [rdi + 4*rsi - 2016]
mulps xmm1, xmm0
mulps xmm2, xmm0
movups xmm3, xmmword ptr [r9 + 4*r8]
addps xmm3, xmm1
movups xmm1, xmmword ptr [r9 + 4*r8 + 16]
addps xmm1, xmm2
movups xmm2, xmmword ptr [r9 + 4*r8 + 32]
movups xmm4, xmmword ptr [r9 + 4*r8 + 48]
movups xmm5, xmmword ptr [rdi + 4*rsi - 2000]
movups xmmword ptr [r9 + 4*r8], xmm3
mulps xmm5, xmm0
addps xmm5, xmm2
movups xmm2, xmmword ptr [rdi + 4*rsi - 1984]
movups xmmword ptr [r9 + 4*r8 + 16], xmm1
mulps xmm2, xmm0
addps xmm2, xmm4
movups xmmword ptr [r9 + 4*r8 + 32], xmm5
movups xmmword ptr [r9 + 4*r8 + 48], xmm2
movups xmm1, xmmword ptr [r9 + 4*r8 + 64]
movups xmm2, xmmword ptr [rdi + 4*rsi - 1968]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1952]
movups xmm4, xmmword ptr [r9 + 4*r8 + 80]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 64], xmm2
movups xmmword ptr [r9 + 4*r8 + 80], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 96]
movups xmm2, xmmword ptr [r9 + 4*r8 + 112]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1936]
movups xmm4, xmmword ptr [rdi + 4*rsi - 1920]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 96], xmm3
movups xmmword ptr [r9 + 4*r8 + 112], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 128]
movups xmm2, xmmword ptr [rdi + 4*rsi - 1904]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1888]
movups xmm4, xmmword ptr [r9 + 4*r8 + 144]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 128], xmm2
movups xmmword ptr [r9 + 4*r8 + 144], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 160]
movups xmm2, xmmword ptr [r9 + 4*r8 + 176]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1872]
movups xmm4, xmmword ptr [rdi + 4*rsi - 1856]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 160], xmm3
movups xmmword ptr [r9 + 4*r8 + 176], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 192]
movups xmm2, xmmword ptr [rdi + 4*rsi - 1840]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1824]
movups xmm4, xmmword ptr [r9 + 4*r8 + 208]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 192], xmm2
movups xmmword ptr [r9 + 4*r8 + 208], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 224]
movups xmm2, xmmword ptr [r9 + 4*r8 + 240]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1808]
movups xmm4, xmmword ptr [rdi + 4*rsi - 1792]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 224], xmm3
movups xmmword ptr [r9 + 4*r8 + 240], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 256]
movups xmm2, xmmword ptr [rdi + 4*rsi - 1776]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1760]
movups xmm4, xmmword ptr [r9 + 4*r8 + 272]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 256], xmm2
movups xmmword ptr [r9 + 4*r8 + 272], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 288]
movups xmm2, xmmword ptr [r9 + 4*r8 + 304]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1744]
movups xmm4, xmmword ptr [rdi + 4*rsi - 1728]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 288], xmm3
movups xmmword ptr [r9 + 4*r8 + 304], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 320]
movups xmm2, xmmword ptr [rdi + 4*rsi - 1712]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1696]
movups xmm4, xmmword ptr [r9 + 4*r8 + 336]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 320], xmm2
movups xmmword ptr [r9 + 4*r8 + 336], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 352]
movups xmm2, xmmword ptr [r9 + 4*r8 + 368]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1680]
movups xmm4, xmmword ptr [rdi + 4*rsi - 1664]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 352], xmm3
movups xmmword ptr [r9 + 4*r8 + 368], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 384]
movups xmm2, xmmword ptr [rdi + 4*rsi - 1648]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1632]
movups xmm4, xmmword ptr [r9 + 4*r8 + 400]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 384], xmm2
movups xmmword ptr [r9 + 4*r8 + 400], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 416]
movups xmm2, xmmword ptr [r9 + 4*r8 + 432]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1616]
movups xmm4, xmmword ptr [rdi + 4*rsi - 1600]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 416], xmm3
movups xmmword ptr [r9 + 4*r8 + 432], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 448]
movups xmm2, xmmword ptr [rdi + 4*rsi - 1584]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1568]
movups xmm4, xmmword ptr [r9 + 4*r8 + 464]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 448], xmm2
movups xmmword ptr [r9 + 4*r8 + 464], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 480]
movups xmm2, xmmword ptr [r9 + 4*r8 + 496]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1552]
movups xmm4, xmmword ptr [rdi + 4*rsi - 1536]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 480], xmm3
movups xmmword ptr [r9 + 4*r8 + 496], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4096]
movups xmm2, xmmword ptr [rdi + 4*rsi - 1520]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1504]
movups xmm4, xmmword ptr [r9 + 4*r8 + 4112]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 4096], xmm2
movups xmmword ptr [r9 + 4*r8 + 4112], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 4128]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4144]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1488]
movups xmm4, xmmword ptr [rdi + 4*rsi - 1472]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4128], xmm3
movups xmmword ptr [r9 + 4*r8 + 4144], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4160]
movups xmm2, xmmword ptr [rdi + 4*rsi - 1456]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1440]
movups xmm4, xmmword ptr [r9 + 4*r8 + 4176]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 4160], xmm2
movups xmmword ptr [r9 + 4*r8 + 4176], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 4192]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4208]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1424]
movups xmm4, xmmword ptr [rdi + 4*rsi - 1408]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4192], xmm3
movups xmmword ptr [r9 + 4*r8 + 4208], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4224]
movups xmm2, xmmword ptr [rdi + 4*rsi - 1392]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1376]
movups xmm4, xmmword ptr [r9 + 4*r8 + 4240]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 4224], xmm2
movups xmmword ptr [r9 + 4*r8 + 4240], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 4256]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4272]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1360]
movups xmm4, xmmword ptr [rdi + 4*rsi - 1344]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4256], xmm3
movups xmmword ptr [r9 + 4*r8 + 4272], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4288]
movups xmm2, xmmword ptr [rdi + 4*rsi - 1328]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1312]
movups xmm4, xmmword ptr [r9 + 4*r8 + 4304]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 4288], xmm2
movups xmmword ptr [r9 + 4*r8 + 4304], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 4320]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4336]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1296]
movups xmm4, xmmword ptr [rdi + 4*rsi - 1280]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4320], xmm3
movups xmmword ptr [r9 + 4*r8 + 4336], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4352]
movups xmm2, xmmword ptr [rdi + 4*rsi - 1264]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1248]
movups xmm4, xmmword ptr [r9 + 4*r8 + 4368]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 4352], xmm2
movups xmmword ptr [r9 + 4*r8 + 4368], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 4384]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4400]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1232]
movups xmm4, xmmword ptr [rdi + 4*rsi - 1216]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4384], xmm3
movups xmmword ptr [r9 + 4*r8 + 4400], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4416]
movups xmm2, xmmword ptr [rdi + 4*rsi - 1200]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1184]
movups xmm4, xmmword ptr [r9 + 4*r8 + 4432]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 4416], xmm2
movups xmmword ptr [r9 + 4*r8 + 4432], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 4448]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4464]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1168]
movups xmm4, xmmword ptr [rdi + 4*rsi - 1152]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4448], xmm3
movups xmmword ptr [r9 + 4*r8 + 4464], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4480]
movups xmm2, xmmword ptr [rdi + 4*rsi - 1136]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1120]
movups xmm4, xmmword ptr [r9 + 4*r8 + 4496]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 4480], xmm2
movups xmmword ptr [r9 + 4*r8 + 4496], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 4512]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4528]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1104]
movups xmm4, xmmword ptr [rdi + 4*rsi - 1088]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4512], xmm3
movups xmmword ptr [r9 + 4*r8 + 4528], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4544]
movups xmm2, xmmword ptr [rdi + 4*rsi - 1072]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1056]
movups xmm4, xmmword ptr [r9 + 4*r8 + 4560]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 4544], xmm2
movups xmmword ptr [r9 + 4*r8 + 4560], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 4576]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4592]
movups xmm3, xmmword ptr [rdi + 4*rsi - 1040]
movups xmm4, xmmword ptr [rdi + 4*rsi - 1024]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4576], xmm3
movups xmmword ptr [r9 + 4*r8 + 4592], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8192]
movups xmm2, xmmword ptr [rdi + 4*rsi - 1008]
movups xmm3, xmmword ptr [rdi + 4*rsi - 992]
movups xmm4, xmmword ptr [r9 + 4*r8 + 8208]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 8192], xmm2
movups xmmword ptr [r9 + 4*r8 + 8208], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 8224]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8240]
movups xmm3, xmmword ptr [rdi + 4*rsi - 976]
movups xmm4, xmmword ptr [rdi + 4*rsi - 960]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8224], xmm3
movups xmmword ptr [r9 + 4*r8 + 8240], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8256]
movups xmm2, xmmword ptr [rdi + 4*rsi - 944]
movups xmm3, xmmword ptr [rdi + 4*rsi - 928]
movups xmm4, xmmword ptr [r9 + 4*r8 + 8272]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 8256], xmm2
movups xmmword ptr [r9 + 4*r8 + 8272], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 8288]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8304]
movups xmm3, xmmword ptr [rdi + 4*rsi - 912]
movups xmm4, xmmword ptr [rdi + 4*rsi - 896]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8288], xmm3
movups xmmword ptr [r9 + 4*r8 + 8304], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8320]
movups xmm2, xmmword ptr [rdi + 4*rsi - 880]
movups xmm3, xmmword ptr [rdi + 4*rsi - 864]
movups xmm4, xmmword ptr [r9 + 4*r8 + 8336]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 8320], xmm2
movups xmmword ptr [r9 + 4*r8 + 8336], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 8352]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8368]
movups xmm3, xmmword ptr [rdi + 4*rsi - 848]
movups xmm4, xmmword ptr [rdi + 4*rsi - 832]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8352], xmm3
movups xmmword ptr [r9 + 4*r8 + 8368], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8384]
movups xmm2, xmmword ptr [rdi + 4*rsi - 816]
movups xmm3, xmmword ptr [rdi + 4*rsi - 800]
movups xmm4, xmmword ptr [r9 + 4*r8 + 8400]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 8384], xmm2
movups xmmword ptr [r9 + 4*r8 + 8400], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 8416]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8432]
movups xmm3, xmmword ptr [rdi + 4*rsi - 784]
movups xmm4, xmmword ptr [rdi + 4*rsi - 768]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8416], xmm3
movups xmmword ptr [r9 + 4*r8 + 8432], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8448]
movups xmm2, xmmword ptr [rdi + 4*rsi - 752]
movups xmm3, xmmword ptr [rdi + 4*rsi - 736]
movups xmm4, xmmword ptr [r9 + 4*r8 + 8464]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 8448], xmm2
movups xmmword ptr [r9 + 4*r8 + 8464], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 8480]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8496]
movups xmm3, xmmword ptr [rdi + 4*rsi - 720]
movups xmm4, xmmword ptr [rdi + 4*rsi - 704]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8480], xmm3
movups xmmword ptr [r9 + 4*r8 + 8496], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8512]
movups xmm2, xmmword ptr [rdi + 4*rsi - 688]
movups xmm3, xmmword ptr [rdi + 4*rsi - 672]
movups xmm4, xmmword ptr [r9 + 4*r8 + 8528]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 8512], xmm2
movups xmmword ptr [r9 + 4*r8 + 8528], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 8544]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8560]
movups xmm3, xmmword ptr [rdi + 4*rsi - 656]
movups xmm4, xmmword ptr [rdi + 4*rsi - 640]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8544], xmm3
movups xmmword ptr [r9 + 4*r8 + 8560], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8576]
movups xmm2, xmmword ptr [rdi + 4*rsi - 624]
movups xmm3, xmmword ptr [rdi + 4*rsi - 608]
movups xmm4, xmmword ptr [r9 + 4*r8 + 8592]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 8576], xmm2
movups xmmword ptr [r9 + 4*r8 + 8592], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 8608]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8624]
movups xmm3, xmmword ptr [rdi + 4*rsi - 592]
movups xmm4, xmmword ptr [rdi + 4*rsi - 576]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8608], xmm3
movups xmmword ptr [r9 + 4*r8 + 8624], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8640]
movups xmm2, xmmword ptr [rdi + 4*rsi - 560]
movups xmm3, xmmword ptr [rdi + 4*rsi - 544]
movups xmm4, xmmword ptr [r9 + 4*r8 + 8656]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 8640], xmm2
movups xmmword ptr [r9 + 4*r8 + 8656], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 8672]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8688]
movups xmm3, xmmword ptr [rdi + 4*rsi - 528]
movups xmm4, xmmword ptr [rdi + 4*rsi - 512]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8672], xmm3
movups xmmword ptr [r9 + 4*r8 + 8688], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12288]
movups xmm2, xmmword ptr [rdi + 4*rsi - 496]
movups xmm3, xmmword ptr [rdi + 4*rsi - 480]
movups xmm4, xmmword ptr [r9 + 4*r8 + 12304]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 12288], xmm2
movups xmmword ptr [r9 + 4*r8 + 12304], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 12320]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12336]
movups xmm3, xmmword ptr [rdi + 4*rsi - 464]
movups xmm4, xmmword ptr [rdi + 4*rsi - 448]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12320], xmm3
movups xmmword ptr [r9 + 4*r8 + 12336], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12352]
movups xmm2, xmmword ptr [rdi + 4*rsi - 432]
movups xmm3, xmmword ptr [rdi + 4*rsi - 416]
movups xmm4, xmmword ptr [r9 + 4*r8 + 12368]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 12352], xmm2
movups xmmword ptr [r9 + 4*r8 + 12368], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 12384]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12400]
movups xmm3, xmmword ptr [rdi + 4*rsi - 400]
movups xmm4, xmmword ptr [rdi + 4*rsi - 384]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12384], xmm3
movups xmmword ptr [r9 + 4*r8 + 12400], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12416]
movups xmm2, xmmword ptr [rdi + 4*rsi - 368]
movups xmm3, xmmword ptr [rdi + 4*rsi - 352]
movups xmm4, xmmword ptr [r9 + 4*r8 + 12432]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 12416], xmm2
movups xmmword ptr [r9 + 4*r8 + 12432], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 12448]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12464]
movups xmm3, xmmword ptr [rdi + 4*rsi - 336]
movups xmm4, xmmword ptr [rdi + 4*rsi - 320]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12448], xmm3
movups xmmword ptr [r9 + 4*r8 + 12464], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12480]
movups xmm2, xmmword ptr [rdi + 4*rsi - 304]
movups xmm3, xmmword ptr [rdi + 4*rsi - 288]
movups xmm4, xmmword ptr [r9 + 4*r8 + 12496]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 12480], xmm2
movups xmmword ptr [r9 + 4*r8 + 12496], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 12512]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12528]
movups xmm3, xmmword ptr [rdi + 4*rsi - 272]
movups xmm4, xmmword ptr [rdi + 4*rsi - 256]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12512], xmm3
movups xmmword ptr [r9 + 4*r8 + 12528], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12544]
movups xmm2, xmmword ptr [rdi + 4*rsi - 240]
movups xmm3, xmmword ptr [rdi + 4*rsi - 224]
movups xmm4, xmmword ptr [r9 + 4*r8 + 12560]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 12544], xmm2
movups xmmword ptr [r9 + 4*r8 + 12560], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 12576]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12592]
movups xmm3, xmmword ptr [rdi + 4*rsi - 208]
movups xmm4, xmmword ptr [rdi + 4*rsi - 192]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12576], xmm3
movups xmmword ptr [r9 + 4*r8 + 12592], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12608]
movups xmm2, xmmword ptr [rdi + 4*rsi - 176]
movups xmm3, xmmword ptr [rdi + 4*rsi - 160]
movups xmm4, xmmword ptr [r9 + 4*r8 + 12624]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 12608], xmm2
movups xmmword ptr [r9 + 4*r8 + 12624], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 12640]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12656]
movups xmm3, xmmword ptr [rdi + 4*rsi - 144]
movups xmm4, xmmword ptr [rdi + 4*rsi - 128]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12640], xmm3
movups xmmword ptr [r9 + 4*r8 + 12656], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12672]
movups xmm2, xmmword ptr [rdi + 4*rsi - 112]
movups xmm3, xmmword ptr [rdi + 4*rsi - 96]
movups xmm4, xmmword ptr [r9 + 4*r8 + 12688]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 12672], xmm2
movups xmmword ptr [r9 + 4*r8 + 12688], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 12704]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12720]
movups xmm3, xmmword ptr [rdi + 4*rsi - 80]
movups xmm4, xmmword ptr [rdi + 4*rsi - 64]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12704], xmm3
movups xmmword ptr [r9 + 4*r8 + 12720], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12736]
movups xmm2, xmmword ptr [rdi + 4*rsi - 48]
movups xmm3, xmmword ptr [rdi + 4*rsi - 32]
movups xmm4, xmmword ptr [r9 + 4*r8 + 12752]
mulps xmm2, xmm0
addps xmm2, xmm1
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 12736], xmm2
movups xmmword ptr [r9 + 4*r8 + 12752], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 12768]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12784]
movups xmm3, xmmword ptr [rdi + 4*rsi - 16]
movups xmm4, xmmword ptr [rdi + 4*rsi]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12768], xmm3
movups xmmword ptr [r9 + 4*r8 + 12784], xmm4
inc rax
add rsi, 512
sub rcx, -128
cmp rax, 63
jb .LBB_1
ret
