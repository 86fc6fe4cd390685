#!/bin/sh
# NAME.bpf.c -> NAME.bpf.o (beside the header) -> NAME.skel.h, for make.
#
#   ebpf_skel.sh SOURCE HEADER [CPPFLAGS...]      with CLANG and BPFTOOL in the environment
set -eu
source=$1
header=$2
shift 2
name=$(expr "/$source" : '.*/\([a-z0-9_]*\)\.bpf\.c$')
object=${header%.skel.h}.bpf.o

if [ -z "${CLANG-}" ] || [ -z "${BPFTOOL-}" ]; then
	echo "$header must be made from $source: install clang, bpftool and libbpf-dev and configure again" >&2
	exit 1
fi
# Debian keeps asm/ in a folder of the architecture, which clang does not search for this target.
includes=$("$CLANG" -v -E -x c /dev/null -o /dev/null 2>&1 |
	sed -n '/<...> search starts here:/,/End of search list/{s/^ \(\/.*\)/-idirafter \1/p}')
# shellcheck disable=SC2086 # a list of words
"$CLANG" -target bpf -mcpu=v3 -O2 -g -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror "$@" $includes \
	-c "$source" -o "$object"
# The generated include asks for libbpf's files; ours need no library. Then it is no code of ours to warn about.
"$BPFTOOL" gen skeleton -L "$object" name "$name" >"$header.tmp"
sed 's|^#include <bpf/skel_internal.h>|#pragma GCC system_header\n#include "os/ebpf_skel.h"|' "$header.tmp" >"$header.new"
rm -f "$header.tmp"
# What pins are named after: programs of another build are other programs.
echo "#define $(echo "$name" | tr a-z A-Z)_BUILD \"$(sha256sum <"$header.new" | cut -c 1-16)\"" >>"$header.new"
mv "$header.new" "$header"
