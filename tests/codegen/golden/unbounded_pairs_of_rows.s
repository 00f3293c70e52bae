mov eax, esi
and eax, 1
lea rax, [rax + 2*rdx]
and rsi, -2
shl rsi, 7
add rax, rsi
ret
