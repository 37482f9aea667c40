# translate.sed: what is CUDA and not C++, line by line, so that line numbers stay.
#   extern __shared__ T name[];          the launch's dynamic shared memory
#   __shared__ T name[sizes];            one array a block
#   kernel<parameters><<<...>>>(         a launch
s/extern __shared__ (__align__\([0-9]+\) )?([A-Za-z_][A-Za-z0-9_: ]*[A-Za-z0-9_]) ([A-Za-z_][A-Za-z0-9_]*)\[\];/\2 *const \3 = static_cast<\2 *>(cuda_host_dynamic());/
s/__shared__ (__align__\([0-9]+\) )?([A-Za-z_][A-Za-z0-9_: ]*[A-Za-z0-9_]) ([A-Za-z_][A-Za-z0-9_]*)((\[[^]]*\])*);/auto \&\3 = cuda_host_array<\2\4>(CUDA_HOST_HERE);/
s/([A-Za-z_][A-Za-z0-9_]*(<[^<>]*>)?)<<<(.*)>>>\(/cuda_host_start(\1, \3)(/
