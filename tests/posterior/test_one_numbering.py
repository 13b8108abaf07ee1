"""One numbering of topics: row k is the same topic in every table, plot, command, report and estimator.

A corpus has four themes, whose words and documents begin with a letter of their own. Everything that says something
of topic k shows a letter: that of its words, or of the documents that have most of it.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from importlib import import_module

import numpy as np
import pytest

import franchise as fr
from franchise.cli import render
from franchise.diagnostics import coherence
from franchise.posterior.consensus import Consensus
from franchise.posterior.contract import PosteriorContract
from franchise.posterior.draw import SingleDraw
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.posterior.stored_numbers import Numbering
from franchise.storage.run_directory import RunDirectory
from tests.cli.commands import run

THEMES = "abcd"
SIZES = dict(zip(THEMES, (14, 10, 7, 4), strict=True))  # documents of each theme
NEW = {letter: f"{letter}one {letter}two {letter}three." for letter in THEMES}


def write_texts(folder):
    """Documents of sentences of a single theme, nine of ten of the document's own, with classes and years."""
    rng = np.random.default_rng(0)
    endings = ["one", "two", "three", "four"]
    lines = []
    for theme, count in SIZES.items():
        for place in range(count):
            letters = [theme if rng.random() < 0.9 else rng.choice(list(THEMES)) for _ in range(12)]
            sentences = [
                " ".join(letter + ending for ending in rng.permutation(endings)) for letter in letters
            ]
            text = ". ".join(sentence.capitalize() for sentence in sentences) + "."
            year = 1900 + 10 * THEMES.index(theme)
            lines.append({"id": f"{theme}{place}", "text": text, "class": f"{theme}-class", "year": year})
    path = folder / "texts.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    (folder / "new.txt").write_text("\n".join(NEW.values()))
    return path


class Fitted:
    """A run that the command line has made, what that printed, and the posterior."""

    def __init__(self, model, folder, command):
        self.model, self.folder, self._command, self.options = model, folder, command, []
        options = ["--n-topics", "4"] if model == "htmm" else ["--sampler", "direct", "--start", "4"]
        path = write_texts(folder)
        shown = ["--stop-words", "none", "--draws", "20", "--warmup", "40", "--chains", "2", "--json"]
        self.printed = json.loads(
            self.command("fit", path, "--out", folder / "run", "--model", model, *options, *shown)
        )
        self.posterior = fr.load(folder / "run")

    def set_rules(self, **rules):
        """Turn the numbers that are stored with the run, and have consensus topics under rules from now on."""
        consensus = self.posterior.consensus_topics
        turned = consensus.renumbered(np.roll(np.arange(consensus.topic_count), 1))
        plain = {"draws": Numbering.of(turned.draws, turned.matches).to_plain(), "numbers": [], "labels": []}
        RunDirectory.open(self.folder / "run").change(consensus=plain)
        stored = fr.load(self.folder / "run")
        assert stored.topics()["words"].tolist() != self.posterior.topics()["words"].tolist()
        self.posterior = stored.with_consensus(**rules)
        self.options = [
            part for name, value in rules.items() for part in (f"--{name.replace('_', '-')}", value)
        ]

    def command(self, *arguments):
        """What a command prints."""
        code, out, err = self._command(*arguments, *self.options)
        assert code == 0, err
        return out

    @property
    def estimator(self):
        """The estimator that has these draws."""
        made = fr.HTMM() if self.model == "htmm" else fr.HDP()
        made._read(self.posterior.data, None)
        return made._take_draws(self.posterior)


@pytest.fixture(params=["hdp", "htmm"])
def fitted(request, tmp_path, monkeypatch, capsys):
    return Fitted(request.param, tmp_path, lambda *arguments: run(monkeypatch, capsys, *arguments))


# --- letters ------------------------------------------------------------------------------------------------


def of_words(rows):
    """The letter that most words of every row begin with; a row is a text or a list."""
    listed = [re.findall(r"\w+", row) if isinstance(row, str) else row for row in rows]
    return [Counter(word[0] for word in row).most_common(1)[0][0] for row in listed]


def of_columns(shares, names):
    """For every column, the letter of the documents or classes (rows) that have most of it."""
    shares = np.asarray(shares, float)
    letters = [str(name)[0] for name in names]
    means = np.array([[shares[[own == theme for own in letters]].mean(axis=0)] for theme in THEMES])[:, 0]
    return [THEMES[place] for place in means.argmax(axis=0)]


def numbered(numbers, letters, count):
    """Letters in the order of topics 0, 1, ...; those that are not shown are None."""
    found = dict(zip(numbers, letters, strict=True))
    return [found.get(topic) for topic in range(count)]


# --- everything that shows topics ---------------------------------------------------------------------------


def tables(fitted):
    posterior = fitted.posterior
    topics, count = posterior.topics(), len(posterior.topics())
    names = posterior.data.group_names
    yield "topics", of_words(topics["words"])
    yield "labels", of_words(topics["label"])
    yield "consensus", of_words(posterior.consensus()["words"])
    yield "topic_info", of_words(posterior.topic_info()["relevant"])
    yield "document_topics", of_columns(posterior.document_topics()[list(range(count))], names)
    new = posterior.data.read_new_texts(list(NEW.values()), sentences="simple")
    yield "infer", of_columns(posterior.infer(new)[list(range(count))], list(THEMES))
    yield (
        "representative_documents",
        of_words([posterior.representative_documents(topic)["document"].tolist() for topic in range(count)]),
    )
    found = {letter: posterior.find_topics(f"{letter}one").index[0] for letter in THEMES}
    yield "find_topics", numbered(found.values(), found, count)
    info = posterior.document_info()
    largest = info.groupby("topic")["label"].first()
    yield "document_info labels", numbered(largest.index, of_words(largest), count)
    named = {topic: [name[0] for name in rows.index] for topic, rows in info.groupby("topic")}
    yield "document_info", numbered(named, of_words(named.values()), count)
    over = posterior.topics_over("year")
    yield "topics_over", of_columns(over, [THEMES[(int(year) - 1900) // 10] for year in over.index])
    classes = posterior.topics_by_class("class")
    yield "topics_by_class", of_columns(classes, classes.index)
    yield "chain", of_words(posterior.chain(1).topics()["words"])
    for name, draw in (("draw", posterior.draw()), ("draw of a chain", posterior.draw(0))):
        own = draw.topics().dropna(subset="topic")
        yield name, numbered(own["topic"], of_words(own["words"]), count)
    words = posterior.consensus_topics.words_of(range(count))
    yield "words with intervals", of_words([words[topic]["word"].tolist() for topic in range(count)])
    yield "known topics", of_words(fr.KnownTopics.from_posterior(posterior).names)
    matched = fr.match_fits(posterior, posterior)
    yield "match_fits", numbered(matched["topic"], of_words(matched["other_words"]), count)
    rows = [row.split() for row in topics["words"]]
    np.testing.assert_allclose(coherence(posterior, words=10), coherence(rows, posterior.data))


def of_sentences(fitted):
    if fitted.model == "htmm":
        table = fitted.posterior.sentence_topics()
        table = table[table["topic"] >= 0]
        letters = {topic: rows["text"].str.lower().tolist() for topic, rows in table.groupby("topic")}
        count = fitted.posterior.consensus_topics.topic_count
        yield "sentence_topics", numbered(letters, of_words(letters.values()), count)


def plots(fitted):
    posterior, count = fitted.posterior, fitted.posterior.consensus_topics.topic_count
    shown = fr.plots.topic_words_data(posterior)
    yield (
        "plots.topic_words",
        numbered([each.topic for each in shown], of_words([each.words for each in shown]), count),
    )
    yield (
        "plots.topic_map",
        of_words([name.split(":")[1] for name in fr.plots.topic_map_data(posterior).names]),
    )
    similar = fr.plots.similarity_data(posterior)
    labels = [name.split(":")[1] for name in similar.names]
    yield (
        "plots.similarity",
        numbered([int(name.split(":")[0]) for name in similar.names], of_words(labels), count),
    )
    pictures = fr.plots.pictures_data(posterior)
    letters = [
        [posterior.data.vocabulary[word] for word in np.argsort(-picture.ravel())[:3]]
        for picture in pictures.pictures
    ]
    yield "plots.pictures", numbered(pictures.topics, of_words(letters), count)
    trends = fr.plots.over_time_data(posterior, "year")
    labels = [name.split(":")[1] for name in trends.names]
    yield "plots.over_time", numbered(trends.topics, of_words(labels), count)
    strips = [fr.plots.document_strip_data(posterior, f"{letter}0") for letter in THEMES]
    largest = [next(iter(strip.names)) for strip in strips]
    yield "plots.document_strip", numbered(largest, THEMES, count)
    if fitted.model == "htmm":
        first = [fr.plots.segments_data(posterior, f"{letter}0").topics[0] for letter in THEMES]
        yield "plots.segments", numbered(first, THEMES, count)


def commands(fitted):
    folder, count = fitted.folder, fitted.posterior.consensus_topics.topic_count
    for name, rows in (
        ("franchise fit", fitted.printed["topics"]),
        ("franchise topics", json.loads(fitted.command("topics", folder / "run", "--json"))),
    ):
        yield name, numbered([row["topic"] for row in rows], of_words([row["words"] for row in rows]), count)
    fitted.command("topics", folder / "run", "--documents", folder / "documents.csv")
    with (folder / "documents.csv").open() as file:
        rows = list(csv.DictReader(file))
    shares = [[float(row[str(topic)]) for topic in range(count)] for row in rows]
    yield "franchise topics --documents", of_columns(shares, [row["document"] for row in rows])
    rows = json.loads(fitted.command("infer", folder / "run", folder / "new.txt", "--json"))
    shares = [[row[str(topic)] for topic in range(count)] for row in rows]
    yield "franchise infer", of_columns(shares, list(THEMES))
    rows = json.loads(fitted.command("topics", folder / "run", "--draw", "1", "--json"))
    rows = [row for row in rows if row["topic"] is not None]
    yield (
        "franchise topics --draw",
        numbered([row["topic"] for row in rows], of_words([row["words"] for row in rows]), count),
    )


def report(fitted):
    fitted.command("report", fitted.folder / "run", "--out", fitted.folder / "report.html")
    page = (fitted.folder / "report.html").read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
    yield "report words", of_words([row["words"] for row in data["topics"]])
    yield "report labels", of_words([row["label"] for row in data["topics"]])
    shown, count = data["documents"]["list"], len(data["topics"])
    shares = np.zeros((len(shown), count))
    for row, document in zip(shares, shown, strict=True):
        row[document["shares"][::2]] = document["shares"][1::2]
    yield "report documents", of_columns(shares, [document["name"] for document in shown])


def estimators(fitted):
    model, count = fitted.estimator, fitted.posterior.consensus_topics.topic_count
    assert model.n_topics_ == count
    assert model.get_feature_names_out().tolist() == [*(f"topic{topic}" for topic in range(count)), "other"]
    best = np.argsort(-model.components_, axis=1)[:, :3]
    vocabulary = fitted.posterior.data.vocabulary
    yield "components_", of_words([[vocabulary[word] for word in row] for row in best])
    yield "estimator.topics", of_words(model.topics()["words"])
    yield (
        "estimator.document_topics",
        of_columns(model.document_topics()[list(range(count))], fitted.posterior.data.group_names),
    )
    yield "transform", of_columns(model.transform(list(NEW.values()))[:, :count], list(THEMES))


def disagreements(fitted):
    """What numbers topics in another way than ``posterior.consensus_topics`` does, with the letters it shows."""
    expected = of_words(fitted.posterior.consensus_topics.top_words(5))
    found = {}
    for part in (tables, of_sentences, plots, commands, report, estimators):
        for name, letters in part(fitted):
            if any(letter not in (None, wanted) for letter, wanted in zip(letters, expected, strict=True)):
                found[name] = (letters, expected)
            assert sum(letter is not None for letter in letters) >= len(THEMES), name
    return found


def test_row_k_is_the_same_topic_everywhere(fitted):
    assert set(of_words(fitted.posterior.topics()["words"])) == set(THEMES)
    assert disagreements(fitted) == {}


def test_row_k_is_the_same_topic_everywhere_under_rules(tmp_path, monkeypatch, capsys):
    fitted = Fitted("hdp", tmp_path, lambda *arguments: run(monkeypatch, capsys, *arguments))
    fitted.set_rules(merge_cosine=0.95, min_draws=0.5)
    assert disagreements(fitted) == {}


# --- it would be noticed ------------------------------------------------------------------------------------


def rolled(function, axis=0, keep=0):
    """The function with its result turned by one topic; the last `keep` columns stay."""

    def other(*arguments, **options):
        result = np.array(function(*arguments, **options))
        end = result.shape[axis] - keep
        order = [*np.roll(np.arange(end), 1), *range(end, result.shape[axis])]
        return np.take(result, order, axis=axis)

    return other


def first_last(function):
    def other(*arguments, **options):
        return list(function(*arguments, **options))[::-1]

    return other


PLANTED = {
    "document_topics": (Consensus, "document_shares", lambda f: rolled(f, axis=1, keep=1)),
    "infer": (PosteriorContract, "infer_shares", lambda f: rolled(f, axis=2, keep=1)),
    "draw": (SingleDraw, "_consensus_numbers", rolled),
    "plots.topic_map": (import_module("franchise.plots.topic_map"), "names_of", first_last),
    "franchise topics": (
        render,
        "rows_of",
        lambda f: lambda table: f(table.iloc[::-1].set_axis(table.index)),
    ),
    "components_": (HDPPosterior, "component_probabilities", rolled),
}


@pytest.mark.parametrize("surface", PLANTED)
def test_a_planted_permutation_is_caught(surface, tmp_path, monkeypatch, capsys):
    fitted = Fitted("hdp", tmp_path, lambda *arguments: run(monkeypatch, capsys, *arguments))
    where, name, change = PLANTED[surface]
    monkeypatch.setattr(where, name, change(getattr(where, name)))
    assert surface in disagreements(fitted)
