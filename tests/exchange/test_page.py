"""The page of a session."""

import base64
import hashlib
import re
from pathlib import Path

from haytham import CheckpointManager, ProjectManager
from haytham.exchange import charts
from haytham.session.handle import Session
from tests.documents.test_markup import ATTACKS, Seen
from tests.evidence import PROJECT, SESSION, USER, snapshot
from tests.exchange.conftest import AT

ATTACK = '"><script>alert(1)</script><img src=x onerror=alert(1)>'


def text_of(manager: CheckpointManager, tmp_path: Path) -> str:
    """Returns the page of the session."""
    path = tmp_path / "page.html"
    path.unlink(missing_ok=True)
    manager.export_page(*AT, path)
    return path.read_text(encoding="utf-8")


def test_page_tells_the_session(manager: CheckpointManager, session: Path, tmp_path: Path) -> None:
    """Phases, outputs as they are meant, decisions with what was asked for, figures, every commit."""
    text = text_of(manager, tmp_path)
    assert "<h4>Concept</h4>\n<p>A <em>night desk</em>.</p>" in text
    assert "Second attempt, with sources" in text
    assert "attempt 2, 2m, 1,500 tokens" in text.replace("2m 0s", "2m")
    assert "<li>name your sources</li>" in text
    assert "<p>good</p>" in text
    assert ">$0.0375</text>" in text
    assert text.count('<li class="day">') == 1
    for entry in manager.history(*AT):
        assert f"<code>{entry.id[:7]}</code>" in text
    assert "Nothing yet." in text


def test_page_changes_nothing_and_is_the_same_again(manager: CheckpointManager, session: Path, tmp_path: Path) -> None:
    """Looking is not touching, and the same session gives the same page."""
    first = text_of(manager, tmp_path)
    before = snapshot(session)
    assert first == text_of(manager, tmp_path)
    assert before == snapshot(session)
    record = Session(manager, *AT).export_page(tmp_path)
    assert record["path"] == str(tmp_path / f"{SESSION}.html")
    assert Path(record["path"]).read_text(encoding="utf-8") == first


def test_page_loads_and_runs_nothing(manager: CheckpointManager, session: Path, tmp_path: Path) -> None:
    """The policy forbids all but the page's own style, and there is nothing that it would have to stop."""
    text = text_of(manager, tmp_path)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert f'content="{policy.replace(chr(39), "&#39;")}"' in text
    assert "url(" not in style[1]
    assert "@import" not in style[1]
    names = {name for _, name, _ in Seen(text).attributes}
    assert set() == {name for name in names if name.startswith("on") or name in {"src", "style", "srcset", "action"}}


def test_hostile_texts_stay_texts(manager: CheckpointManager, tmp_path: Path) -> None:
    """Whatever a model, a reviewer or a file name brings along, the page has no element that it would not have."""
    manager.create_session(*AT, f"{USER} {ATTACK}")
    output = "\n\n".join([*ATTACKS, ATTACK, "\x00\x1b[31m\u202e"])
    agent = {"agent_name": "concept_expansion", "output_content": output, "model": ATTACK}
    manager.complete_phase(*AT, 1, [agent])
    manager.save_user_feedback(
        *AT, 1, reviewed=True, approved=False, comments=output, action="retry_with_changes", requested_changes=[ATTACK]
    )
    manager.save_checkpoint(*AT, 1, "failed", [], errors=[ATTACK])
    text = text_of(manager, tmp_path)
    seen = Seen(text)
    assert set() == seen.tags & {"script", "img", "iframe", "form", "input", "object", "embed", "base", "link"}
    assert text.count("<style") == text.count("<body") == text.count("<title") == 1
    assert set() == {name for _, name, _ in seen.attributes if name.startswith("on") or name in {"src", "style"}}
    addresses = {value for _, name, value in seen.attributes if name == "href" and not value.startswith("#phase-")}
    assert all(each.startswith(("https://", "http://", "mailto:")) for each in addresses)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
    assert PROJECT in text


def test_chart_of_nothing_is_none() -> None:
    """Figures that nobody reported make no chart; one that is missing among others has no bar."""
    assert charts.chart("Cost", [("1", None), ("2", 0)], str) is None
    made = charts.chart("Cost", [("1", None), ("2", 4.0), ("3", 1.0)], str)
    assert made
    assert [(bar.figure, bar.width) for bar in made.bars] == [("-", 0.0), ("4.0", 160.0), ("1.0", 40.0)]


def test_page_of_a_completed_session(tmp_path: Path) -> None:
    """It is called as the project is, tells the idea and the result; what never ran did not, and nothing is guessed."""
    projects = ProjectManager(tmp_path / "projects")
    project = projects.create_project(USER, "Rent out <b>plots</b>", "Plots")["project_id"]
    session = projects.start_session(project)["session_id"]
    projects.sessions.complete_phase(project, session, 1, [{"agent_name": "writer", "output_content": "text"}])
    projects.complete_session(project, session, f"# The end\n\n{ATTACK}")
    projects.sessions.export_page(project, session, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert '<h1 dir="auto">Plots</h1>\n<p dir="auto">Rent out &lt;b&gt;plots&lt;/b&gt;</p>' in text
    assert "<h4>The end</h4>" in text
    assert "<code>outputs/requirements_v1.md</code>" in text
    assert "<script" not in text
    assert (text.count('<span class="badge plain">not run</span>'), "pending" in text) == (8, False)
    assert "<dt>Tokens</dt><dd>-</dd>" in text
    assert "<dt>Cost</dt><dd>-</dd>" in text
