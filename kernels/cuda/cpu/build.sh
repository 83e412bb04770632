#!/bin/sh
# Builds the libraries of tests, a driver, a compiler, products of matrices and management, into the folder that is named.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
build() {
    ${CXX:-g++} -std=c++17 -O2 -ffp-contract=off -Wall -Wextra -Werror -Wno-unknown-pragmas -shared -fPIC -fvisibility=hidden "-Wl,-soname,$2" \
        -o "$1/$2" "$here/$3"
}
build "$1" libcuda.so.1 libcuda.cpp
build "$1" libnvrtc.so.12 libnvrtc.cpp
build "$1" libcublasLt.so.12 libcublaslt.cpp
"$here/build-nvml.sh" "$1"
