"""Formulas in plain Unicode, set as MathML.

The documents write their formulas as they would be typed, indented by four spaces: αᵀKα, Σᵢ cᵢ ξᵢ, ‖f‖². That is good
to read in an editor, on a forge and in a terminal. On the site they are set as mathematics; stage.py finds them.
"""

import html
import re
import unicodedata

RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀᵃᵇᵈᵏⁿᵖʲˢ", "0123456789+−⊤abdknpjs")
LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉ᵢⱼₖₗₘₙₚ₊₋", "0123456789ijklmnp+−")
HIGH, LOW = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀᵃᵇᵈᵏⁿᵖʲˢ", "₀₁₂₃₄₅₆₇₈₉ᵢⱼₖₗₘₙₚ₊₋"
TOKEN = re.compile(
    rf"(?P<base>[A-Za-z]+|\d+(?:\.\d+)?|\s+|.)(?P<low>[{LOW}]*(?:≠[{LOW}]+)?)(?P<high>[{HIGH}]*)(?P<late>[{LOW}]*)"
)
NUMBERED = re.compile(r"^(?P<formula>.*?)\s{3,}\((?P<number>\d+[a-z]?)\)\s*$")
# A root of a number, of a letter (with its argument, if it is a function), or of what stands in parentheses.
GROUP = r"\((?:[^()]|\([^()]*\))*\)"
ROOT = re.compile(rf"^(.*?)√(\d+|[^\W\d_][{LOW}{HIGH}]*(?:{GROUP})?|{GROUP})(.*)$")
LARGE = {"Σ": "∑", "Π": "∏"}
FENCES = set("()[]{}⟨⟩⌊⌋⌈⌉‖|")


def is_product(word: str) -> bool:
    """Letters side by side, such as the end of αᵀKa, and not a word."""
    return len(word) == 1 or (len(word) == 2 and any(letter.isupper() for letter in word)) or word == "xz"


def element(base: str, before: str = "", after: str = "") -> str:
    """One token that has nothing above or below it; what surrounds it decides about some operators."""
    text = html.escape(LARGE.get(base, base))
    if base.isspace():
        return f'<mspace width="{0.28 * min(len(base), 6):g}em"/>'
    if base.isascii() and base.isalpha():
        return f"<mi>{text}</mi>" if len(base) == 1 else f"<mtext>{text}</mtext>"
    if base[0].isdigit() or base in "½¼∞":
        return f"<mn>{text}</mn>"
    if base == "|" and before.endswith(" ") and after.startswith(" "):
        return "<mo>∣</mo>"
    if base in "+−±" and (not before.strip() or before.rstrip()[-1] in "([{⟨=,≤≥<>/"):
        return f'<mo form="prefix">{text}</mo>'
    if base == "/":
        return '<mo lspace="0.08em" rspace="0.08em">/</mo>'
    if base in FENCES:
        return f'<mo stretchy="false" lspace="0" rspace="0">{text}</mo>'
    if base in ",;":
        return f'<mo separator="true" lspace="0" rspace="0.35em">{text}</mo>'
    if base == ".":
        return "<mtext>.</mtext>"
    if base in LARGE or unicodedata.category(base)[0] in "SP":
        return f"<mo>{text}</mo>"
    return f"<mi>{text}</mi>"


def script(text: str) -> str:
    """What stands above or below."""
    return f"<mrow>{''.join(element(letter) for letter in text)}</mrow>"


def typeset(line: str) -> str:
    """One line of mathematics in Unicode, as elements of MathML."""
    rooted = ROOT.match(line) if "√" in line else None
    if rooted:
        before, under, after = rooted.groups()
        inside = under[1:-1] if under.startswith("(") else under
        return f"{typeset(before)}<msqrt>{typeset(inside)}</msqrt>{typeset(after)}"
    found: list[str] = []
    for match in TOKEN.finditer(line):
        base, low, high = match["base"], match["low"] + match["late"], match["high"]
        if base.isspace() and len(base) == 1 and not spaced(line, match.start()):
            continue
        if base.isascii() and base.isalpha() and is_product(base):
            found += [f"<mi>{letter}</mi>" for letter in base[:-1]]
            base = base[-1]
        inner = element(base, line[: match.start()], line[match.end() :])
        below, above = script(low.translate(LOWERED)), script(high.translate(RAISED))
        if low and high:
            inner = f"<msubsup>{inner}{below}{above}</msubsup>"
        elif low:
            inner = f"<munder>{inner}{below}</munder>" if base in LARGE else f"<msub>{inner}{below}</msub>"
        elif high:
            inner = f"<msup>{inner}{above}</msup>"
        found.append(inner)
    return "".join(found)


def spaced(line: str, at: int) -> bool:
    """Whether a single space is between words, where mathematics would lose it."""
    before, after = line[:at], line[at + 1 :]
    neighbours = [re.search(r"([A-Za-z]{2,}),?$", before), re.match(r"([A-Za-z]{2,})", after)]
    return any(match is not None and not is_product(match[1]) for match in neighbours)


def mathematics(line: str) -> str:
    """One line, as MathML."""
    return f'<math display="inline" displaystyle="true"><mrow>{typeset(line)}</mrow></math>'


def formula(text: str) -> str:
    """A block of formulas, one line each, with the equation's number at the right."""
    lines = []
    for line in text.splitlines():
        match = NUMBERED.match(line)
        number = f'<span class="number">({match["number"]})</span>' if match else ""
        lines.append(f'<div class="line">{mathematics(match["formula"] if match else line)}{number}</div>')
    return f'<div class="formula">{"".join(lines)}</div>'
