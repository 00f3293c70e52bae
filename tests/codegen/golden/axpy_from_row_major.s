shufps xmm0, xmm0, 0
add rdi, 2032
xor eax, eax
xor ecx, ecx
xor esi, esi
mov r8d, eax
and r8d, 896
mov r9d, ecx
and r9d, 28672
lea r9, [rdx + 4*r9]
movups xmm1, xmmword ptr [rdi + 4*rcx - 2032]
movups xmm2, xmmword ptr [rdi + 4*rcx - 2016]
mulps xmm1, xmm0
mulps xmm2, xmm0
movups xmm3, xmmword ptr [r9 + 4*r8]
addps xmm3, xmm1
movups xmm1, xmmword ptr [r9 + 4*r8 + 16]
addps xmm1, xmm2
movups xmm2, xmmword ptr [r9 + 4*r8 + 32]
movups xmm4, xmmword ptr [r9 + 4*r8 + 48]
movups xmmword ptr [r9 + 4*r8], xmm3
movups xmmword ptr [r9 + 4*r8 + 16], xmm1
movups xmm1, xmmword ptr [rdi + 4*rcx - 2000]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1984]
mulps xmm1, xmm0
addps xmm1, xmm2
mulps xmm3, xmm0
addps xmm3, xmm4
movups xmmword ptr [r9 + 4*r8 + 32], xmm1
movups xmmword ptr [r9 + 4*r8 + 48], xmm3
movups xmm1, xmmword ptr [r9 + 4*r8 + 64]
movups xmm2, xmmword ptr [r9 + 4*r8 + 80]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1968]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1952]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 64], xmm3
movups xmmword ptr [r9 + 4*r8 + 80], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 96]
movups xmm2, xmmword ptr [r9 + 4*r8 + 112]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1936]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1920]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 96], xmm3
movups xmmword ptr [r9 + 4*r8 + 112], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 128]
movups xmm2, xmmword ptr [r9 + 4*r8 + 144]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1904]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1888]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 128], xmm3
movups xmmword ptr [r9 + 4*r8 + 144], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 160]
movups xmm2, xmmword ptr [r9 + 4*r8 + 176]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1872]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1856]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 160], xmm3
movups xmmword ptr [r9 + 4*r8 + 176], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 192]
movups xmm2, xmmword ptr [r9 + 4*r8 + 208]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1840]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1824]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 192], xmm3
movups xmmword ptr [r9 + 4*r8 + 208], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 224]
movups xmm2, xmmword ptr [r9 + 4*r8 + 240]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1808]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1792]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 224], xmm3
movups xmmword ptr [r9 + 4*r8 + 240], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 256]
movups xmm2, xmmword ptr [r9 + 4*r8 + 272]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1776]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1760]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 256], xmm3
movups xmmword ptr [r9 + 4*r8 + 272], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 288]
movups xmm2, xmmword ptr [r9 + 4*r8 + 304]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1744]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1728]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 288], xmm3
movups xmmword ptr [r9 + 4*r8 + 304], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 320]
movups xmm2, xmmword ptr [r9 + 4*r8 + 336]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1712]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1696]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 320], xmm3
movups xmmword ptr [r9 + 4*r8 + 336], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 352]
movups xmm2, xmmword ptr [r9 + 4*r8 + 368]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1680]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1664]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 352], xmm3
movups xmmword ptr [r9 + 4*r8 + 368], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 384]
movups xmm2, xmmword ptr [r9 + 4*r8 + 400]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1648]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1632]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 384], xmm3
movups xmmword ptr [r9 + 4*r8 + 400], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 416]
movups xmm2, xmmword ptr [r9 + 4*r8 + 432]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1616]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1600]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 416], xmm3
movups xmmword ptr [r9 + 4*r8 + 432], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 448]
movups xmm2, xmmword ptr [r9 + 4*r8 + 464]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1584]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1568]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 448], xmm3
movups xmmword ptr [r9 + 4*r8 + 464], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 480]
movups xmm2, xmmword ptr [r9 + 4*r8 + 496]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1552]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1536]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 480], xmm3
movups xmmword ptr [r9 + 4*r8 + 496], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4096]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4112]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1520]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1504]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4096], xmm3
movups xmmword ptr [r9 + 4*r8 + 4112], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4128]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4144]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1488]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1472]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4128], xmm3
movups xmmword ptr [r9 + 4*r8 + 4144], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4160]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4176]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1456]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1440]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4160], xmm3
movups xmmword ptr [r9 + 4*r8 + 4176], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4192]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4208]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1424]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1408]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4192], xmm3
movups xmmword ptr [r9 + 4*r8 + 4208], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4224]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4240]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1392]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1376]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4224], xmm3
movups xmmword ptr [r9 + 4*r8 + 4240], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4256]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4272]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1360]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1344]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4256], xmm3
movups xmmword ptr [r9 + 4*r8 + 4272], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4288]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4304]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1328]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1312]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4288], xmm3
movups xmmword ptr [r9 + 4*r8 + 4304], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4320]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4336]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1296]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1280]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4320], xmm3
movups xmmword ptr [r9 + 4*r8 + 4336], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4352]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4368]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1264]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1248]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4352], xmm3
movups xmmword ptr [r9 + 4*r8 + 4368], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4384]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4400]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1232]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1216]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4384], xmm3
movups xmmword ptr [r9 + 4*r8 + 4400], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4416]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4432]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1200]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1184]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4416], xmm3
movups xmmword ptr [r9 + 4*r8 + 4432], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4448]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4464]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1168]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1152]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4448], xmm3
movups xmmword ptr [r9 + 4*r8 + 4464], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4480]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4496]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1136]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1120]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4480], xmm3
movups xmmword ptr [r9 + 4*r8 + 4496], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4512]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4528]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1104]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1088]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4512], xmm3
movups xmmword ptr [r9 + 4*r8 + 4528], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4544]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4560]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1072]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1056]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4544], xmm3
movups xmmword ptr [r9 + 4*r8 + 4560], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 4576]
movups xmm2, xmmword ptr [r9 + 4*r8 + 4592]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1040]
movups xmm4, xmmword ptr [rdi + 4*rcx - 1024]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 4576], xmm3
movups xmmword ptr [r9 + 4*r8 + 4592], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8192]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8208]
movups xmm3, xmmword ptr [rdi + 4*rcx - 1008]
movups xmm4, xmmword ptr [rdi + 4*rcx - 992]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8192], xmm3
movups xmmword ptr [r9 + 4*r8 + 8208], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8224]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8240]
movups xmm3, xmmword ptr [rdi + 4*rcx - 976]
movups xmm4, xmmword ptr [rdi + 4*rcx - 960]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8224], xmm3
movups xmmword ptr [r9 + 4*r8 + 8240], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8256]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8272]
movups xmm3, xmmword ptr [rdi + 4*rcx - 944]
movups xmm4, xmmword ptr [rdi + 4*rcx - 928]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8256], xmm3
movups xmmword ptr [r9 + 4*r8 + 8272], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8288]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8304]
movups xmm3, xmmword ptr [rdi + 4*rcx - 912]
movups xmm4, xmmword ptr [rdi + 4*rcx - 896]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8288], xmm3
movups xmmword ptr [r9 + 4*r8 + 8304], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8320]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8336]
movups xmm3, xmmword ptr [rdi + 4*rcx - 880]
movups xmm4, xmmword ptr [rdi + 4*rcx - 864]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8320], xmm3
movups xmmword ptr [r9 + 4*r8 + 8336], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8352]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8368]
movups xmm3, xmmword ptr [rdi + 4*rcx - 848]
movups xmm4, xmmword ptr [rdi + 4*rcx - 832]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8352], xmm3
movups xmmword ptr [r9 + 4*r8 + 8368], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8384]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8400]
movups xmm3, xmmword ptr [rdi + 4*rcx - 816]
movups xmm4, xmmword ptr [rdi + 4*rcx - 800]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8384], xmm3
movups xmmword ptr [r9 + 4*r8 + 8400], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8416]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8432]
movups xmm3, xmmword ptr [rdi + 4*rcx - 784]
movups xmm4, xmmword ptr [rdi + 4*rcx - 768]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8416], xmm3
movups xmmword ptr [r9 + 4*r8 + 8432], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8448]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8464]
movups xmm3, xmmword ptr [rdi + 4*rcx - 752]
movups xmm4, xmmword ptr [rdi + 4*rcx - 736]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8448], xmm3
movups xmmword ptr [r9 + 4*r8 + 8464], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8480]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8496]
movups xmm3, xmmword ptr [rdi + 4*rcx - 720]
movups xmm4, xmmword ptr [rdi + 4*rcx - 704]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8480], xmm3
movups xmmword ptr [r9 + 4*r8 + 8496], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8512]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8528]
movups xmm3, xmmword ptr [rdi + 4*rcx - 688]
movups xmm4, xmmword ptr [rdi + 4*rcx - 672]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8512], xmm3
movups xmmword ptr [r9 + 4*r8 + 8528], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8544]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8560]
movups xmm3, xmmword ptr [rdi + 4*rcx - 656]
movups xmm4, xmmword ptr [rdi + 4*rcx - 640]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8544], xmm3
movups xmmword ptr [r9 + 4*r8 + 8560], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8576]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8592]
movups xmm3, xmmword ptr [rdi + 4*rcx - 624]
movups xmm4, xmmword ptr [rdi + 4*rcx - 608]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8576], xmm3
movups xmmword ptr [r9 + 4*r8 + 8592], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8608]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8624]
movups xmm3, xmmword ptr [rdi + 4*rcx - 592]
movups xmm4, xmmword ptr [rdi + 4*rcx - 576]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8608], xmm3
movups xmmword ptr [r9 + 4*r8 + 8624], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8640]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8656]
movups xmm3, xmmword ptr [rdi + 4*rcx - 560]
movups xmm4, xmmword ptr [rdi + 4*rcx - 544]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8640], xmm3
movups xmmword ptr [r9 + 4*r8 + 8656], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 8672]
movups xmm2, xmmword ptr [r9 + 4*r8 + 8688]
movups xmm3, xmmword ptr [rdi + 4*rcx - 528]
movups xmm4, xmmword ptr [rdi + 4*rcx - 512]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 8672], xmm3
movups xmmword ptr [r9 + 4*r8 + 8688], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12288]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12304]
movups xmm3, xmmword ptr [rdi + 4*rcx - 496]
movups xmm4, xmmword ptr [rdi + 4*rcx - 480]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12288], xmm3
movups xmmword ptr [r9 + 4*r8 + 12304], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12320]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12336]
movups xmm3, xmmword ptr [rdi + 4*rcx - 464]
movups xmm4, xmmword ptr [rdi + 4*rcx - 448]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12320], xmm3
movups xmmword ptr [r9 + 4*r8 + 12336], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12352]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12368]
movups xmm3, xmmword ptr [rdi + 4*rcx - 432]
movups xmm4, xmmword ptr [rdi + 4*rcx - 416]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12352], xmm3
movups xmmword ptr [r9 + 4*r8 + 12368], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12384]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12400]
movups xmm3, xmmword ptr [rdi + 4*rcx - 400]
movups xmm4, xmmword ptr [rdi + 4*rcx - 384]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12384], xmm3
movups xmmword ptr [r9 + 4*r8 + 12400], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12416]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12432]
movups xmm3, xmmword ptr [rdi + 4*rcx - 368]
movups xmm4, xmmword ptr [rdi + 4*rcx - 352]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12416], xmm3
movups xmmword ptr [r9 + 4*r8 + 12432], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12448]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12464]
movups xmm3, xmmword ptr [rdi + 4*rcx - 336]
movups xmm4, xmmword ptr [rdi + 4*rcx - 320]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12448], xmm3
movups xmmword ptr [r9 + 4*r8 + 12464], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12480]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12496]
movups xmm3, xmmword ptr [rdi + 4*rcx - 304]
movups xmm4, xmmword ptr [rdi + 4*rcx - 288]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12480], xmm3
movups xmmword ptr [r9 + 4*r8 + 12496], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12512]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12528]
movups xmm3, xmmword ptr [rdi + 4*rcx - 272]
movups xmm4, xmmword ptr [rdi + 4*rcx - 256]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12512], xmm3
movups xmmword ptr [r9 + 4*r8 + 12528], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12544]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12560]
movups xmm3, xmmword ptr [rdi + 4*rcx - 240]
movups xmm4, xmmword ptr [rdi + 4*rcx - 224]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12544], xmm3
movups xmmword ptr [r9 + 4*r8 + 12560], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12576]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12592]
movups xmm3, xmmword ptr [rdi + 4*rcx - 208]
movups xmm4, xmmword ptr [rdi + 4*rcx - 192]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12576], xmm3
movups xmmword ptr [r9 + 4*r8 + 12592], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12608]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12624]
movups xmm3, xmmword ptr [rdi + 4*rcx - 176]
movups xmm4, xmmword ptr [rdi + 4*rcx - 160]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12608], xmm3
movups xmmword ptr [r9 + 4*r8 + 12624], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12640]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12656]
movups xmm3, xmmword ptr [rdi + 4*rcx - 144]
movups xmm4, xmmword ptr [rdi + 4*rcx - 128]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12640], xmm3
movups xmmword ptr [r9 + 4*r8 + 12656], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12672]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12688]
movups xmm3, xmmword ptr [rdi + 4*rcx - 112]
movups xmm4, xmmword ptr [rdi + 4*rcx - 96]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12672], xmm3
movups xmmword ptr [r9 + 4*r8 + 12688], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12704]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12720]
movups xmm3, xmmword ptr [rdi + 4*rcx - 80]
movups xmm4, xmmword ptr [rdi + 4*rcx - 64]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12704], xmm3
movups xmmword ptr [r9 + 4*r8 + 12720], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12736]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12752]
movups xmm3, xmmword ptr [rdi + 4*rcx - 48]
movups xmm4, xmmword ptr [rdi + 4*rcx - 32]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12736], xmm3
movups xmmword ptr [r9 + 4*r8 + 12752], xmm4
movups xmm1, xmmword ptr [r9 + 4*r8 + 12768]
movups xmm2, xmmword ptr [r9 + 4*r8 + 12784]
movups xmm3, xmmword ptr [rdi + 4*rcx - 16]
movups xmm4, xmmword ptr [rdi + 4*rcx]
mulps xmm3, xmm0
addps xmm3, xmm1
mulps xmm4, xmm0
addps xmm4, xmm2
movups xmmword ptr [r9 + 4*r8 + 12768], xmm3
movups xmmword ptr [r9 + 4*r8 + 12784], xmm4
cmp rsi, 63
jae .LBB_3
inc rsi
add rcx, 512
sub rax, -128
jmp .LBB_2
ret
