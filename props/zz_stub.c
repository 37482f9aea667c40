#include "props/generate.h"
#include "props/labels.h"
#include "props/rng.h"
#include <stdio.h>
static const char *const v[]={"softmax","softmax mask=causal","taylor:2","taylor:3 mask=causal","linear mask=causal","linear-elu","deltanet mask=causal","gdn mask=causal","retnet","gla","softmax lens=draw","softmax in=bf16 p=bf16","softmax in=bf16 p=bf16 mask=causal","softmax1","softmax in=f64","softmax in=f64 mask=causal","shifted:3","softmax rope=10000","fox","sla","term:2","based mask=causal state=draw","filtered:0.5","l2norm"};
attest_status attest_generate(attest_generated *made, uint64_t seed, uint32_t number, const attest_prop_kernel *kernel, const attest_prop_host *host, attest_error *err)
{
  (void)kernel;
  static const int ns[]={1,2,3,5,8,13,33};
  static const char*fam[]={"normal","uniform","dyadic","peaked","huge","subnormal","flat","range:3","cancel"};
  made->found=0;
  for (made->tries=0; made->tries<100 && !made->found; made->tries++) {
    uint32_t w[4]; attest_stream st={seed,number,0x2000}; attest_draw_words(w,&st,0,(uint64_t)made->tries);
    char line[256]; int n=ns[w[1]%7];
    snprintf(line,sizeof line,"variant=%s n=%d m=%d d=%u e=%u b=%u hq=%u hkv=%u family=%s seed=%u",v[w[0]%24],n,(w[1]>>8)%3?n:ns[(w[1]>>16)%7],(w[2]%4+1)*2,w[2]/8%5+1,w[2]/64%2+1,(w[2]/128%2+1)*2,w[2]/128%2+1,fam[w[3]%9],(unsigned)seed);
    if (attest_case_parse(&made->c,line,NULL,NULL,err)!=ATTEST_OK) continue;
    made->found=host->supports(host->context,&made->c.problem);
  }
  return ATTEST_OK;
}
const attest_label attest_labels[]={{"all","",0,NULL}};
const size_t attest_label_count=0;
int64_t attest_label_floor(const attest_label*l,int64_t c){(void)l;(void)c;return 0;}
