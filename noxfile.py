#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.2.9"]
# ///
"""Tasks for people, `.ci/run` and the workflows: `nox -l` lists them, `nox -s lint` runs one.

Every session makes an environment and installs what it needs. With `nox --no-venv` it uses the
environment that is active instead, which then must have `unnaive[test]`; `.ci/run` does so, to
compile the core once.
"""

from __future__ import annotations

import shutil

import nox

PROJECT = nox.project.load_toml("pyproject.toml")
PYTHONS = nox.project.python_versions(PROJECT, max_version="3.14")
SPELLED = ["src", "tests", "benchmarks", "build_tools", "fuzz", "docs", "examples"]

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "venv"
nox.options.reuse_venv = "yes"


def install(session: nox.Session, *groups: str) -> None:
    """Install the dependency groups, and the project with its test extra unless it is there."""
    needed = nox.project.dependency_groups(PROJECT, *groups)
    if session.venv_backend != "none":
        session.install("-e", ".[test]", *needed)
    elif needed:
        session.run("python", "-m", "pip", "install", "--quiet", *needed, external=True)


def pytest(session: nox.Session, *options: str) -> None:
    """Run pytest in parallel; options after `--` go to it."""
    parallel = ["-n", "auto", "--dist", "worksteal"]
    session.run(
        "python", "-m", "pytest", "-q", *parallel, *options, *session.posargs, external=True
    )


@nox.session(python=PYTHONS, default=True)
def tests(session: nox.Session) -> None:
    """Run the default tests: every room, a few minutes."""
    install(session)
    pytest(session)


@nox.session(default=False)
def long(session: nox.Session) -> None:
    """Run the tests marked long: engines, browser, long random searches, reruns of papers."""
    install(session)
    pytest(session, "-m", "long")


@nox.session(default=False)
def coverage(session: nox.Session) -> None:
    """Run all tests and report the lines of `src` that none of them runs."""
    install(session, "coverage")
    pytest(
        session, "-m", "long or not long", "--cov=unnaive", "--cov-report=term-missing:skip-covered"
    )


@nox.session(default=False)
def sanitize(session: nox.Session) -> None:
    """Run the core's tests and hostile arguments under AddressSanitizer."""
    if not all(shutil.which(tool) for tool in ("cmake", "ninja", "c++")):
        session.skip("no CMake, Ninja or compiler here: the core is not sanitized")
    install(session)
    python = shutil.which("python", path=None if session.venv_backend == "none" else session.bin)
    session.run("build_tools/sanitize", str(python), *(session.posargs or ["60"]), external=True)


@nox.session(default=False)
def tools(session: nox.Session) -> None:
    """Install what lint and docs need, so that sessions can run at the same time."""
    install(session, "lint", "docs")


@nox.session(default=True)
def lint(session: nox.Session) -> None:
    """Check style, types, the layers of the packages, and spelling."""
    install(session, "lint")
    session.run("ruff", "check", external=True)
    session.run("ruff", "format", "--check", external=True)
    session.run("mypy", external=True)
    session.run("lint-imports", external=True)
    session.run(
        "codespell", *SPELLED, "README.md", "CONTRIBUTING.md", "CHANGELOG.md", external=True
    )


@nox.session(default=True)
def docs(session: nox.Session) -> None:
    """Build the documentation into build/docs; a warning is an error."""
    install(session, "docs")
    session.run(
        *["sphinx-build", "-W", "--keep-going", "-q", "-b", "html", "docs", "build/docs"],
        external=True,
    )


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Run a benchmark, `nox -s bench -- peers`; without a name that of the machine's limits."""
    install(session)
    session.run("python", "-m", "benchmarks", *(session.posargs or ["limit"]), external=True)


@nox.session(default=False)
def peers(session: nox.Session) -> None:
    """Compare speed and posteriors with the other libraries of the field."""
    install(session, "peers")
    session.run("python", "-m", "benchmarks", "peers", *session.posargs, external=True)
    session.run("python", "-m", "benchmarks", "networks", external=True)


if __name__ == "__main__":
    nox.main()
