# syntax=docker/dockerfile:1
# vademecum as a server, from this clone: docs/docker.md says how to run it, alone or with compose.yaml.
FROM python:3.13.9-slim-trixie AS build
WORKDIR /src
# What the package depends on changes seldom: a layer of its own, made from the list of its dependencies alone.
COPY pyproject.toml ./
RUN pip install --no-cache-dir uv==0.9.13 \
    && uv pip install --no-cache --prefix /needs --requirements pyproject.toml --extra server --extra postgres --extra qdrant
COPY README.md LICENSE NOTICE ./
COPY src src
COPY docs docs
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13.9-slim-trixie
# The base image decides which git there is.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/* \
    # What is mounted belongs to somebody else than the user below: git is to read it all the same.
    && git config --system --add safe.directory /repository \
    && git config --system --add safe.directory "/repositories/*" \
    && useradd --create-home --uid 10001 vade \
    && install --directory --owner=vade /data
COPY --from=build /needs /usr/local
# What the wheel needs is there; the extras are named so that pip says if anything is missing.
# hadolint ignore=DL3013
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    for wheel in /wheels/*.whl; do pip install --no-cache-dir "${wheel}[server,postgres,qdrant]"; done
USER 10001
ENV VADE_HOME=/data
VOLUME ["/data"]
WORKDIR /repository
EXPOSE 8765
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/healthz', timeout=4)"]
ENTRYPOINT ["vade"]
CMD ["serve", "--host", "0.0.0.0"]
