mov eax, 19033
ret
