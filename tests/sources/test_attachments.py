"""Files that hang on items: those of text are fetched and become sections, the rest stays where it is."""

from __future__ import annotations

from typing import Any

import pytest

from vademecum.errors import ConfigError, SyncError
from vademecum.items import Attachment
from vademecum.plugins import load
from vademecum.result import Err
from vademecum.sources.fetched import document_of, readable
from vademecum.sources.sources import kind_of

FILES = {
    "notes.md": b"# Why\n\nThe **zebra** gateway drops calls.\n",
    "page.html": b"<h1>Plan</h1><p>Move the gateway</p>",
    "trace.log": b"ERROR zebra\n```\ntimeout\n",
    "screen.png": b"\x89PNG\r\n\0",
    "binary.txt": b"MZ\0\0\1",
    "empty.txt": b"  \n",
    "large.csv": b"1,2\n" * 200_000,
}
READ = (
    Attachment("notes.md", "# Why\n\nThe **zebra** gateway drops calls.\n"),
    Attachment("page.html", "# Plan\n\nMove the gateway"),
    Attachment("trace.log", "````\nERROR zebra\n```\ntimeout\n````"),
)
CASES = ("jira-cloud", "jira-dc", "azure-devops", "clickup", "confluence-cloud", "confluence-dc")


def opened(case: Any, **more: Any) -> Any:
    options = {"attachments": "yes", **case.options, **more}
    return load(kind_of(case.provider), case.provider, name="work", wait=lambda _: None, **options)


def item(case: Any, **more: Any) -> Any:
    [found] = opened(case, **more).page(0.0, "").unwrap().items
    return found


@pytest.mark.parametrize("name", CASES)
def test_files_of_text_are_told_with_their_item(make_case: Any, name: str) -> None:
    """Only they are fetched; whoever keeps them elsewhere is shown no key."""
    case = make_case(name)
    case.put(1, attachments=FILES)
    assert item(case).attachments == READ
    asked = [path for _, path, _, _ in case.server.asked]
    assert not any(path.endswith((".png", ".csv")) for path in asked)
    case.server.asked.clear()
    assert item(case, attachments="no").attachments == ()
    assert not any("attachment" in path for _, path, _, _ in case.server.asked)


@pytest.mark.parametrize("name", CASES)
def test_a_file_that_is_gone_is_left_out(make_case: Any, name: str) -> None:
    """The item is told without it."""
    case = make_case(name)
    case.put(1, attachments={"gone.md": b"x", "there.md": b"y"})
    if case.provider == "confluence":
        case.server.gone = {"gone.md"}
    else:
        files = (case.server if case.provider != "clickup" else case.server.kept).files
        del files[next(key for key, content in files.items() if content == b"x")]
    assert item(case).attachments == (Attachment("there.md", "y"),)


def test_a_server_that_fails_at_a_file_ends_the_run(make_case: Any) -> None:
    """So that the next one goes on with that page: nothing is told by half."""
    case = make_case("jira-dc")
    case.put(1, attachments={"notes.md": b"text"})
    case.server.fault_after, case.server.faults = 1, [500] * 9
    outcome = opened(case).page(0.0, "")
    assert isinstance(outcome, Err)
    assert isinstance(outcome.error, SyncError)
    assert "vade sync work" in str(outcome.error)


def test_a_server_of_this_machine_does_not_lead_to_another(make_case: Any) -> None:
    """What is on this machine was not consented to as remote, so no other is asked."""
    case = make_case("clickup")
    case.put(1)
    case.server.attached["task0001"] = [{"title": "notes.md", "url": "https://192.0.2.1/notes.md", "size": 3}]
    outcome = opened(case).page(0.0, "")
    assert isinstance(outcome, Err)
    assert "192.0.2.1" in str(outcome.error)
    assert "not asked" in str(outcome.error)


def test_neither_yes_nor_no_is_refused(make_case: Any) -> None:
    """It is named."""
    for name in CASES:
        with pytest.raises(ConfigError, match=r"sources\.work\.attachments"):
            opened(make_case(name), attachments="some")


def test_an_attachment_is_a_section_without_secrets(make_case: Any) -> None:
    """Its headings stand below the item's."""
    case = make_case("jira-cloud")
    case.put(1, attachments={"notes.md": b"# Why\n\npassword = 'hunter2-Xk29!aQ'\n"})
    text = document_of(readable(item(case)))
    assert "## Attachment notes.md\n\n## Why" in text
    assert "hunter2" not in text


def test_what_an_attachment_says_is_found(make_case: Any, set_up: Any, engine: Any, repo: Any) -> None:
    """By a search of documents, at the item."""
    case = make_case("jira-cloud")
    case.put(1, attachments={"trace.log": b"the zebra gateway said 502"})
    set_up(work={"provider": case.provider, **case.options})
    own = engine(repo())
    own.sources.sync("work")
    [found] = own.codebase.search("zebra gateway", sources=["work"], k=1).evidence
    assert found.path == "ABC-1.md"
    assert "502" in found.snippet
