# A formula for Homebrew. UNTESTED: nobody has run it on a Mac yet. `make check-portable` compiles every
# source for aarch64-macos; that is all that is known. VERSION, URL and SHA256 are of a release.
class Weir < Formula
  desc "Context engine between LLM agents and their models"
  homepage "HOMEPAGE"
  url "URL"
  sha256 "SHA256"
  license "Apache-2.0"

  depends_on "pkgconf" => :build
  depends_on "brotli"
  depends_on "curl"
  depends_on "libpq" => :build
  depends_on "libuv"
  depends_on "libyaml"
  depends_on "llhttp"
  depends_on "md4c"
  depends_on "openssl@3"
  depends_on "pcre2"
  depends_on "sqlite"
  depends_on "xxhash"
  depends_on "zstd"

  def install
    system "make", "PREFIX=#{prefix}", "CC=#{ENV.cc}", "WERROR=", "install"
  end

  service do
    run [opt_bin/"weir", "serve"]
    keep_alive true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/weir --version")
    assert_equal "6", pipe_output("#{bin}/weir count -", "What is a weir?").split.first
  end
end
