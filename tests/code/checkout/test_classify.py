"""What a file is for, judged from its path."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.code.checkout.classify import file_kind
from vademecum.types import FileKind

PATHS = {
    FileKind.PRODUCT: """
        src/app.py src/testing.py pytest/main.py latest/index.ts contest.py attest.go src/contest/round.rb protest.c
        lib/greatest.js src/main/java/org/x/TestEngine.java pkg/spec/schema.go src/specification.py KeySpec.java
        src/deps/resolver.py src/external/api.go src/docs/handler.py internal/dist/writer.go src/dist/plan.ts
        django/db/migrations/0001_initial.py types/index.d.ts security.py history.js src/support.go news.py
        web/index.html schema.sql api/user.proto infra/main.tf src/examples.py demo.py benchmark.go vendors.py
        static/js/bootstrap.js static/js/upgrade.js src/jquery.js src/migrate-1.2.js public/app-v2.js src/docs/menu.js
        unittest/case.py testing/testing.go src/generate.py to_string.go keygen.go doctor.py manifest.py
    """,
    FileKind.TEST: """
        tests/test_app.py test/app.js src/app_test.go src/foo.test.ts src/foo.spec.tsx __tests__/a.js a/testdata/x.json
        spec/models/user_spec.rb spec/support/helper.rb src/test/java/UserServiceTest.java UserTests.cs
        conftest.py pkg/conftest.py tests.py MyApp.Tests/Thing.cs MyAppUITests/Flow.swift core_tests/a.cc
        cypress/login.cy.js e2e/flow.ts src/UserSpec.scala crates/x/tests/it.rs t/basic.t login.feature
        src/foo-test.js src/a_test.rs app/tests.rs test_helper.exs_test.exs examples/test_hello.py lib/UserTest.php
    """,
    FileKind.DOC: """
        README README.md docs/guide.rst CHANGELOG.md LICENSE doc/x.adoc src/notes.txt docs/conf.py man/vade.1
        CONTRIBUTING.md docs/diagram.html templates/docs/api.html templates/docs/api.html-fragment AUTHORS packages/a/README.markdown
        changelog/0.18.1/issue-5324 newsfragments/212
    """,
    FileKind.CONFIG: """
        pyproject.toml package.json .github/workflows/ci.yml Dockerfile docker/Dockerfile.dev Makefile setup.cfg
        .eslintrc.js vite.config.ts requirements.txt requirements-dev.txt dev-requirements.txt CMakeLists.txt
        config/app.yaml pom.xml application.properties .gitignore tsconfig.json docs/mkdocs.yml go.mod .editorconfig
        app.csproj build.gradle WORKSPACE
    """,
    FileKind.EXAMPLE: """
        examples/hello.go example/app.py samples/a.java demo/main.ts benchmarks/run.py docs/examples/x.py benches/b.rs
        tutorial/step1.py examples/README.md
    """,
    FileKind.VENDORED: """
        vendor/github.com/x/y.go third_party/zlib/zlib.h node_modules/a/index.js deps/jemalloc/a.c external/lib.cc
        static/jquery-3.7.1.slim.js app/public/jdenticon-3.3.0.js static/bootstrap.css assets/datatables.js
        src/_vendor/six.py vendor/x/x_test.go pip/_vendor/idna/core.py
    """,
    FileKind.GENERATED: """
        api/user.pb.go user_pb2.py user_pb2_grpc.py lib/model.g.dart src/schema.generated.ts dist/app.js
        packages/x/dist/index.js src/__generated__/q.ts Form.Designer.cs zz_generated.deepcopy.go parser_generated.py
        src/generated/a.ts app.min.js api/v1/user_service.connect.go web/user_pb.ts web/user_grpc_pb.js calc_parsetab.py
        store_mock.go
    """,
}


@pytest.mark.parametrize(("path", "kind"), [(path, kind) for kind, text in PATHS.items() for path in text.split()])
def test_paths_are_judged(path: str, kind: FileKind) -> None:
    assert file_kind(path) is kind


@given(st.text(st.sampled_from("abtes/._-TS1"), min_size=1, max_size=40))
def test_every_path_has_a_kind(path: str) -> None:
    assert file_kind(path) in FileKind
