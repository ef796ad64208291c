"""A page as a reader meets it: its elements, its words, and what it would load."""

from html.parser import HTMLParser

VOID = {"br", "hr", "img", "link", "meta", "source", "input"}
LOADING = {"src", "href", "srcset", "poster", "data", "action", "background"}


class Page(HTMLParser):
    """Elements with their attributes; fails where an element is closed that is not open."""

    def __init__(self, markup):
        super().__init__()
        self.open, self.elements, self.texts = [], [], []
        self.feed(markup)
        self.close()
        assert self.open == [], "elements are left open"

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, names)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID and not self.get_starttag_text().endswith("/>"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((tuple(self.open), data))

    @property
    def words(self):
        """All text that is shown."""
        return "".join(text for place, text in self.texts if "style" not in place and "title" not in place)

    def inside(self, tag):
        """The texts of all elements of a kind, one string each run."""
        return [text for place, text in self.texts if tag in place]

    def all(self, tag):
        """The attributes of all elements of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def ids(self):
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]

    @property
    def loaded(self):
        """Addresses of what a browser would fetch or go to."""
        return [value for _, each in self.elements for name, value in each.items() if name in LOADING]
