#!/bin/sh
# Looks for known vulnerabilities in what this module depends on. Without the
# network that cannot be done: this is said, and is a failure only where
# TORCHX_REQUIRE (a comma list) has vuln.
# usage: test/vuln.sh GOVULNCHECK
set -u

skip() {
	echo "skipped: $1"
	case ",${TORCHX_REQUIRE:-}," in
	*,vuln,*) exit 1 ;;
	esac
	exit 0
}

tool=$1
if [ ! -x "$tool" ] && ! ${GO:-go} install golang.org/x/vuln/cmd/govulncheck@latest; then
	skip "govulncheck cannot be installed"
fi
out=$("$tool" ./... 2>&1)
code=$?
echo "$out"
# 0: nothing found; 3: something found; anything else: it could not look.
case $code in
0 | 3) exit $code ;;
esac
case $out in
*vuln.go.dev* | *"fetching vulnerabilities"* | *"dial tcp"* | *"no such host"*)
	skip "the vulnerability database cannot be reached"
	;;
esac
exit $code
