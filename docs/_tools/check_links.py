"""Whether every link of the built pages leads somewhere: `python check_links.py FOLDER`.

Files and places within pages are looked up on the disk, those that rustdoc wrote, below ``rust/``,
included; addresses of the web are counted, not
visited. Listings of source files may be linked to and are not read: their lines are numbered by a
script. A page that leads on to another has the places of
that one. Lists of what implements a trait, which rustdoc's pages load if there are any, may be
absent.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page and the places that can be linked to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.places, self.onward = [], set(), None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        if tag == "meta" and named.get("http-equiv") == "refresh":
            self.onward = re.sub(r"(?i)^.*url=", "", named.get("content") or "")
        if tag == "script" and "/trait.impl/" in (named.get("src") or ""):
            return
        for key, value in attrs:
            if key == "id" or (key == "name" and tag == "a"):
                self.places.add(value)
            elif value and (key == "src" or (key == "href" and tag in ("a", "link"))):
                self.links.append(value)


def broken(folder):
    """Pages and their links that lead nowhere; and how many lead to the web."""
    # Below _static lie the theme's own files, among them a template that is no page.
    unread = {("_static",), ("rust", "src")}
    files = [
        file
        for file in sorted(folder.rglob("*.html"))
        if not any(file.relative_to(folder).parts[: len(u)] == u for u in unread)
    ]
    pages = {file.resolve(): Page(file.read_text(encoding="utf-8")) for file in files}
    bad, web = [], set()
    for file, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                web.add(link)
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            target = target / "index.html" if target.is_dir() else target
            # rustdoc names places as they stand in links, with their percent signs.
            places = {parts.fragment, unquote(parts.fragment)}
            if target in pages and pages[target].onward:
                target = (target.parent / unquote(pages[target].onward)).resolve()
            if not target.exists():
                bad.append((file, link, "there is no such file"))
            elif parts.fragment and target in pages and not places & pages[target].places:
                bad.append((file, link, "there is no such place on that page"))
    return len(pages), bad, web


def main():
    folder = Path(sys.argv[1])
    pages, bad, web = broken(folder)
    for file, link, why in bad:
        print(f"{file.relative_to(folder.resolve())}: {link}: {why}", file=sys.stderr)
    print(
        f"{pages} pages, {len(bad)} broken links; {len(web)} addresses of the web were not visited"
    )
    return 1 if bad or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
