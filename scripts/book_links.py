"""Checks that each link between the pages of the rendered book leads to a file and a place that exist: python scripts/book_links.py target/book"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse


class Page(HTMLParser):
    """The places in a page that links can lead to, and its links."""

    def __init__(self, path):
        super().__init__()
        self.places, self.links = {"", "top"}, []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places.update((found.get("id"), found.get("name")))
        self.links.extend(found[name] for name in ("href", "src") if found.get(name))


book = Path(sys.argv[1]).resolve()
# Links in 404.html begin at the address of the site, which is not known here.
pages = {path: Page(path) for path in book.rglob("*.html") if path.name != "404.html"}
checked, broken = 0, []
for path, page in pages.items():
    for link in page.links:
        file, place = urldefrag(link)
        if urlparse(link).scheme:
            continue
        checked += 1
        target = (path.parent / unquote(file)).resolve() if file else path
        if not target.is_file() or (target in pages and unquote(place) not in pages[target].places):
            broken.append(f"{path.relative_to(book)}: {link} leads nowhere")
print(*broken, f"{checked} links in {len(pages)} pages", sep="\n")
sys.exit(bool(broken) or checked < 1000)
