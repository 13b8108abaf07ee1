"""What users see, as texts: lines of output, pages of reports, verdicts on built chains, plots."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd

import franchise as fr
from franchise import plots
from franchise.data.channels import CHANNELS
from franchise.diagnostics.verdict import verdict_on
from tests.diagnostics import test_verdict as traces
from tests.plots.cases import mixture, segmented
from tests.posterior.making import posterior_of
from tests.vocabulary import banned_in_message


def assert_plain(texts):
    """Every text of a mapping, or of a list, is free of banned patterns."""
    named = texts.items() if isinstance(texts, dict) else ((text, text) for text in texts)
    assert named
    found = [f"{name}: {what}" for name, text in named for what in banned_in_message(text)]
    assert not found, "\n".join(found)


def lines_of(output):
    """The lines of what a command prints, without the frames of tables and panels."""
    lines = [" ".join(re.sub(r"[^\x00-\u2000…±“”]", " ", line).split()) for line in output.splitlines()]
    return [line for line in lines if line]


def rows_of(test):
    """The arguments that a test is parametrised with."""
    return [getattr(row, "values", row) for mark in test.pytestmark for row in mark.args[1]]


def verdicts_of_all_levels():
    drift = np.linspace(0.0, 8.0, 200)
    apart = traces.trace_of(np.repeat([[12], [15]], 100, axis=1), traces.chains_of(2, 100))
    missing = {**traces.good_trace(), "gamma": np.full((4, 300), np.nan)}
    return [
        traces.judge(traces.good_trace(draws=1000)),
        traces.judge({"log_joint": traces.chains_of(4, 400, mean=[0.0, 0.0, 0.0, 0.4])}),
        traces.judge(traces.good_trace(chains=1, draws=1000), "The sampler 'finite' approximates the HDP."),
        verdict_on(traces.good_trace(draws=1000)),
        traces.judge(
            traces.trace_of(traces.chains_of(4, 200, mean=12.0) - drift, traces.chains_of(4, 200) + drift)
        ),
        traces.judge({"log_joint": traces.chains_of(4, 400, mean=[0.0, 0.0, 1.2, 1.2])}),
        traces.judge(apart),
        traces.judge({**missing, "n_large_topics": np.full((4, 300), 8.0)}),
        traces.judge({"log_joint": traces.chains_of(4, 400, correlation=0.95)}),
        traces.judge(traces.good_trace(draws=3)),
        traces.judge({"n_topics": np.full((3, 50), 7)}),
        traces.two_modes().verdict(),
        traces.two_modes().verdict(compare=True),
        mixture().verdict(),
    ]


def known():
    """A posterior with one known topic, of fruit."""
    data = mixture().data
    family = fr.KnownTopics.from_words({"fruit": ["apple", "pear"]}, data.vocabulary)
    return posterior_of(data, [[np.zeros(data.n_observations, np.int64)] * 4] * 2, family)


def plots_of():
    """Every plot, drawn."""
    return {
        "exposures": plots.exposures(mixture()),
        "document_strip": plots.document_strip(mixture(), 0),
        "effects": plots.effects(mixture().effect("~ year"), "year"),
        "joint_path": plots.joint_path(mixture()),
        "n_topics": plots.n_topics(mixture(n_topics=((3, 3, 4, 3), (3, 3, 3, 3)))),
        "over_time": plots.over_time(mixture(), "year"),
        "pictures": plots.pictures(mixture()),
        "ranks": plots.ranks(mixture()),
        "segments": plots.segments(segmented(), 0),
        "signature": plots.signature(pd.DataFrame({"flat": 1 / 83}, index=list(CHANNELS["ID83"]))),
        "similarity": plots.similarity(mixture()),
        "topic_map": plots.topic_map(mixture()),
        "topic_tree": plots.topic_tree(mixture(), groups=2),
        "topic_words": plots.topic_words(mixture()),
        "traces": plots.traces(mixture(), list(mixture().trace)),
    }


class Page(HTMLParser):
    """The texts and labels of a page, its data, and the strings of its script."""

    def __init__(self, page):
        super().__init__()
        self.texts, self.data, self.script, self._tag = [], {}, "", ""
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self._tag = "data" if given.get("id") == "data" else tag
        self.texts += [given[name] for name in ("aria-label", "placeholder", "title") if given.get(name)]

    def handle_endtag(self, tag):
        self._tag = ""

    def handle_data(self, text):
        if self._tag == "data":
            self.data = json.loads(text)
        elif self._tag == "script":
            self.script += text
        elif self._tag != "style" and text.strip():
            self.texts.append(text)

    def strings(self):
        """The literals of the script that have several words, with 1 for every value in them."""
        lines = [line for line in self.script.splitlines() if not line.lstrip().startswith("//")]
        found = [text for line in lines for text in re.findall(r'"[^"]*"|`[^`]*`', line) if " " in text]
        return [re.sub(r"\$\{[^{}]*\}", "1", text) for text in found]
