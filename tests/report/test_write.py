"""The file: safe, the same for the same seed, in words, and refused where it cannot be written."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import franchise as fr
from franchise.cli.render import size_sentence
from franchise.errors import InputError
from franchise.report import write_report
from franchise.report.chains import topic_counts
from franchise.report.write import as_json
from tests.cli.commands import run
from tests.plots.cases import mixture, points
from tests.report import cases


def data_in(path):
    """The data of a page."""
    return json.loads(re.search(r'id="data">(.*?)</script>', path.read_text(), re.S)[1])


def test_no_tag_can_begin_in_json():
    nasty = ["</script>", "<!--", "-->", "\u2028", "&amp;", '"', "\\"]
    written = as_json(nasty)
    assert not set("<>&") & set(written)
    assert json.loads(written) == nasty


def test_nothing_of_the_data_is_markup(tmp_path):
    page = write_report(cases.nasty(), tmp_path / "report.html", title=cases.SCRIPT).read_text()
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert cases.IMAGE not in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


def test_the_policy_allows_no_request(tmp_path):
    page = write_report(points(), tmp_path / "report.html").read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1].replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


def test_the_same_posterior_gives_the_same_file(tmp_path):
    themes = cases.themes()
    first = write_report(themes, tmp_path / "one.html", documents=20)
    again = write_report(themes, str(tmp_path / "two.html"), documents=20)
    other = write_report(themes, tmp_path / "three.html", documents=20, seed=1)
    assert first.read_bytes() == again.read_bytes()
    assert first.read_bytes() != other.read_bytes()
    assert len(data_in(first)["documents"]["list"]) == 20
    assert "20 of 24 documents are in this page" in first.read_text()


def test_texts_that_are_no_unicode_are_written(tmp_path):
    from franchise import Corpus

    data = Corpus.from_tokens([["a\ud800", "b", "c"]] * 3, names=["\udfff", "x", "y"])
    labels = cases.labels_of(data, topic_of={"b": 1}, topics=2)
    path = write_report(
        mixture(data=data, labels=labels, n_topics=cases.numbers(), **cases.joint()), tmp_path / "r.html"
    )
    assert data_in(path)["documents"]["list"][0]["name"] == "?"


def test_numbers_of_topics_by_chain():
    found = topic_counts(mixture(n_topics=[[2, 3, 3, 5], [5, 5, 5, 5]]))
    assert found["names"] == ["2", "3", "4", "5"]
    assert found["chains"] == [[0.25, 0.5, 0, 0.25], [0, 0, 0, 1]]
    wide = topic_counts(mixture(n_topics=[[1, 100, 240, 240]] * 2))
    assert wide["names"][0] == "1–4"
    assert len(wide["names"]) == 60
    assert np.sum(wide["chains"]) == pytest.approx(2.0)


SENTENCES = [[["a", "b"], ["c", "d"], ["a", "c"]], [["c", "d"], ["d", "d"], ["b"]]] * 4


@pytest.mark.parametrize("given", [2, None])
def test_a_given_number_of_topics_was_not_learned(given, tmp_path):
    options = {"draws": 8, "warmup": 5, "chains": 2, "progress": False}
    posterior = fr.HTMM(given, **options).fit(fr.Corpus.from_sentences(SENTENCES)).posterior_
    page = write_report(posterior, tmp_path / "report.html").read_text()
    assert posterior.given_topics == given
    assert ("The number of topics was given: 2." in page) == (given is not None)
    assert ("2 topics (a given number)" in page) == (given is not None)
    assert ("2 (given)" in repr(posterior)) == (given is not None)
    assert ("2 (given)" in size_sentence(posterior)) == (given is not None)
    if given is not None:
        assert "inferred" not in page
        assert "learned" not in page


def test_priors_are_beside_posteriors(tmp_path):
    corpus = fr.Corpus.from_tokens([["a", "b", "c"], ["d", "b", "d"]] * 5)
    family, options = fr.Categorical(4, fr.Gamma(2, 3)), {"draws": 8, "warmup": 5, "progress": False}
    posterior = fr.sample(corpus, family, gamma=0.7, **options)
    assert posterior.priors == {"alpha": fr.Gamma(0.5, 0.01), "prior": fr.Gamma(2, 3)}
    page = write_report(posterior, tmp_path / "report.html").read_text()
    assert "prior Gamma(0.5, 0.01), 90% interval 0.197 to 192; posterior 90% interval" in page
    assert "prior Gamma(2, 3), 90% interval 0.118 to 1.58; posterior 90% interval" in page
    assert "Gamma(1, 1)" not in page


@pytest.mark.parametrize(
    ("path", "settings", "said"),
    [
        (".", {}, "is a folder"),
        (3, {}, "path must be the name of a file"),
        ("x.html", {"documents": 0}, "documents must be a whole number, 1 or more"),
        ("x.html", {"title": 3}, "title must be text"),
        ("x.html", {"seed": -1}, "seed must be"),
    ],
)
def test_what_cannot_be_done_is_said_at_once(path, settings, said, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=said):
        write_report(points(), path, **settings)
    assert list(tmp_path.iterdir()) == []


def test_only_posteriors_have_reports(tmp_path):
    with pytest.raises(InputError, match="posterior must be what"):
        write_report("run", tmp_path / "report.html")


def test_the_command_writes_a_report(monkeypatch, capsys, tmp_path):
    import franchise as fr

    posterior = fr.sample(
        fr.Corpus.from_texts(["a cat sat", "a dog ran", "cat and dog"]), draws=3, warmup=1, chains=2
    )
    posterior.save(tmp_path / "run")
    page = tmp_path / "new" / "page.html"
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    code, out, _ = run(
        monkeypatch, capsys, "report", tmp_path / "run", "--out", page, "--title", "Pets", "--open"
    )
    assert code == 0
    assert str(page) in out.replace("\n", "")
    assert "Too few draws to assess convergence" in out
    assert opened == [page.as_uri()]
    assert "<title>Pets</title>" in page.read_text()
    code, out, _ = run(monkeypatch, capsys, "report", tmp_path / "run", "--out", page, "--quiet")
    assert (code, out.strip()) == (0, str(page))
    assert run(monkeypatch, capsys, "report", tmp_path / "nowhere")[0] == 2
