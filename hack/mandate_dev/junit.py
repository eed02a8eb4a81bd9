"""Results of test cases, and JUnit's XML for them."""
import dataclasses
import re
import xml.etree.ElementTree as xml
from collections.abc import Mapping, Sequence

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of one case. text: the reason if it failed or was skipped."""

    name: str
    status: str = PASSED
    seconds: float = 0.0
    text: str = ""
    place: str = ""  # the class of the case


def count(outcomes: Sequence[Outcome], status: str) -> int:
    return sum(o.status == status for o in outcomes)


def summary(outcomes: Sequence[Outcome]) -> str:
    """Returns the last line of a test program."""
    skipped = count(outcomes, SKIPPED)
    return (f"{count(outcomes, PASSED)} passed, {count(outcomes, FAILED)} failed"
            + (f", {skipped} skipped" if skipped else ""))


def printable(text: str) -> str:
    """Returns the text without the characters that XML 1.0 does not allow, such as terminal colours."""
    return re.sub("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", re.sub("\033\\[[0-9;]*m", "", text))


def write(path: str, suites: Mapping[str, Sequence[Outcome]]) -> None:
    """Writes one file with a test suite for each entry."""
    root = xml.Element("testsuites")
    for name, outcomes in suites.items():
        suite = xml.SubElement(root, "testsuite", name=printable(name), tests=str(len(outcomes)),
                               failures=str(count(outcomes, FAILED)), skipped=str(count(outcomes, SKIPPED)),
                               time=f"{sum(o.seconds for o in outcomes):.3f}")
        for o in outcomes:
            case = xml.SubElement(suite, "testcase", name=printable(o.name), classname=printable(o.place or name),
                                  time=f"{o.seconds:.3f}")
            if o.status != PASSED:
                reason = printable(o.text)
                tag = "failure" if o.status == FAILED else "skipped"
                xml.SubElement(case, tag, message=reason.partition("\n")[0][:300]).text = reason
    xml.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def read(path: str) -> list[Outcome]:
    """Returns the outcomes of all suites of a file. Raises OSError, or ParseError if it is not XML."""
    found = []
    for case in xml.parse(path).getroot().iter("testcase"):
        status = PASSED
        text: str = ""
        for tag, meaning in (("failure", FAILED), ("error", FAILED), ("skipped", SKIPPED)):
            if (part := case.find(tag)) is not None:
                status, text = meaning, part.text or part.get("message") or ""
        found.append(Outcome(case.get("name", ""), status, float(case.get("time", "0")), text, case.get("classname", "")))
    return found
