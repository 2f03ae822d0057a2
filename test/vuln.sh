#!/bin/sh
# Checks the dependencies of this module for known vulnerabilities. Without a network it
# prints that it skips the check, which is a failure only if TORCHX_REQUIRE (a comma list)
# has vuln.
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
# 0: no vulnerabilities; 3: vulnerabilities; otherwise the check failed.
case $code in
0 | 3) exit $code ;;
esac
case $out in
*vuln.go.dev* | *"fetching vulnerabilities"* | *"dial tcp"* | *"no such host"*)
	skip "the vulnerability database cannot be reached"
	;;
esac
exit $code
