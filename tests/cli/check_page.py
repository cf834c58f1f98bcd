"""Checks a page of `kilochain report` as a reader's programs see it: check_page.py PAGE [--browser]

Without --browser: HTML and JSON are whole, nothing is loaded from elsewhere, below 2 MB. With it: a headless Chromium draws every
figure without an error, and a click on a title sorts the table. Status 77 where there is no browser.
"""
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

page = pathlib.Path(sys.argv[1])
text = page.read_text(encoding="utf-8")
SECTIONS = ["verdict", "found", "table", "forest", "time", "ranks", "growth", "pairs", "warmup", "cost", "how"]


class Reader(html.parser.HTMLParser):
    """Every element is closed, and none refers to another place."""

    def __init__(self):
        super().__init__()
        self.open, self.json, self.texts = [], "", []

    def handle_starttag(self, tag, attributes):
        assert not {"src", "href"} & {name for name, _ in attributes}, f"{tag} {attributes}: loads something"
        if tag not in ("meta",):
            self.open.append((tag, dict(attributes).get("id")))

    def handle_endtag(self, tag):
        assert self.open and self.open.pop()[0] == tag, f"</{tag}> closes another element"

    def handle_data(self, data):
        if self.open and self.open[-1] == ("script", "figures"):
            self.json += data


reader = Reader()
reader.feed(text)
reader.close()
assert not reader.open, reader.open
figures = json.loads(reader.json)
assert figures["verdict"] and figures["advice"] and figures["table"]
places = set(re.findall(r"https?://[^\"'\s]+", text.replace(reader.json, ""))) - {"http://www.w3.org/2000/svg"}
assert not places, places
assert len(text.encode()) < 2_000_000, len(text)
if "--browser" not in sys.argv:
    sys.exit()

browser = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
if not browser:
    print("SKIPPED: no Chromium to draw the page with")
    sys.exit(77)
CLICKS = """<script>{
const names = () => [...document.querySelectorAll("#rows tr")].map(r => r.firstChild.textContent);
const seen = [names()], heads = document.querySelectorAll("#table th");
for (const k of [0, 0, 1]) heads[k].click(), seen.push(names());
document.body.append(Object.assign(document.createElement("pre"), {id: "seen", textContent: JSON.stringify(seen)}));
}</script>"""
with tempfile.TemporaryDirectory() as folder:
    copy = pathlib.Path(folder) / "page.html"
    copy.write_text(text.replace("</body>", CLICKS + "</body>"), encoding="utf-8")
    ran = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/user", "--enable-logging=stderr",
                          "--dump-dom", copy.as_uri()], capture_output=True, text=True, timeout=120, check=False)
dom = ran.stdout
errors = [line for line in ran.stderr.splitlines() if "CONSOLE" in line]
assert not errors, errors
found = re.search(r'<pre id="seen">(.*?)</pre>', dom, re.S)
assert found, "the page's program did not come to its end\n" + ran.stderr[-2000:]
first, up, down, by_mean = json.loads(found.group(1))
rows = [row[0] for row in figures["table"]]
assert first == rows, "at first the worst first"
assert sorted(up) == sorted(rows) and up == down[::-1] and (len(rows) < 2 or up != down), (up, down)
means = {row[0]: row[1] for row in figures["table"]}
assert [means[name] for name in by_mean] == sorted(means.values()), by_mean
missing = [s for s in SECTIONS if f'id="{s}"' not in dom]
assert not missing, missing
shown = re.sub(r"<script.*?</script>|data:image[^\"]*", "", dom, flags=re.S)  # a picture's letters may spell anything
for bad in ("NaN", "undefined", "Infinity"):
    assert bad not in shown, bad
print(f"{dom.count('<svg')} figures, {dom.count('<image')} of them maps")
assert dom.count("<figcaption>") == dom.count("<figure>") > 0
