#!/usr/bin/env bash
# Makes sure that redis-server (7 or newer) and openssl are there for the tests, and prints the path of the server.
# The tests start servers of their own, at free ports of this machine, and stop them.
set -euo pipefail
if ! command -v redis-server >/dev/null || ! command -v openssl >/dev/null; then
  {
    command -v apt-get >/dev/null || { echo "install redis-server 7 or newer, and openssl"; exit 1; }
    root=()
    [ "$(id -u)" = 0 ] || root=(sudo)
    # No server is started by the package: the tests start their own.
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
      printf '#!/bin/sh\nexit 101\n' | "${root[@]}" tee "$policy" >/dev/null
      "${root[@]}" chmod +x "$policy"
      trap '"${root[@]}" rm -f "$policy"' EXIT
    fi
    "${root[@]}" apt-get update -qq
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends redis-server openssl
  } >&2
fi
command -v redis-server
