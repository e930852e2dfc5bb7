"""Settings: five layers, each value with its origin, and messages that name the place and the fix."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vademecum.config import KNOWN, Settings, data_directory, load
from vademecum.errors import ConfigError


@pytest.fixture
def repository(tmp_path):
    """A repository and an empty user directory."""
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "user" / "vademecum").mkdir(parents=True)
    return tmp_path / "repo"


@pytest.fixture
def read(repository, tmp_path):
    """Load settings with files of the given text."""

    def read(*, user="", repo="", coderag="", environ=None, arguments=None, directory=None):
        for text, path in (
            (user, tmp_path / "user/vademecum/config.toml"),
            (repo, repository / ".vade.toml"),
            (coderag, repository / ".coderag.yaml"),
        ):
            if text:
                path.write_text(text)
        environ = {"XDG_CONFIG_HOME": str(tmp_path / "user"), "HOME": str(tmp_path)} | (environ or {})
        return load(directory or repository, environ=environ, arguments=arguments)

    return read


def test_defaults_hold_where_nothing_is_set(read):
    settings = read()
    assert settings.search.k == 10
    assert settings.index.max_file_bytes == 1_048_576
    assert settings.privacy.allow_remote is False
    assert settings.origin("search.k") == "default"


def test_each_layer_overrides_the_one_before_and_is_remembered(read, tmp_path, repository):
    layers = {"user": "[search]\nk = 1", "repo": "[search]\nk = 2"}
    given = read(user=layers["user"])
    assert (given.search.k, given.origin("search.k")) == (1, str(tmp_path / "user/vademecum/config.toml"))
    given = read(**layers)
    assert (given.search.k, given.origin("search.k")) == (2, str(repository / ".vade.toml"))
    given = read(**layers, environ={"VADE_SEARCH__K": "3"})
    assert (given.search.k, given.origin("search.k")) == (3, "VADE_SEARCH__K")
    given = read(**layers, environ={"VADE_SEARCH__K": "3"}, arguments={"search.k": 4, "search.ranker": None})
    assert (given.search.k, given.origin("search.k")) == (4, "argument")
    assert given.origin("search.ranker") == "default"


def test_every_setting_is_listed_with_its_origin(read):
    listed = {key: origin for key, _, origin in read(repo="[index]\nworkers = 2").items()}
    assert set(listed) == set(KNOWN)
    assert listed["index.workers"].endswith(".vade.toml")
    assert listed["search.k"] == "default"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"repo": "[serach]\nk = 3"}, r"unknown setting 'serach.k' in .*\.vade\.toml: did you mean 'search.k'"),
        ({"user": "[search]\nemebdder = 'x'"}, r"config\.toml: did you mean 'search.embedder'"),
        ({"environ": {"VADE_INDEX__WORKER": "2"}}, r"in VADE_INDEX__WORKER: did you mean 'index.workers'"),
        ({"arguments": {"search.q": 2}}, r"unknown setting 'search.q' in argument"),
        ({"repo": "k = 3"}, r"'k' in .*\.vade\.toml stands outside a section: write it as `k` under `\[search\]`"),
        ({"repo": "[search]\nk = '3'"}, r"search.k = '3' in .*\.vade\.toml has the wrong type: .* a whole number"),
        ({"repo": "[search]\nk = true"}, r"search.k = True .* wrong type"),
        ({"repo": "[search]\nk.a = 1"}, r"search.k = .* wrong type"),
        ({"environ": {"VADE_SEARCH__K": "many"}}, r"search.k = 'many' in VADE_SEARCH__K has the wrong type"),
        ({"environ": {"VADE_PRIVACY__ALLOW_REMOTE": "maybe"}}, r"VADE_PRIVACY__ALLOW_REMOTE .* true or false"),
        ({"repo": "[search]\nk = 0"}, r"search.k = 0 in .* too small: it must be at least 1"),
        (
            {"environ": {"VADE_SEARCH__SCOPE": "world"}},
            "search.scope = 'world' in .* is not one of repo, repos, all, shared",
        ),
        ({"repo": "[index]\ndeadline_s = nan"}, r"index.deadline_s .* too small"),
        ({"repo": "[search]\nk = = 3"}, r"\.vade\.toml is not valid TOML: .*line 2.*: mend that line"),
        ({"coderag": "a: [1\nb: }"}, r"\.coderag\.yaml is not valid YAML: .*line 2"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_its_fix(read, files, said):
    with pytest.raises(ConfigError, match=said):
        read(**files)


def test_numbers_may_be_written_either_way(read):
    assert read(repo="[index]\ndeadline_s = 2").index.deadline_s == 2.0
    assert read(environ={"VADE_INDEX__DEADLINE_S": "0.5"}).index.deadline_s == 0.5


@pytest.mark.parametrize("said", ["[privacy]\nallow_remote = true", "[storage]\nhome = '/elsewhere'"])
def test_a_repository_cannot_send_code_away_or_move_the_data(read, said):
    with pytest.raises(ConfigError, match="a repository's own file cannot turn on"):
        read(repo=said)


def test_the_user_can_allow_remote_providers(read):
    assert read(user="[privacy]\nallow_remote = true").privacy.allow_remote
    assert read(environ={"VADE_PRIVACY__ALLOW_REMOTE": "1"}).privacy.allow_remote


@pytest.mark.parametrize("name", ["base_url", "api", "api_key", "timeout_s"])
def test_a_repository_cannot_say_where_code_is_sent_or_with_whose_key(read, name):
    mine = "7.0" if name == "timeout_s" else "'mine'"
    assert str(getattr(read(user=f"[llm]\n{name} = {mine}").llm, name)) in mine
    with pytest.raises(ConfigError, match=f"llm.{name} in .*: a repository's own file cannot turn on"):
        read(repo=f"[llm]\n{name} = 'http://192.0.2.1'")


@pytest.mark.parametrize("name", ["built-in", "none", "llm:qwen3:4b"])
def test_a_repository_may_choose_some_rerankers(read, name):
    given = read(repo=f"[search]\nreranker = '{name}'")
    assert given.search.reranker == name
    assert given.is_shared("search.reranker")
    given = read(repo=f"[search]\nreranker = '{name}'", environ={"VADE_SEARCH__RERANKER": "cross-encoder:/models/one"})
    assert given.search.reranker == "cross-encoder:/models/one"
    assert not given.is_shared("search.reranker")


@pytest.mark.parametrize("name", ["cross-encoder:/models/one", "acme", "llms", ""])
def test_a_repository_may_not_choose_others(read, name):
    with pytest.raises(
        ConfigError, match=r"search.reranker .*vade.toml: a repository's own file may choose built-in, none"
    ):
        read(repo=f"[search]\nreranker = '{name}'")


def test_a_secret_is_in_no_text(read):
    given = read(user="[llm]\napi_key = 'hunter2'")
    assert given.llm.api_key == "hunter2"
    assert "hunter2" not in f"{given} {given!r} {list(given.items())}"
    with pytest.raises(ConfigError, match=r"llm.api_key = its value in .* wrong type") as raised:
        read(user="[llm]\napi_key = ['hunter2']")
    assert "hunter2" not in str(raised.value)


def test_a_file_that_is_not_text_is_named(read, repository):
    (repository / ".vade.toml").write_bytes(b"\xff\xfe[search]")
    with pytest.raises(ConfigError, match=r"\.vade\.toml cannot be read as UTF-8"):
        read()


def test_a_coderag_file_is_used_as_far_as_it_goes(read):
    settings = read(
        coderag="version: '1'\nsearch:\n  topK: 7\n  vectorWeight: 0.7\ningestion:\n  exclude: [x]\n"
        "embedding:\n  provider: auto\n  openaiCompatible:\n    apiKey: hunter2\n"
    )
    assert settings.search.k == 7
    assert settings.origin("search.k").endswith(".coderag.yaml")
    told = "\n".join(settings.warnings)
    assert "search.vectorWeight" in told
    assert ".vadeignore" in told
    assert "embedding.provider" not in told
    assert "hunter2" not in told


def test_our_own_file_wins_over_a_coderag_file(read):
    assert read(repo="[search]\nk = 2", coderag="search: {topK: 7}").search.k == 2


def test_the_repository_file_is_found_from_a_folder_inside_but_not_above_the_repository(read, repository, tmp_path):
    (repository / "a" / "b").mkdir(parents=True)
    (tmp_path / ".vade.toml").write_text("[search]\nk = 9")
    assert read(directory=repository / "a" / "b").search.k == 10
    assert read(repo="[search]\nk = 2", directory=repository / "a" / "b").search.k == 2


def test_outside_a_repository_only_the_folder_itself_is_looked_at(read, tmp_path):
    (tmp_path / "plain" / "sub").mkdir(parents=True)
    (tmp_path / "plain" / ".vade.toml").write_text("[search]\nk = 9")
    assert read(directory=tmp_path / "plain" / "sub").search.k == 10
    assert read(directory=tmp_path / "plain").search.k == 9


def test_data_lives_where_vade_home_says(read):
    settings = read(environ={"VADE_HOME": "/data/vade"})
    assert settings.home == Path("/data/vade")
    assert settings.origin("storage.home") == "VADE_HOME"


def test_data_lives_in_the_platforms_place_otherwise(monkeypatch):
    monkeypatch.delenv("VADE_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", "/share")
    assert Settings().home == Path("/share/vademecum")


def test_a_user_without_a_home_needs_only_vade_home(monkeypatch, tmp_path):
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert load(tmp_path, environ={"VADE_HOME": "/data"}).home == Path("/data")
    with pytest.raises(ConfigError, match="set VADE_HOME"):
        data_directory({})


def test_a_home_that_may_not_be_entered_is_passed_over(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "stat", lambda *_args, **_kwargs: (_ for _ in ()).throw(PermissionError()))
    assert load(tmp_path, environ={"HOME": "/root"}).search.k == 10


def test_a_variable_with_one_underscore_is_mentioned(read):
    settings = read(environ={"VADE_SEARCH_K": "3", "VADE_DEBUG": "1"})
    assert settings.search.k == 10
    assert [warning for warning in settings.warnings if "VADE_SEARCH_K" in warning]
    assert len(settings.warnings) == 1


@settings(deadline=None)
@given(text=st.text(st.sampled_from("[]search.k=1'\"\n {}#trueprivacy_"), max_size=60))
def test_any_file_gives_settings_or_a_config_error(text, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp() / "any"
    folder.mkdir(exist_ok=True)
    (folder / ".vade.toml").write_text(text)
    with contextlib.suppress(ConfigError):
        assert load(folder, environ={"HOME": "/nowhere"}).search.k >= 1


def test_no_parser_is_imported_where_there_is_no_file(tmp_path):
    code = "import sys, vademecum.config as c; c.load(); print([m for m in ('tomllib', 'yaml', 'difflib') if m in sys.modules])"
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
