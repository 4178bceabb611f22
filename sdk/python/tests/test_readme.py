"""The samples of README.md do what they say, and mypy accepts them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import Service

README = Path(__file__).parent.parent / "README.md"
SAMPLES: dict[str, str] = dict(
    re.findall(r"^<!-- (\w+\.py) -->\n\n```python\n(.*?)^```$", README.read_text(), re.M | re.S)
)
PROGRAMS = ["locate.py", "list.py", "more.py", "locate_async.py", "errors.py"]

VISIT_DJANGO = """
import django
from django.conf import settings
import settings as own, views
from django.urls import path
names = {name: getattr(own, name) for name in dir(own) if name.isupper()}
settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF="urls", SECRET_KEY="test", **names)
import sys, types
sys.modules["urls"] = types.ModuleType("urls")
sys.modules["urls"].urlpatterns = [path("", views.home)]
django.setup()
from django.test import Client
headers = {"X-Forwarded-For": "81.2.69.160"}
print(Client(headers=headers).get("/", REMOTE_ADDR="10.0.0.1").content.decode())
"""

VISIT_FASTAPI = """
import asyncio, httpx2, app
async def visit():
    transport = httpx2.ASGITransport(app=app.app, client=("10.0.0.1", 1))
    async with app.client, httpx2.AsyncClient(transport=transport, base_url="http://app") as http:
        response = await http.get("/", headers={"X-Forwarded-For": "81.2.69.160"})
        print(response.json())
asyncio.run(visit())
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    for name, text in SAMPLES.items():
        (folder / name).write_text(text)
    (folder / "visit_django.py").write_text(VISIT_DJANGO)
    (folder / "visit_fastapi.py").write_text(VISIT_FASTAPI)
    return folder


def run(folder: Path, *arguments: str, env: Mapping[str, str] = os.environ) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_what_its_comments_say(name: str, folder: Path, service: Service) -> None:
    text = SAMPLES[name]
    inline = re.findall(r"print\(.*\)  # (.*)$", text, re.M)
    below = re.findall(r"^# (.*)$", text, re.M)
    # Readers have the bundled databases, not those of the tests.
    bundled = {"MERIDIAN_URL": os.environ["BUNDLED_URL"], "MERIDIAN_KEY": os.environ["BUNDLED_KEY"]}
    printed = run(folder, name, env={**os.environ, **bundled}).splitlines()
    expected = inline + below
    assert len(expected) > 0
    assert printed[: len(expected)] == expected


@pytest.mark.parametrize("name", ["visit_django.py", "visit_fastapi.py"])
def test_an_application_greets_a_visitor(name: str, folder: Path, service: Service) -> None:
    assert run(folder, name) == "Hello London\n"


def test_all_samples_have_correct_types(folder: Path) -> None:
    assert len(SAMPLES) == len(PROGRAMS) + 3
    run(folder, "-m", "mypy", "--strict", *sorted(SAMPLES))
