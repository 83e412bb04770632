#!/usr/bin/env bash
# Measures a GPU with the program and bash alone, part by part, and keeps everything in one folder.
#
#   tools/gpu-run.sh [--program FILE] [--device NAME] [--out FOLDER] [--quick] [PART ...]
#
# Parts, all of them but `sustained` without a name, in this order:
#   about      the machine: doctor, driver, devices
#   selftest   every kernel of the device against the f64 reference
#   vectors    outputs of products on the processor and on the device, from the same seed, against each other
#   streams    read, copy, triad, over arrays of several sizes
#   peaks      arithmetic per compute class
#   products   products with packed weights of 1, 4 and 16 tokens in every format
#   ratios     few tokens: cuBLASLt in BF16, then packed weights, then cuBLASLt again
#   matrices   products of matrices in every element type of the device, which a GPU has with cuBLASLt
#   layer      attention, norm, rotary positions, gate, embedding
#   repeat     the same products in five processes, one after the other
#   calibrate  a calibration, with its errors at the held-out points; not with --quick, because it has no small size
#   sustained  the largest product again after 10 s of its own load; only where it is named, because it takes a minute and a half
#   table      what was measured against the targets, from the parts that are there
# --quick takes small sizes and few samples: a dry run, also on a processor (--device cpu:0).
# A part that fails does not stop the next ones. The exit code is 1 if a result is wrong, else that of the first part that failed.
# A file that is there is not measured again. Beside bash 4.2 and the program it calls mkdir, mv and uname, and nvidia-smi if there is one.
set -uo pipefail

# Targets. Those of a published figure count on the named device alone.
published_on=H200
target_read=0.93                              # of the published bandwidth, on that device
target_over_read="0.95 64000000 0.90 16000000" # of the read kernel's rate, from so many bytes on
target_over_bf16="int8:1:1.9 fp8_e4m3:1:1.9 int4_g128:1:3.5 mxfp4:1:3.4 nf4:1:3.4 nvfp4:1:3.2 int4_g128:8:3.3 int4_g128:16:3.0"
target_time="16384:34.5 8192:11.2"            # µs of INT4 g128 with one token, N = K, on that device
target_matrices="gemm_bf16:795 gemm_fp8_e4m3:1453" # TFLOPS, the best that mamf-finder published for that device
target_search=60                              # seconds in which these are found
target_repeat="1.0 50"                        # largest coefficient of variation in percent, of kernels from so many µs on
target_held_out=6.0                           # median error in percent

program=ridgepoint device=cuda:0 out= quick= parts=()
usage() {
    local line
    while IFS= read -r line && [[ $line == '#'* ]]; do
        line=${line#'#'}
        [[ $line == '!'* ]] || echo "${line# }"
    done <"$0"
}
while [ $# -gt 0 ]; do
    case $1 in
    --program | --device | --out)
        [ $# -gt 1 ] || { echo "gpu-run: $1 needs a value" >&2 && exit 2; }
        printf -v "${1#--}" %s "$2" && shift 2
        ;;
    --quick) quick=1 && shift ;;
    -h | --help) usage && exit 0 ;;
    -*) echo "gpu-run: $1 is no flag" >&2 && usage >&2 && exit 2 ;;
    about | selftest | vectors | streams | peaks | products | ratios | matrices | layer | repeat | calibrate | sustained | table)
        parts+=("$1") && shift
        ;;
    *) echo "gpu-run: $1 is no part" >&2 && exit 2 ;;
    esac
done
[ ${#parts[@]} -gt 0 ] ||
    parts=(about selftest vectors streams peaks products ratios matrices layer repeat calibrate table)
[ -n "$out" ] || printf -v out 'gpu-run-%(%Y%m%d-%H%M%S)T' -1
mkdir -p "$out" || exit 1

# Sizes: of a product its outputs and inputs, and more flags of every measurement.
if [ -n "$quick" ]; then
    large=1024 side=512 compared=512 tokens=64 context=256 load=1 arrays=(2000000) flags=(--iterations 3 --warm-up 0.1)
else
    large=16384 side=8192 compared=16384 tokens=512,8192 context=4096 load=10
    arrays=(32000000 64000000 128000000 512000000) flags=(--time-limit 0.8 --warm-up 0.4)
fi
formats=fp16,bf16,fp8_e4m3,int8,int4_g32,int4_g128,nf4,mxfp4,nvfp4,gguf_q8_0,gguf_q6_k,gguf_q4_k,gguf_q4_0

# to FILE WORDS...: what the program says goes to a file. Of a run that fails it stays in FILE.part.
to() {
    local file=$out/$1 code=0
    shift
    [ -s "$file" ] && return 0
    echo "$*" >&2
    "$program" "$@" >"$file.part" || code=$?
    [ $code -eq 0 ] || return $code
    mv "$file.part" "$file"
}
# measure NAME VERB FLAGS...: one record per line.
measure() {
    local name=$1
    shift
    to "$name.jsonl" bench "$@" --device "$device" "${flags[@]}" -o jsonl
}
# sweep NAME TOKENS SIDE FORMATS: products with packed weights, to a file that the program continues.
sweep() {
    echo "sweep of $2 tokens, $3 × $3" >&2
    "$program" bench sweep -m "$2" -n "$3" -k "$3" --weights "$4" --device "$device" "${flags[@]}" --out "$out/$1.jsonl" >&2
}
# all COMMAND... of a part are run whatever becomes of those before; the first failure is that of the part.
code=0
also() {
    local ended=0
    "$@" || ended=$?
    [ $code -ne 0 ] || code=$ended
}
# Products of matrices: a GPU without the library has none, which the program says with exit code 2.
of_the_library() {
    local ended=0
    "$@" 2>"$out/library.txt" || ended=$?
    local said
    said=$(<"$out/library.txt")
    [ -z "$said" ] || echo "$said" >&2
    [ $ended -eq 2 ] || return $ended
    # A GPU without the library has no products, and a processor none in BF16; any other refusal is a failure.
    [[ $said == *"has no GEMM"* || $said == *"GEMM runs in"* ]] || return $ended
    echo "gpu-run: products of matrices are left out" >&2
}

about() {
    {
        printf '%(%Y-%m-%dT%H:%M:%S%z)T\n' -1
        uname -a
        "$program" --version || return
        # Exit code 4 says that the daemon lacks something, which no measurement here needs.
        "$program" doctor || [ $? -eq 4 ] || return
        if command -v nvidia-smi >/dev/null; then nvidia-smi -q || true; fi
    } >"$out/about.txt" 2>&1
}
selftest() { to selftest.jsonl bench selftest --device "$device" -o jsonl; }
vectors() {
    to processor.jsonl bench selftest --device cpu:0 --vectors "$out/vectors-processor.jsonl" -o jsonl &&
        to vectors.jsonl bench selftest --device "$device" --vectors "$out/vectors-device.jsonl" \
            --against "$out/vectors-processor.jsonl" -o jsonl
}
streams() {
    local bytes
    also measure streams bandwidth
    for bytes in "${arrays[@]}"; do also measure "streams-$bytes" bandwidth --bytes "$bytes"; done
}
peaks() { also measure peaks flops; }
products() {
    also measure products-large gemv -n $large -k $large --weights $formats
    also measure products-side gemv -n $side -k $side --weights $formats
    also sweep products-4 4 $side $formats
    also sweep products-16 16 $side $formats
}
ratios() {
    also of_the_library measure ratios-before gemm -m 1,8,16 -n $compared -k $compared --weights bf16
    also sweep ratios-1 1 $compared int8,fp8_e4m3,int4_g128,mxfp4,nf4,nvfp4
    also sweep ratios-few 8,16 $compared int4_g128
    also sweep ratios-side 1 $side int4_g128
    also of_the_library measure ratios-after gemm -m 1,8,16 -n $compared -k $compared --weights bf16
}
matrices() {
    local begun=$SECONDS
    [ -s "$out/matrices.jsonl" ] && return
    also of_the_library measure matrices gemm -m $tokens -n $side -k $side
    echo $((SECONDS - begun)) >"$out/matrices.seconds"
}
sustained() { also of_the_library measure sustained gemm -m ${tokens##*,} -n $side -k $side --sustained $load; }
layer() {
    also measure attention attention --heads 32 --kv-heads 8 --head-dim 128 --context $context --format fp16,fp8_e4m3
    also measure norm norm --tokens 256 --width 4096 --format fp16
    also measure rope rope --tokens 256 --heads 40 --head-dim 128 --format fp16
    also measure gate gate --tokens 256 --width 14336 --format fp16
    also measure embedding embedding --tokens 256 --width 4096 --vocab 32000 --format fp16
}
repeat() {
    local run
    for run in 1 2 3 4 5; do also measure "repeat-$run" gemv -n $large -k $large --weights bf16,fp8_e4m3,int8; done
}
calibrate() {
    if [ -n "$quick" ]; then
        echo "gpu-run: calibrate is left out, because it has no small size" >&2
    else
        also to calibrate.json calibrate --device "$device" --out "$out/calibration.json" --export-device "$out/device.json" -o jsonl
    fi
}

# text KEY, number KEY: the first value of the key in `record`, in `found`.
text() { [[ $record =~ \"$1\":\"([^\"]*)\" ]] && found=${BASH_REMATCH[1]}; }
number() { [[ $record =~ \"$1\":(-?[0-9][0-9.eE+-]*) ]] && found=${BASH_REMATCH[1]}; }
# fixed VALUE POWER: VALUE · 10^POWER as a whole number, in `found`.
fixed() {
    [[ $1 =~ ^(-?)([0-9]+)(\.([0-9]+))?([eE]([+-]?[0-9]+))?$ ]] || return 1
    local sign=${BASH_REMATCH[1]} fraction=${BASH_REMATCH[4]} exponent=${BASH_REMATCH[6]:-0}
    local digits=${BASH_REMATCH[2]}$fraction places
    places=$((exponent + $2 - ${#fraction}))
    for (( ; places > 0; places--)); do digits+=0; done
    if [ ${#digits} -gt $((-places)) ]; then digits=${digits:0:${#digits}+places}; else digits=0; fi
    found=$sign$((10#$digits))
}
# decimal WHOLE PLACES: WHOLE / 10^PLACES as text, in `found`.
decimal() {
    local scale=$((10 ** $2))
    printf -v found '%d.%0*d' $(($1 / scale)) "$2" $(($1 % scale))
}
# ratio A B: A over B with three decimals, in `found`.
ratio() {
    local a
    fixed "$1" 0 && a=$found && fixed "$2" 0 && [ "$found" -gt 0 ] && decimal $((a * 1000 / found)) 3
}
# pick NAME KERNEL WEIGHTS M N: the record of a kernel, of N × N with M tokens where they are given, in `record`, or the reason in `why`.
pick() {
    local line file=$out/$1.jsonl
    [ -e "$file" ] || file+=.part
    record= why="$1 was not measured"
    [ -e "$file" ] || return 1
    while IFS= read -r line; do
        [[ $line == *"\"kernel\":\"$2\""* ]] || continue
        [ $# -lt 3 ] || [[ $line == *"\"weights\":\"$3\""* ]] || continue
        [ $# -lt 5 ] || [[ $line == *"\"m\":$4,\"n\":$5,\"k\":$5}"* ]] || continue
        record=$line
    done <"$file"
    [ -n "$record" ] || { why="$1 has no such record" && return 1; }
    [[ $record == *'"passed":true'* ]] || { why="its result is wrong" && return 1; }
}

# A row of the table: what, target, measured value, whether it was reached, and the reason or the flags of the record.
row() { printf '%s,%s,%s,%s,%s\n' "$@"; }
unmeasured() { row "$1" "$2" '' 'not measured' "$3"; }
# judge WHAT at_least|at_most TARGET UNIT VALUE [WHY]
judge() {
    local target value reached=no why=${6-} sign='>='
    fixed "$3" 3 && target=$found
    fixed "$5" 3 && value=$found
    [ "$2" = at_least ] || sign='<='
    if [ "$2" = at_least ]; then
        [ "$value" -lt "$target" ] || reached=yes
    else
        [ "$value" -gt "$target" ] || reached=yes
    fi
    if [ -z "$why" ] && [[ $record =~ \"flags\":\[([^]]+)\] ]]; then
        why=${BASH_REMATCH[1]//\"/} why="flags: ${why//,/ }"
    fi
    [ -z "$quick" ] || reached='not measured' why='--quick has small sizes'
    row "$1" "$sign $3${4:+ $4}" "$5${4:+ $4}" "$reached" "$why"
}
# Whether a published figure is about the device of `record`.
is_published() {
    text device && [[ $found == *$published_on* ]] && return
    why="the figure is about $published_on; this is ${found//,/}"
    return 1
}

row_of_read() {
    local what='read kernel over the published bandwidth' ideal
    pick streams read && is_published && number ideal_s && ideal=$found && number median && fixed "$ideal" 13 &&
        ideal=$found && number median && fixed "$found" 13 && ratio $ideal "$found" ||
        { unmeasured "$what" ">= $target_read" "$why" && return; }
    judge "$what" at_least $target_read '' "$found"
}
# Rates of the read kernel by the bytes of its array, both whole numbers.
reads() {
    local name
    rates=()
    for name in streams "${arrays[@]/#/streams-}"; do
        pick "$name" read && number bytes && fixed "$found" 0 && local bytes=$found && number byte_per_s &&
            fixed "$found" 0 && rates[bytes]=$found
    done
}
# read_over BYTES: the rate of the read kernel over the next larger array, else over the largest, in `found`.
read_over() {
    local bytes
    [ ${#rates[@]} -gt 0 ] || return 1
    for bytes in "${!rates[@]}"; do
        found=${rates[bytes]}
        [ "$bytes" -lt "$1" ] || break
    done
}
rows_over_read() {
    local name format bytes rate most far near few what
    read -r most far near few <<<"$target_over_read"
    for name in large side; do
        for format in ${formats//,/ }; do
            what="GEMV $format $name over reading"
            pick "products-$name" gemv "$format" || { unmeasured "$what" ">= $near" "$why" && continue; }
            number bytes && fixed "$found" 0 && bytes=$found
            number byte_per_s && fixed "$found" 0 && rate=$found
            read_over "$bytes" || { unmeasured "$what" ">= $near" 'streams were not measured' && continue; }
            ratio "$rate" "$found"
            if [ "$bytes" -ge "$far" ]; then
                judge "$what" at_least "$most" '' "$found"
            elif [ "$bytes" -ge "$few" ]; then
                judge "$what" at_least "$near" '' "$found"
            else
                unmeasured "$what" ">= $near" "it has fewer than $few bytes"
            fi
        done
    done
}
# The time of cuBLASLt in BF16 with so many tokens: the shorter one of before and after, so that a disturbed one flatters nobody [0.1 ps].
time_of_bf16() {
    local name least=
    for name in ratios-before ratios-after; do
        pick $name gemm_bf16 bf16 "$1" $compared || continue
        number median && fixed "$found" 13
        [ -n "$least" ] && [ "$least" -le "$found" ] || least=$found
    done
    found=$least
    [ -n "$least" ]
}
rows_over_bf16() {
    local target format m least name kernel what bf16
    for target in $target_over_bf16; do
        IFS=: read -r format m least <<<"$target"
        what="$format over cuBLASLt BF16 at M = $m"
        name=ratios-1 kernel=gemv
        [ "$m" = 1 ] || name=ratios-few kernel=gemm_packed
        time_of_bf16 "$m" || { unmeasured "$what" ">= $least" "$why" && continue; }
        bf16=$found
        pick $name $kernel "$format" "$m" $compared || { unmeasured "$what" ">= $least" "$why" && continue; }
        number median && fixed "$found" 13 && ratio "$bf16" "$found"
        judge "$what" at_least "$least" '' "$found"
    done
}
rows_of_time() {
    local target n most name what
    for target in $target_time; do
        IFS=: read -r n most <<<"$target"
        what="INT4 g128 $n × $n"
        name=ratios-1
        [ "$n" = 16384 ] || name=ratios-side
        pick $name gemv int4_g128 1 "$n" && is_published || { unmeasured "$what" "<= $most µs" "$why" && continue; }
        number median && fixed "$found" 9 && decimal "$found" 3
        judge "$what" at_most "$most" µs "$found"
    done
}
rows_of_matrices() {
    local target kernel least what m best kept value seconds=
    [ ! -e "$out/matrices.seconds" ] || read -r seconds <"$out/matrices.seconds"
    for target in $target_matrices; do
        IFS=: read -r kernel least <<<"$target"
        what="$kernel" best= kept=
        for m in ${tokens//,/ }; do
            pick matrices "$kernel" "${kernel#gemm_}" "$m" $side || continue
            number flop_per_s && fixed "$found" -9 && value=$found
            [ -n "$best" ] && [ "$best" -ge "$value" ] || best=$value kept=$record
        done
        record=$kept
        [ -n "$best" ] && is_published || { unmeasured "$what" ">= $least TFLOPS" "$why" && continue; }
        decimal "$best" 3
        judge "$what" at_least "$least" TFLOPS "$found"
    done
    record=
    if [ -n "$seconds" ] && [ -s "$out/matrices.jsonl" ]; then
        judge 'search of the products of matrices' at_most $target_search s "$seconds.0"
    else
        unmeasured 'search of the products of matrices' "<= $target_search s" 'matrices were not measured'
    fi
}
# The coefficient of variation of five medians: the root of their variance over their mean.
rows_of_repeat() {
    local format run what most from mean sum root times time
    read -r most from <<<"$target_repeat"
    for format in bf16 fp8_e4m3 int8; do
        what="GEMV $format in five processes" times=() sum=0
        for run in 1 2 3 4 5; do
            pick "repeat-$run" gemv "$format" || break
            number median && fixed "$found" 12 && times+=("$found") && sum=$((sum + found))
        done
        [ ${#times[@]} -eq 5 ] || { unmeasured "$what" "<= $most %" "$why" && continue; }
        mean=$((sum / 5)) sum=0
        [ $mean -ge $((from * 1000000)) ] ||
            { unmeasured "$what" "<= $most %" "it takes less than $from µs" && continue; }
        # Deviations in millionths of the mean, and the root by Newton's method.
        for time in "${times[@]}"; do sum=$((sum + ((time - mean) * 1000000 / mean) ** 2)); done
        sum=$((sum / 4)) root=$((sum > 0 ? 1000000 : 0))
        for run in {1..40}; do [ $root -eq 0 ] || root=$(((root + sum / root) / 2)); done
        decimal $root 4
        judge "$what" at_most "$most" % "$found"
    done
}
rows_of_calibration() {
    local target="<= $target_held_out %" what key
    for key in median_error median_error_matrices; do
        what='prediction of GEMV; median error'
        [ $key = median_error ] || what='prediction of GEMM; median error'
        record= why='calibrate was not run'
        [ ! -s "$out/calibrate.json" ] || { IFS= read -r record <"$out/calibrate.json" && why="it has no $key"; }
        number $key || { unmeasured "$what" "$target" "$why" && continue; }
        fixed "$found" 5 && decimal "$found" 3
        record= && judge "$what" at_most $target_held_out % "$found"
    done
}

# All products and their rates over that of reading, products of matrices with their algorithms, and the targets.
table() {
    local file record rates=() rate bytes why
    reads
    {
        echo 'file,kernel,weights,time_s,byte_per_s,over_read'
        for file in "$out"/products-*.jsonl; do
            [ -e "$file" ] || continue
            while IFS= read -r record; do
                local cells=("${file##*/}")
                text kernel && cells+=("$found")
                text weights && cells+=("$found")
                number median && cells+=("$found")
                number byte_per_s && cells+=("$found") && fixed "$found" 0 && rate=$found
                number bytes && fixed "$found" 0 && bytes=$found
                found=
                read_over "$bytes" && ratio "$rate" "$found"
                (IFS=, && echo "${cells[*]},$found")
            done <"$file"
        done
    } >"$out/products.csv"
    [ ! -e "$out/matrices.jsonl" ] || {
        echo 'kernel,tokens,time_s,flop_per_s,route'
        while IFS= read -r record; do
            local cells=()
            text kernel && cells+=("$found")
            number m && cells+=("$found")
            number median && cells+=("$found")
            number flop_per_s && cells+=("$found")
            text route
            (IFS=, && echo "${cells[*]},\"$found\"")
        done <"$out/matrices.jsonl"
    } >"$out/matrices.csv"
    {
        row what target measured reached why
        row_of_read
        rows_over_read
        rows_over_bf16
        rows_of_time
        rows_of_matrices
        rows_of_repeat
        rows_of_calibration
    } >"$out/table.csv"
    while IFS= read -r record; do echo "$record"; done <"$out/table.csv"
}

failed=() first=0
echo 'part,seconds,exit_code' >"$out/parts.csv"
for part in "${parts[@]}"; do
    begun=$SECONDS code=0
    also "$part"
    echo "$part,$((SECONDS - begun)),$code" >>"$out/parts.csv"
    [ $code -eq 0 ] && continue
    failed+=("$part (exit code $code)")
    [ $first -ne 0 ] || first=$code
    echo "gpu-run: $part failed with exit code $code; the other parts go on" >&2
done
for file in "$out"/*.jsonl "$out"/*.jsonl.part; do
    [ -e "$file" ] || continue
    while IFS= read -r record; do
        [[ $record == *'"passed":false'* ]] || continue
        echo "gpu-run: results are wrong in $file" >&2
        first=1
        break
    done <"$file"
done
echo "results are in $out" >&2
[ ${#failed[@]} -eq 0 ] || (IFS=';' && echo "gpu-run: failed: ${failed[*]}" >&2)
exit $first
