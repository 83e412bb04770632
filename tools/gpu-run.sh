#!/usr/bin/env bash
# Measures a GPU with the program, bash, sed and awk alone, and keeps everything in one folder.
#
#   tools/gpu-run.sh [--program FILE] [--device NAME] [--out FOLDER] [--quick] [PART ...]
#
# Parts, all of them but `sustained` without a name, in this order:
#   about      the machine: doctor, driver, devices
#   streams    read, copy, triad
#   peaks      arithmetic per compute class
#   products   products with packed weights of 1, 4 and 16 tokens in every format
#   matrices   products of matrices in every element type of the device, which a GPU has with cuBLASLt
#   layer      attention, norm, rotary positions, gate, embedding
#   sustained  the largest of these again after 10 s of its own load; only where it is named, because it takes a minute and a half
#   table      what was measured against the targets, from the parts that are there
# --quick takes small sizes and few samples: a dry run, also on a processor (--device cpu:0). Exit code 1 if a result is wrong.
set -euo pipefail

program=ridgepoint device=cuda:0 out= quick= parts=()
usage() { sed -n '2,16s/^# \{0,1\}//p' "$0"; }
while [ $# -gt 0 ]; do
    case $1 in
    --program) program=$2 && shift 2 ;;
    --device) device=$2 && shift 2 ;;
    --out) out=$2 && shift 2 ;;
    --quick) quick=1 && shift ;;
    -h | --help) usage && exit 0 ;;
    -*) echo "gpu-run: $1 is no flag" >&2 && usage >&2 && exit 2 ;;
    *) parts+=("$1") && shift ;;
    esac
done
[ ${#parts[@]} -gt 0 ] || parts=(about streams peaks products matrices layer table)
out=${out:-gpu-run-$(date +%Y%m%d-%H%M%S)}
mkdir -p "$out"

# Sizes: of a product its outputs and inputs, and more flags of every measurement.
if [ -n "$quick" ]; then
    large=1024 side=512 tokens=64 context=256 load=1 flags=(--iterations 3 --warm-up 0.1)
else
    large=16384 side=8192 tokens=512,8192 context=4096 load=10 flags=(--time-limit 2 --warm-up 1)
fi
formats=fp16,bf16,fp8_e4m3,int8,int4_g32,int4_g128,nf4,mxfp4,nvfp4,gguf_q8_0,gguf_q6_k,gguf_q4_k,gguf_q4_0

# measure FILE VERB FLAGS...: one record per line; what is there is not measured again.
measure() {
    local file=$out/$1.jsonl
    shift
    [ -s "$file" ] && return 0
    echo "$*" >&2
    "$program" bench "$@" --device "$device" "${flags[@]}" -o jsonl >"$file.part" && mv "$file.part" "$file"
}

about() {
    {
        date -u +%Y-%m-%dT%H:%M:%SZ
        uname -a
        "$program" --version
        # Exit code 4 says that the daemon lacks something, which no measurement here needs.
        "$program" doctor || true
        if command -v nvidia-smi >/dev/null; then nvidia-smi -q; fi
    } >"$out/about.txt" 2>&1
}
streams() { measure streams bandwidth; }
peaks() { measure peaks flops; }
products() {
    measure products-large gemv -n $large -k $large --weights $formats
    measure products-side gemv -n $side -k $side --weights $formats
    for few in 4 16; do
        measure_sweep "products-$few" "$few"
    done
}
# Products of several tokens go to a file by `bench sweep`, which skips what the file has.
measure_sweep() {
    echo "sweep of $2 tokens" >&2
    "$program" bench sweep -m "$2" -n $side -k $side --weights $formats --device "$device" "${flags[@]}" --out "$out/$1.jsonl" >&2
}
# A GPU without the library has none, which the program says; the other parts are measured all the same.
matrices() {
    measure matrices gemm -m $tokens -n $side -k $side || echo "gpu-run: products of matrices are left out" >&2
}
sustained() {
    measure sustained gemm -m ${tokens##*,} -n $side -k $side --sustained $load || echo "gpu-run: products of matrices are left out" >&2
}
layer() {
    measure attention attention --heads 32 --kv-heads 8 --head-dim 128 --context $context --format fp16,fp8_e4m3
    measure norm norm --tokens 256 --width 4096 --format fp16
    measure rope rope --tokens 256 --heads 40 --head-dim 128 --format fp16
    measure gate gate --tokens 256 --width 14336 --format fp16
    measure embedding embedding --tokens 256 --width 4096 --vocab 32000 --format fp16
}

# text KEY, number KEY: a value of the record on stdin.
text() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
number() { sed -n "s/.*\"$1\":\([0-9.eE+-]*\).*/\1/p"; }

# Rates of products over that of reading, and of products of matrices with their algorithms, from the records of one run.
table() {
    local read file record
    read=$(grep -h '"kernel":"read"' "$out/streams.jsonl" 2>/dev/null | number byte_per_s || true)
    {
        echo "file,kernel,weights,time_s,byte_per_s,over_read"
        for file in "$out"/products-*.jsonl; do
            [ -e "$file" ] || continue
            while IFS= read -r record; do
                local rate
                rate=$(number byte_per_s <<<"$record")
                echo "$(basename "$file"),$(text kernel <<<"$record"),$(text weights <<<"$record"),$(number median <<<"$record"),$rate,$(over "$rate" "$read")"
            done <"$file"
        done
    } >"$out/table.csv"
    cat "$out/table.csv"
    [ -e "$out/matrices.jsonl" ] || return 0
    {
        echo "kernel,tokens,time_s,flop_per_s,route"
        while IFS= read -r record; do
            echo "$(text kernel <<<"$record"),$(number m <<<"$record"),$(number median <<<"$record"),$(number flop_per_s <<<"$record"),\"$(text route <<<"$record")\""
        done <"$out/matrices.jsonl"
    } >"$out/matrices.csv"
    cat "$out/matrices.csv"
}
over() { [ -n "$1" ] && [ -n "$2" ] && awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", a / b }' || true; }

for part in "${parts[@]}"; do
    case $part in
    about | streams | peaks | products | matrices | layer | table) "$part" ;;
    *) echo "gpu-run: $part is no part" >&2 && exit 2 ;;
    esac
done
if grep -l '"passed":false' "$out"/*.jsonl 2>/dev/null; then
    echo "gpu-run: results are wrong in the files above" >&2
    exit 1
fi
echo "results are in $out" >&2
