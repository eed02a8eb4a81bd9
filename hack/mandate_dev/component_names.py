"""The names of a new component: what a name must be, and the words that follow from it."""
import re

LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
KEYWORDS = set("""alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const
    consteval constexpr constinit continue decltype default delete do double else enum explicit export extern false float
    for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
    protected public register requires return short signed sizeof static struct switch template this throw true try
    typedef typeid typename union unsigned using virtual void volatile while xor xor_eq""".split())
# Macros of the C library whose value is not their own name.
MACROS = {"errno"}


class Refused(Exception):
    """The component cannot be created; the message is the reason, in one line."""


def plural_of(kind: str) -> str:
    word = kind.lower()
    if re.search(r"(s|x|z|ch|sh)$", word):
        return word + "es"
    return re.sub(r"([^aeiou])y$", r"\1ie", word) + "s"


def constant_of(name: str) -> str:
    """Returns the name that `rbacgen header` gives the mandate."""
    return "k" + "".join(part[:1].upper() + part[1:] for part in name.split("-"))


def check_name(name: str) -> None:
    if not re.fullmatch(LABEL, name) or len(name) > 63 or not name[0].isalpha() or "--" in name:
        raise Refused(f'NAME must be a DNS label that begins with a letter, of at most 63 of a-z, 0-9 and single "-", '
                      f'such as disk-check; got "{name}"')
    if name == "base":
        raise Refused('NAME "base" is reserved for the manager\'s own identity; choose another')


def names_of(name: str) -> dict[str, str]:
    """Returns those of the templates' @WORDS@ that follow from NAME."""
    snake = name.replace("-", "_")
    return {"NAME": name, "SNAKE": snake, "UPPER": snake.upper(), "CONSTANT": constant_of(name),
            "WEBHOOKCONSTANT": constant_of(f"{name}-webhook")}


def words_of(name: str, kind: str, group: str) -> dict[str, str]:
    """Rejects names that cannot be those of a component and its kind; returns the values of the templates' @WORDS@."""
    check_name(name)
    # A list's kind is KINDList, and Kubernetes allows 63 characters for it.
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]{0,58}", kind) or not re.search("[a-z]", kind):
        raise Refused(f'KIND must be CamelCase, at most 59 of A-Z, a-z and 0-9, such as DiskCheck; got "{kind}"')
    if not re.fullmatch(rf"{LABEL}(\.{LABEL})+", group) or len(group) > 253 or any(len(l) > 63 for l in group.split(".")):
        raise Refused(f'GROUP must be a DNS name of at least two labels, such as mandate.io; got "{group}"')
    if re.search(r"(^|\.)(k8s|kubernetes)\.io$", group):
        raise Refused(f'GROUP "{group}" is Kubernetes\' own, which needs the approval of its API reviewers; choose another')
    return {**names_of(name), "KIND": kind, "GROUP": group, "PLURAL": plural_of(kind), "LOWER": kind.lower(),
            "DASHED": group.replace(".", "-")}
