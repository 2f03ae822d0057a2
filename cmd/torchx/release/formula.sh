#!/usr/bin/env bash
# Prints a Homebrew formula for the archives in dist/.
# usage: formula.sh VERSION URL
set -euo pipefail
cd "$(dirname "$0")/../../../dist"
version=$1 url=$2

# source_of GOOS GOARCH
source_of() {
	local file=torchx-$version-$1-$2.tar.gz
	[[ -e $file ]] || return 0
	case $2 in arm64) echo "    on_arm do" ;; *) echo "    on_intel do" ;; esac
	printf '      url "%s/%s"\n      sha256 "%s"\n    end\n' "$url" "$file" "$(sha256sum <"$file" | cut -d ' ' -f 1)"
}

cat <<END
class Torchx < Formula
  desc "Job launcher for training and batch apps"
  homepage "${url%/*}"
  version "$version"
  license "BSD-3-Clause"

  on_macos do
$(source_of darwin arm64)
$(source_of darwin amd64)
  end
  on_linux do
$(source_of linux arm64)
$(source_of linux amd64)
  end

  def install
    bin.install "torchx"
    bash_completion.install "completions/torchx.bash" => "torchx"
    zsh_completion.install "completions/_torchx"
    fish_completion.install "completions/torchx.fish"
    man1.install Dir["man/man1/*.1.gz"]
    doc.install "README.md", "CHANGELOG.md", "THIRD_PARTY_LICENSES"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/torchx version")
  end
end
END
