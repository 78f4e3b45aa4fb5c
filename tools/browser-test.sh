#!/usr/bin/env bash
# The report of a run in a real browser: it renders in light and dark, wide and narrow, without errors, requests or sideways scrolling.
# Installs Chromium with apt if there is none. Pictures go to the folder that is given, or are thrown away.
set -euo pipefail
cd "$(dirname "$0")/.."

benzer=${BENZER:-target/release/benzer}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pictures=${1:-$work}
mkdir -p "$pictures"

fail() { echo "browser test: $*" >&2; exit 1; }

find_browser() { command -v chromium || command -v chromium-browser || command -v google-chrome || true; }
browser=$(find_browser)
if [ -z "$browser" ]; then
  command -v apt-get >/dev/null || fail "no Chromium here, and no apt-get to install it; put chromium on the PATH"
  sudo=$([ "$(id -u)" -eq 0 ] || echo sudo)
  { $sudo apt-get update && $sudo apt-get install -y --no-install-recommends chromium; } >"$work/apt.log" 2>&1 ||
    { tail -20 "$work/apt.log" >&2; fail "chromium could not be installed"; }
  browser=$(find_browser)
fi
[ -x "$benzer" ] || fail "$benzer is missing: run make build"

# browse WIDTH SCHEME ARGUMENT... PAGE: 0 is dark, 1 is light.
browse() {
  local width=$1 scheme=$2
  shift 2
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run \
    --user-data-dir="$work/profile" --window-size="$width,1400" --blink-settings=preferredColorScheme="$scheme" \
    --enable-logging=stderr --virtual-time-budget=2000 "$@" 2>>"$work/browser.log"
}

"$benzer" dedup examples/articles.jsonl -o "$work/usual" --id-field id >/dev/null
# Markup in texts and ids, bad lines, bands that miss much, a limit that is reached.
python3 - "$work/hard.jsonl" <<'PYTHON'
import json, sys
words = lambda seed, n: [f"w{(seed * 7919 + i * 104729) % 997}" for i in range(n)]
with open(sys.argv[1], "w") as out:
    for i in range(600):
        text = words(i % 60 if i < 400 else 5, 80)
        for edit in range(i % 7):
            text[(i * 13 + edit * 11) % 80] = f"<script>document.title='{i}'</script>"
        print(json.dumps({"id": f"</code><img src=x onerror=alert({i})>", "text": " ".join(text)}), file=out)
    print("</pre><script>not json", file=out)
PYTHON
"$benzer" dedup "$work/hard.jsonl" -o "$work/hard" --id-field id --preset nemo >/dev/null 2>&1

# A copy of the page in a frame, in which a script measures what the page, that forbids scripts, cannot say itself.
measured() {
  local page=$1 width=$2 scheme=$3
  cat >"$work/frame.html" <<HTML
<!doctype html><body style="margin:0"><iframe id="page" src="$page" style="border:0;width:${width}px;height:1400px"></iframe>
<script>
onload = () => {
  const page = document.getElementById('page').contentDocument, root = page.documentElement;
  const wide = [...page.querySelectorAll('body *')].filter(e => !e.closest('.table') && !e.closest('svg') && e.getBoundingClientRect().right > root.clientWidth + 1);
  const rgb = getComputedStyle(page.body).backgroundColor.match(/\d+/g).map(Number);
  const text = [...page.querySelectorAll('svg')].every(svg => svg.querySelector('title') && svg.querySelector('desc'));
  document.title = JSON.stringify({over: root.scrollWidth - root.clientWidth, wide: wide.length, dark: rgb[0] + rgb[1] + rgb[2] < 384,
    charts: page.querySelectorAll('svg').length, described: text, h1: page.querySelectorAll('h1').length, h2: page.querySelectorAll('h2').length,
    scripts: page.querySelectorAll('script,img').length, pairs: page.querySelectorAll('.pair').length});
};
</script>
HTML
  browse 1500 "$scheme" --allow-file-access-from-files --dump-dom "file://$work/frame.html" | sed -n 's:.*<title>\(.*\)</title>.*:\1:p'
}

expect() {
  python3 - "$1" "$2" "$3" <<'PYTHON' || fail "$4"
import json, sys
found, expected = json.loads(sys.argv[1]), {"over": 0, "wide": 0, "described": True, "h1": 1, "scripts": 0, "dark": sys.argv[2] == "0"}
wrong = {name: found.get(name) for name, value in expected.items() if found.get(name) != value}
assert not wrong and found["charts"] == 3 and found["h2"] >= 6 and found["pairs"] >= int(sys.argv[3]), (wrong, found)
PYTHON
}

for run in usual hard; do
  page="$work/$run/report.html"
  for scheme in 1 0; do
    name="$run-$([ "$scheme" = 1 ] && echo light || echo dark)"
    for width in 1200 360; do
      : >"$work/browser.log"
      found=$(measured "file://$page" "$width" "$scheme")
      [ -n "$found" ] || { cat "$work/browser.log" >&2; fail "$name at $width pixels gave no measurement"; }
      expect "$found" "$scheme" 2 "$name at $width pixels: $found"
      grep -iE "CONSOLE.*(error|refused|violat)" "$work/browser.log" >&2 && fail "$name: the console has errors"
      echo "$name $width: $found"
    done
    browse 1200 "$scheme" --screenshot="$pictures/$name.png" "file://$page" >/dev/null
    [ "$(stat -c %s "$pictures/$name.png")" -gt 20000 ] || fail "the picture of $name is empty"
  done
  cmp -s "$pictures/$run-light.png" "$pictures/$run-dark.png" && fail "$run looks the same in light and dark"
  browse 1200 1 --dump-dom "file://$page" | grep -q "Is the recall what was promised" || fail "$run has no text"
done
echo "browser test: ok"
