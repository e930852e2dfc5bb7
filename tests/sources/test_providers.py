"""Each provider asks its server as that wants to be asked, tells every item once, and says plainly what went wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from vademecum.errors import ConfigError, CursorError, SyncError
from vademecum.items import Comment, Item, Page
from vademecum.plugins import load
from vademecum.result import Err, Ok
from vademecum.sources.sources import kind_of

sys.path.insert(0, str(Path(__file__).parent))
from wire import DAY, NOW


def opened(case: Any, waits: list[float] | None = None, **more: Any) -> Any:
    """The provider of a case, which waits for nothing."""
    wait = (lambda _: None) if waits is None else waits.append
    return load(kind_of(case.provider), case.provider, name="work", wait=wait, **{**case.options, **more})


def run(provider: Any, since: float = 0.0, cursor: str = "") -> list[Page]:
    """Every page of one run."""
    pages = [provider.page(since, cursor).unwrap()]
    while pages[-1].cursor:
        pages.append(provider.page(since, pages[-1].cursor).unwrap())
        assert len(pages) < 50
    return pages


def items(pages: list[Page]) -> dict[str, Item]:
    return {item.key: item for page in pages for item in page.items}


def test_every_item_is_told_page_by_page(case: Any) -> None:
    for number in range(1, 6):
        case.put(number)
    pages = run(opened(case))
    assert set(items(pages)) == {case.key(number) for number in range(1, 6)}
    assert len(pages) >= 3
    assert all(len(page.items) <= 2 for page in pages)
    assert [page.at for page in pages] == [NOW] * len(pages)
    for item in items(pages).values():
        assert item.title
        assert item.url.startswith("http")
        assert item.updated == NOW - 9 * DAY


def test_an_empty_server_tells_of_nothing(case: Any) -> None:
    assert items(run(opened(case))) == {}


def test_only_what_changed_is_told_later(case: Any) -> None:
    for number in range(1, 6):
        case.put(number)
    provider = opened(case)
    first = run(provider)
    case.put(2, "Changed since", NOW - 60)
    case.put(6, "New since", NOW - 30)
    later = items(run(provider, NOW - DAY, first[-1].resume))
    assert set(later) == {case.key(2), case.key(6)}
    assert "since" in later[case.key(2)].title + later[case.key(2)].body


def test_a_cursor_keeps_its_meaning_in_another_process(case: Any) -> None:
    for number in range(1, 6):
        case.put(number)
    first = opened(case).page(0.0, "").unwrap()
    assert first.cursor
    told = items([first, *run(opened(case), 0.0, first.cursor)])
    assert set(told) == {case.key(number) for number in range(1, 6)}


def test_what_changes_between_pages_pushes_nothing_out(case: Any) -> None:
    for number in range(1, 6):
        case.put(number)
    provider = opened(case)
    pages = [provider.page(0.0, "").unwrap()]
    case.put(1, "Changed meanwhile", NOW)
    case.put(6, "New meanwhile", NOW)
    pages += run(provider, 0.0, pages[0].cursor)
    assert set(items(pages)) >= {case.key(number) for number in range(1, 6)}


@pytest.mark.parametrize("fault", [500, 502, 503, 429, 408, "hangs up", "half"])
def test_what_passes_is_waited_for(case: Any, fault: Any) -> None:
    case.put(1)
    case.server.faults = [fault, fault, fault]
    waits: list[float] = []
    assert set(items(run(opened(case, waits)))) == {case.key(1)}
    assert len(waits) == 3
    assert all(0.0 <= wait <= 4.0 for wait in waits)


def test_a_server_that_names_its_pause_gets_it(case: Any) -> None:
    case.put(1)
    case.server.faults = [("retry", 7)]
    waits: list[float] = []
    run(opened(case, waits))
    assert len(waits) == 1
    assert 7.0 <= waits[0] <= 8.0


def test_a_pause_as_a_date_is_understood(case: Any) -> None:
    case.put(1)
    case.server.faults = [("retry", "Tue, 14 Nov 2023 22:13:50 GMT")]  # half a minute after NOW
    waits: list[float] = []
    run(opened(case, waits))
    assert 30.0 <= waits[0] <= 31.0


FATAL = {
    401: ("refused the key", "sources.work.token"),
    403: ("does not let this key read it", "sources.work.token"),
    404: ("has no such thing", "sources.work.url"),
    429: ("asks to be left alone", "vade sync work"),
    500: ("(5 attempts)", "vade sync work"),
    400: ("did not understand", "[sources.work]"),
    ("closed", 7200): ("left alone for 7200 s", "vade sync work"),
    ("retry", 3600): ("left alone for 3600 s", "vade sync work"),
    "garbage": ("something else than JSON", "sources.work.url"),
    "other JSON": ("something else than was asked for", "sources.work.url"),
    "elsewhere": ("leads elsewhere", "sources.work.url"),
    "hangs up": ("cannot be asked", "sources.work.url"),
    "half": ("cannot be asked", "sources.work.url"),
}


@pytest.mark.parametrize("fault", FATAL, ids=str)
def test_what_does_not_pass_names_the_setting(case: Any, fault: Any) -> None:
    case.put(1)
    case.server.faults = [fault] * 20
    match opened(case).page(0.0, ""):
        case Err(SyncError() as error):
            said, setting = FATAL[fault]
            assert said in str(error)
            assert setting in str(error)
            assert case.options["token"] not in str(error)
        case other:
            raise AssertionError(other)


def test_a_slow_server_is_not_waited_for_longer_than_set(case: Any) -> None:
    case.server.faults = ["slow"] * 20
    match opened(case, timeout_s=0.1).page(0.0, ""):
        case Err(error):
            assert "took longer than 0.1 s" in str(error)
            assert "sources.work.timeout_s" in str(error)
        case other:
            raise AssertionError(other)


def test_nobody_there_is_said(case: Any) -> None:
    case.options["url"] = case.options["url"].replace(str(case.server.server_port), "1")
    match opened(case).page(0.0, ""):
        case Err(error):
            assert "nothing answers at http://127.0.0.1:1" in str(error)
            assert "sources.work.url" in str(error)
        case other:
            raise AssertionError(other)


@pytest.mark.parametrize(
    "url", ["", "jira", "ftp://x", "https://", "https://u:p@x", "https://x:99999", "https://x?y=1", "https://é"]
)
def test_an_address_that_is_none_is_refused(case: Any, url: str) -> None:
    with pytest.raises(ConfigError, match=r"sources\.work\.url") as refusal:
        opened(case, url=url)
    assert "u:p" not in str(refusal.value)


def test_a_wrong_key_is_refused_and_not_shown(case: Any) -> None:
    match opened(case, token="wr0ng-key").page(0.0, ""):
        case Err(error):
            assert "refused the key" in str(error)
            assert "sources.work.token" in str(error)
            assert "wr0ng-key" not in str(error)
        case other:
            raise AssertionError(other)


def test_a_key_that_no_header_holds_is_refused(make_case: Any) -> None:
    with pytest.raises(ConfigError, match=r"sources\.work"):
        opened(make_case("jira-dc"), token="a\nb")


@pytest.mark.parametrize(
    "url", ["https://example.atlassian.net", "http://127.0.0.1:9", "http://localhost:9", "http://[::1]:9"]
)
def test_another_machine_is_remote(url: str) -> None:
    provider = load("backlog", "jira", url=url, token="key", project="ABC")
    assert provider.remote is ("atlassian" in url)


def test_a_jira_issue_is_told_in_full(make_case: Any) -> None:
    case = make_case("jira-cloud")
    bold = {"type": "text", "text": "twice", "marks": [{"type": "strong"}]}
    description = {
        "version": 1,
        "type": "doc",
        "content": [
            {"type": "heading", "attrs": {"level": 2}, "content": [{"type": "text", "text": "Why"}]},
            {
                "type": "paragraph",
                "content": [
                    {"type": "text", "text": "Retry "},
                    bold,
                    {"type": "hardBreak"},
                    {"type": "text", "text": "or stop."},
                ],
            },
            {"type": "codeBlock", "attrs": {"language": "python"}, "content": [{"type": "text", "text": "retry(2)"}]},
        ],
    }
    links = [{"type": {"outward": "blocks", "inward": "is blocked by"}, "outwardIssue": {"key": "ABC-9"}}]
    comments = [("Bea", "first"), ("Cem", "second"), ("Bea", "third")]
    case.put(7, "Retry", description=description, issuelinks=links, comments=comments, parent={"key": "ABC-1"})
    item = items(run(opened(case)))["ABC-7"]
    assert item.body == "## Why\n\nRetry **twice**\nor stop.\n\n```python\nretry(2)\n```"
    assert (item.kind, item.state, item.labels) == ("Bug", "In Progress", ("net", "api"))
    assert item.links == ("part of ABC-1", "blocks ABC-9")
    assert item.comments == tuple(Comment(who, NOW - 9 * DAY, text) for who, text in comments)
    assert item.url == f"{case.server.url}/browse/ABC-7"


def test_a_jira_query_narrows(make_case: Any) -> None:
    case = make_case("jira-cloud")
    case.put(1)
    case.put(2, labels=["ui"])
    assert set(items(run(opened(case, query="labels = ui")))) == {"ABC-2"}


def test_jira_without_project_or_query_is_bounded_all_the_same(make_case: Any) -> None:
    case = make_case("jira-cloud")
    case.put(1)
    assert set(items(run(opened(case, project="")))) == {"ABC-1"}


def test_a_jira_token_that_expired_begins_again(make_case: Any) -> None:
    case = make_case("jira-cloud")
    for number in range(1, 4):
        case.put(number)
    cursor = opened(case).page(0.0, "").unwrap().cursor
    case.server.tokens.clear()
    assert isinstance(opened(case).page(0.0, cursor), Err)
    match opened(case).page(0.0, cursor):
        case Err(CursorError()):
            pass
        case other:
            raise AssertionError(other)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"api": "4"}, "api"),
        ({"query": "project = X ORDER BY key"}, "ORDER BY"),
        ({"project": 'A") OR ("B'}, "project"),
    ],
)
def test_jira_settings_that_make_no_sense_are_refused(make_case: Any, options: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        opened(make_case("jira-cloud"), **options)


def test_a_work_item_is_told_in_full(make_case: Any) -> None:
    case = make_case("azure-devops")
    relations = [
        {
            "rel": "System.LinkTypes.Hierarchy-Reverse",
            "url": "https://x/_apis/wit/workItems/1",
            "attributes": {"name": "Parent"},
        },
        {"rel": "ArtifactLink", "url": "vstfs:///Git/Commit/abc", "attributes": {"name": "Fixed in Commit"}},
    ]
    more = {"Microsoft.VSTS.Common.AcceptanceCriteria": "<ul><li>It retries</li></ul>"}
    case.put(7, "Retry", relations=relations, comments=[("Bea", "<p>first</p>"), ("Cem", "second")], **more)
    item = items(run(opened(case)))["AB#7"]
    assert item.body == "About **7**\n\n## Acceptance criteria\n\n- It retries"
    assert (item.kind, item.state, item.labels, item.links) == ("Bug", "Active", ("net", "api"), ("Parent AB#1",))
    assert [(comment.author, comment.text) for comment in item.comments] == [("Bea", "first"), ("Cem", "second")]
    assert item.url.endswith("/fabrikam/Web%20Shop/_workitems/edit/7")


def test_a_work_item_that_vanished_meanwhile_is_left_out(make_case: Any) -> None:
    case = make_case("azure-devops")
    case.put(1)
    case.put(2)
    case.server.vanished = {1}  # in the query, gone from the batch
    assert set(items(run(opened(case)))) == {"AB#2"}


def test_a_work_item_query_narrows(make_case: Any) -> None:
    case = make_case("azure-devops")
    case.put(1)
    case.put(2, **{"System.State": "Closed"})
    assert set(items(run(opened(case, query="[System.State] = 'Closed'")))) == {"AB#2"}


def test_a_task_is_told_in_full(make_case: Any) -> None:
    case = make_case("clickup")
    comments = [(f"Bea{n}", f"said {n}") for n in range(30)]  # more than one page of them
    linked = [{"task_id": "task0007", "link_id": "task0009"}]
    case.put(7, "Retry", comments=comments, parent="task0001", linked_tasks=linked)
    item = items(run(opened(case)))["CU-task0007"]
    assert (item.body, item.state, item.labels) == ("About **task0007**.", "in progress", ("net",))
    assert item.links == ("part of CU-task0001", "linked to CU-task0009")
    assert [comment.text for comment in item.comments] == [f"said {n}" for n in range(30)]
    assert opened(case, comments="no").page(0.0, "").unwrap().items[0].comments == ()


def test_a_task_with_a_key_of_its_own_is_called_by_it(make_case: Any) -> None:
    case = make_case("clickup")
    case.put(7, custom_id="DEV-7")
    assert set(items(run(opened(case)))) == {"DEV-7"}


def test_lists_narrow_tasks(make_case: Any) -> None:
    case = make_case("clickup")
    case.put(1)
    case.put(2, list={"id": "78"})
    assert set(items(run(opened(case, lists="78")))) == {"CU-task0002"}


@pytest.mark.parametrize("name", ["confluence-cloud", "confluence-dc"])
def test_a_page_is_told_in_full(make_case: Any, name: str) -> None:
    case = make_case(name)
    code = '<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">py</ac:parameter><ac:plain-text-body><![CDATA[if a > b:\n    go()]]></ac:plain-text-body></ac:structured-macro>'
    case.put(7, "How/to release", body=f"<h2>Steps</h2><p>Tag &amp; push</p>{code}", comments=["<p>Thanks</p>"])
    item = items(run(opened(case)))["1007"]
    assert item.body == "## Steps\n\nTag & push\n\n```py\nif a > b:\n    go()\n```"
    assert (item.path, item.kind, item.labels) == ("TEAM/How-to release", "page", ("net",))
    assert [comment.text for comment in item.comments] == ["Thanks"]
    assert item.url.startswith("http")


@pytest.mark.parametrize("name", ["confluence-cloud", "confluence-dc"])
def test_only_the_spaces_asked_for_are_told(make_case: Any, name: str) -> None:
    case = make_case(name)
    case.put(1)
    case.put(2, space="OPS")
    assert set(items(run(opened(case, space="OPS")))) == {"1002"}
    assert set(items(run(opened(case, space="")))) == {"1001", "1002"}


def test_a_space_that_is_not_there_is_named(make_case: Any) -> None:
    match opened(make_case("confluence-cloud"), space="NOPE").page(0.0, ""):
        case Err(error):
            assert "'NOPE'" in str(error)
            assert "sources.work.space" in str(error)
        case other:
            raise AssertionError(other)


def test_a_library_is_narrowed_and_what_is_no_document_left_out(make_case: Any) -> None:
    case = make_case("sharepoint")
    case.put(1)
    case.server.put("picture", "logo.png", b"\x89PNG")
    case.server.put("other", "plan.html", b"<h1>Plan</h1><p>Go <b>on</b></p>", folder="Other/Deep")
    assert set(items(run(opened(case)))) == {"Guides/guide-1.md", "Other/Deep/plan.html"}
    [plan] = items(run(opened(case, folder="Other"))).values()
    assert plan.body == "# Plan\n\nGo **on**"


def test_what_was_deleted_or_renamed_in_a_library_is_told(make_case: Any) -> None:
    case = make_case("sharepoint")
    case.put(1)
    case.put(2)
    resume = run(opened(case))[-1].resume
    case.drop(1)
    case.server.put("file2", "guide-2.bin", b"\0")
    [page] = run(opened(case), NOW, resume)
    assert sorted(page.gone) == ["file1", "file2"]


def test_a_link_that_is_known_no_more_begins_again(make_case: Any) -> None:
    case = make_case("sharepoint")
    case.put(1)
    resume = run(opened(case))[-1].resume
    case.server.expired = True
    match opened(case).page(NOW, resume):
        case Err(CursorError()):
            pass
        case other:
            raise AssertionError(other)


def test_an_application_signs_in(make_case: Any) -> None:
    case = make_case("sharepoint")
    case.put(1)
    del case.options["token"]
    application = {"tenant": "contoso.example", "client": "app", "client_secret": "s3cret", "sign_in": case.server.url}
    assert set(items(run(opened(case, **application)))) == {"Guides/guide-1.md"}
    match opened(case, **{**application, "client_secret": "wr0ng"}).page(0.0, ""):
        case Err(error):
            assert "sources.work.tenant, client and client_secret" in str(error)
            assert "wr0ng" not in str(error)
        case other:
            raise AssertionError(other)
    with pytest.raises(ConfigError, match="no key"):
        opened(case)


def test_a_key_is_not_sent_where_a_server_points(make_case: Any) -> None:
    case, stranger = make_case("sharepoint"), make_case("sharepoint")
    case.put(1)
    match opened(case).page(0.0, f"{stranger.server.url}/v1.0/drives/b!x/root/delta"):
        case Err(error):
            assert "is not asked" in str(error)
            assert stranger.server.asked == []
        case other:
            raise AssertionError(other)


def test_a_folder_is_told_whole_and_nothing_outside_it(tmp_path: Path) -> None:
    top, outside = tmp_path / "docs", tmp_path / "outside"
    for path in (top / "guides", top / ".git", outside):
        path.mkdir(parents=True)
    (outside / "secret.md").write_text("# Secret\n")
    (top / "guides" / "release.md").write_text("# How to release\n\nTag.\n")
    (top / "plain.txt").write_text("No heading here.\n")
    (top / "page.html").write_text("<h1>Plan</h1><p>Go</p>")
    (top / ".git" / "x.md").write_text("# Hidden\n")
    (top / "logo.png").write_bytes(b"\x89PNG")
    (top / "link.md").symlink_to(outside / "secret.md")
    (top / "linked").symlink_to(outside)
    (top / "broken.docx").write_bytes(b"PK no zip")
    provider = load("documents", "folder", path=str(top))
    [page] = run(provider)
    told = items([page])
    assert set(told) == {"guides/release.md", "plain.txt", "page.html"}
    assert page.whole
    assert told["guides/release.md"].title == "How to release"
    assert told["plain.txt"].title == "plain.txt"
    assert told["page.html"].url.startswith("file://")
    assert provider.remote is False


def test_a_large_folder_comes_in_pages(tmp_path: Path) -> None:
    for number in range(450):
        (tmp_path / f"{number:03}.md").write_text(f"# Number {number}\n")
    pages = run(load("documents", "folder", path=str(tmp_path)))
    assert [len(page.items) for page in pages] == [200, 200, 50]
    assert [page.whole for page in pages] == [False, False, True]


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"sources\.docs\.path"):
        load("documents", "folder", path=str(tmp_path / "nothing"), name="docs")
    provider = load("documents", "folder", path=str(tmp_path), name="docs")
    tmp_path.rename(tmp_path.with_name("moved"))
    assert isinstance(provider.page(0.0, ""), Err)


def test_a_result_is_a_result(case: Any) -> None:
    assert isinstance(opened(case).page(0.0, ""), Ok)
