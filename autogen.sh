#!/bin/sh
# Makes configure from a bare checkout.
set -eu
cd "$(dirname "$0")"
mkdir -p m4 build-aux
exec autoreconf -fi
