#!/bin/sh
# Builds the management library of tests, libnvidia-ml.so.1, into the folder that is named, and that of an old driver into its folder `old`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/old"
build() {
    ${CC:-gcc} -std=gnu11 -O2 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden -Wl,-soname,libnvidia-ml.so.1 \
        -o "$1/libnvidia-ml.so.1" "$here/libnvml.c" ${2:+"$2"} -ldl
}
build "$1"
build "$1/old" -DOLD_DRIVER
