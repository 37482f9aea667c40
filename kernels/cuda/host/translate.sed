# translate.sed: what is CUDA and not C++, line by line, so that line numbers stay.
#   alignas(N) __shared__, and __align__(N): the alignment goes behind __shared__
#   extern __shared__ T name[];          the launch's dynamic shared memory
#   __shared__ T name[sizes];            one array a block; alignas(N) becomes that of a type, so that N may be a type
#   kernel<parameters><<<...>>>(         a launch
s/((__align__|alignas)\([^()]*(\([^()]*\)[^()]*)?\)) (extern )?__shared__ /\4__shared__ \1 /
s/extern __shared__ ((__align__|alignas)\([^()]*(\([^()]*\)[^()]*)?\)) ([A-Za-z_][A-Za-z0-9_: ]*[A-Za-z0-9_]) ([A-Za-z_][A-Za-z0-9_]*)\[\];/struct \1 \5_align {}; \4 *const \5 = cuda_host_extern<\4, \5_align>();/
s/extern __shared__ ([A-Za-z_][A-Za-z0-9_: ]*[A-Za-z0-9_]) ([A-Za-z_][A-Za-z0-9_]*)\[\];/\1 *const \2 = cuda_host_extern<\1, \1>();/
s/__shared__ ((__align__|alignas)\([^()]*(\([^()]*\)[^()]*)?\)) ([A-Za-z_][A-Za-z0-9_: ]*[A-Za-z0-9_]) ([A-Za-z_][A-Za-z0-9_]*)((\[[^]]*\])*);/struct \1 \5_align {}; auto \&\5 = cuda_host_array<\4\6, \5_align>(CUDA_HOST_HERE);/
s/__shared__ ([A-Za-z_][A-Za-z0-9_: ]*[A-Za-z0-9_]) ([A-Za-z_][A-Za-z0-9_]*)((\[[^]]*\])*);/auto \&\2 = cuda_host_array<\1\3, \1>(CUDA_HOST_HERE);/
s/([A-Za-z_][A-Za-z0-9_]*(<[^<>]*>)?)<<<(.*)>>>\(/cuda_host_start(\1, \3)(/
