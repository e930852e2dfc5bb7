"""What editors write becomes Markdown that can be searched and read, whatever state it is in."""

from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vademecum.providers.atlassian import adf_markdown
from vademecum.providers.markup import MOST_BYTES, UnreadableError, markdown_from, markdown_of
from vademecum.providers.web import seconds, written


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("", ""),
        ("plain", "plain"),
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("<h1>T</h1>text<h3>U</h3>more", "# T\n\ntext\n\n### U\n\nmore"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<p>one   \n two</p>", "one two"),
        ("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "- a\n  - b\n- c"),
        ("<ol><li><p>a</p></li><li><p>b</p></li></ol>", "1. a\n2. b"),
        ("<a href='https://e.org/x'>here</a> <a href='javascript:x()'>there</a>", "[here](https://e.org/x) there"),
        (
            "<table><tr><th>k</th><th>v</th></tr><tr><td>a</td><td><p>1</p></td></tr></table>",
            "| k | v |\n| --- | --- |\n| a | 1 |",
        ),
        ("<p>x &lt; y &amp;&amp; z&nbsp;!</p>", "x < y && z\xa0!"),
        ("<style>p{}</style><script>alert(1)</script><p>seen</p>", "seen"),
        ("<pre>  keep\n    this</pre>after", "```\n  keep\n    this\n```\n\nafter"),
        ("<p>use <code>f()</code>, <em>not</em> <s>g</s></p>", "use `f()`, *not* ~~g~~"),
        ("<p>not closed <b>bold<p>next", "not closed **bold\n\nnext"),
        ("</p></ul></a></table>stray", "stray"),
        ("<img alt='a diagram'>", "a diagram"),
    ],
)
def test_html(html: str, markdown: str) -> None:
    assert "\n".join(line.rstrip() for line in markdown_of(html).splitlines()) == markdown


def test_confluence_storage_format() -> None:
    storage = (
        '<ac:structured-macro ac:name="info"><ac:parameter ac:name="title">Hidden</ac:parameter><ac:rich-text-body><p>Mind this.</p>'
        '</ac:rich-text-body></ac:structured-macro><p>See <ac:link><ri:page ri:content-title="The plan" /></ac:link>.</p>'
        "<ac:task-list><ac:task><ac:task-body>Do it</ac:task-body></ac:task></ac:task-list>"
        '<ac:structured-macro ac:name="code"><ac:plain-text-body><![CDATA[<b>x</b> && "y" > z]]></ac:plain-text-body></ac:structured-macro>'
    )
    assert markdown_of(storage) == 'Mind this.\n\nSee The plan.\n\n- Do it\n\n```\n<b>x</b> && "y" > z\n```'


@pytest.mark.parametrize("section", ["<![1]>", "<![", "<![if !IE]>", "<![endif]>", "<![foo[x]]>", "<![]]>", "<![ 1"])
def test_what_looks_like_a_declaration_is_passed_over(section: str) -> None:
    """Office writes such, and nobody closes what is cut off; the text around stays."""
    shown = markdown_of(f"<p>before</p>{section}<p>after</p>")
    assert shown.startswith("before")
    assert shown.endswith("after")
    assert markdown_of(f"<p>before</p>{section}").startswith("before")


@example("<![1")
@given(st.text(alphabet='<>/&;!-[]CDATAbpreulioh1 "=\n\0é', max_size=200))
def test_no_html_breaks_it(html: str) -> None:
    assert isinstance(markdown_of(html), str)


nodes = st.recursive(
    st.fixed_dictionaries({"type": st.sampled_from(["text", "mention", "hardBreak", "?"]), "text": st.text(max_size=5)}, optional={"attrs": st.none() | st.just({"url": "u"})}),
    lambda inner: st.fixed_dictionaries(
        {"type": st.sampled_from(["doc", "paragraph", "bulletList", "orderedList", "listItem", "table", "tableRow", "tableCell", "codeBlock", "heading", "panel", "blockquote"])},
        optional={"content": st.lists(inner, max_size=3) | st.none(), "attrs": st.just({"level": "x"}), "marks": st.just([{}])},
    ),
    max_leaves=20,
)  # fmt: skip


@given(nodes)
def test_no_atlassian_document_breaks_it(node: dict) -> None:
    assert isinstance(adf_markdown(node), str)


def test_atlassian_documents() -> None:
    def text(words: str, *marks: dict) -> dict:
        return {"type": "text", "text": words, "marks": list(marks)}

    def node(kind: str, *content: dict, **attributes: object) -> dict:
        return {"type": kind, "content": list(content), "attrs": attributes}

    def paragraph(words: str) -> dict:
        return node("paragraph", text(words))

    document = node(
        "doc",
        node("heading", text("Plan"), level=3),
        node("paragraph", text("by "), node("mention", text="@Ada"), text(" "), node("inlineCard", url="https://e.org/1")),
        node("paragraph", text("read this", {"type": "link", "attrs": {"href": "https://e.org/2"}})),
        node("orderedList", node("listItem", paragraph("one"), node("bulletList", node("listItem", paragraph("deep")))), node("listItem", paragraph("two"))),
        node("panel", paragraph("Mind this.")),
        node("table", node("tableRow", node("tableHeader", paragraph("k")), node("tableHeader", paragraph("v"))), node("tableRow", node("tableCell", paragraph("a")), node("tableCell", paragraph("1")))),
        node("blockquote", paragraph("said")),
        node("rule"),
        node("taskList", node("taskItem", text("do it"))),
    )  # fmt: skip
    assert adf_markdown(document).split("\n\n") == [
        "### Plan", "by @Ada https://e.org/1", "[read this](https://e.org/2)", "1. one\n  - deep\n2. two", "Mind this.",
        "| k | v |\n| --- | --- |\n| a | 1 |", "> said", "---", "- do it",
    ]  # fmt: skip
    assert adf_markdown("h2. wiki markup") == "h2. wiki markup"
    assert adf_markdown(None) == ""


def test_a_document_nested_too_deep_ends() -> None:
    node: dict = {"type": "text", "text": "bottom"}
    for _ in range(5000):
        node = {"type": "panel", "content": [node]}
    assert adf_markdown(node) == ""


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def docx(xml: str, name: str = "word/document.xml") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, xml)
    return file.getvalue()


def test_word() -> None:
    def paragraph(words: str, style: str = "") -> str:
        own = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
        return f"<w:p>{own}<w:r><w:t>{words}</w:t></w:r></w:p>"

    table = f"<w:tbl><w:tr><w:tc>{paragraph('k')}</w:tc><w:tc>{paragraph('v')}</w:tc></w:tr></w:tbl>"
    listed = "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>item</w:t></w:r></w:p>"
    body = paragraph("The plan", "Title") + paragraph("Why", "Heading2") + paragraph("Because") + listed + table
    text = markdown_from("plan.docx", docx(f"<w:document {W}><w:body>{body}</w:body></w:document>"))
    assert text == "# The plan\n\n## Why\n\nBecause\n\n- item\n\n| k | v |\n| --- | --- |"


LAUGHS = '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'


@pytest.mark.parametrize(
    "content",
    [
        b"", b"PK", b"no zip at all", docx("<w:document"), docx("x", "other.xml"), docx(f"{LAUGHS}<w:document {W}>&b;</w:document>"),
        docx("<a>" + " " * 33_000_000 + "</a>"), docx("<a/>")[:-30],
    ],
    ids=range(8),
)  # fmt: skip
def test_a_word_file_that_is_none_is_refused(content: bytes) -> None:
    with pytest.raises(UnreadableError):
        markdown_from("x.docx", content)


def test_texts_of_any_encoding_and_size() -> None:
    assert markdown_from("x.MD", "\ufeff# é".encode()) == "# é"
    assert markdown_from("x.txt", b"caf\xe9") == "caf\ufffd"
    assert markdown_from("x.html", b"<h1>x</h1>") == "# x"
    with pytest.raises(UnreadableError):
        markdown_from("x.md", b"x" * (MOST_BYTES + 1))


@given(st.text(max_size=40))
def test_a_time_that_is_none_is_none(text: str) -> None:
    assert seconds(text) >= 0 or "-" in text


def test_times() -> None:
    assert seconds("2024-02-29T12:00:00.000+0530") == seconds("2024-02-29T06:30:00Z")
    assert seconds(written(1_700_000_123)) == 1_700_000_123
