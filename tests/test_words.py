"""What users see is plain English with the terms of the field: it is rendered here, and has no banned pattern.

The patterns are `PHRASES` and `MESSAGES` of `tests/vocabulary.py`, which `tests/test_vocabulary.py` tests.  `make
lint` checks the strings of the source with them as well; here they meet whole sentences, as commands, errors,
reports, tables and plots build them.
"""

from __future__ import annotations

import inspect
import re
import warnings

import pandas as pd
import pytest
from matplotlib.text import Text
from typer.main import get_command
from typer.testing import CliRunner

import franchise as fr
from franchise import plots
from franchise.cli import main
from franchise.cli.fit import _announce
from franchise.cli.render import make_console, shared_progress
from franchise.diagnostics.verdict import (
    CONVERGED,
    DISAGREE,
    NAMES,
    NOT_CONVERGED,
    TOO_SHORT,
    USABLE_DRAWS,
    WEAK,
)
from franchise.errors import InputError, warn_renamed
from franchise.report import write_report
from franchise.running.estimate_time import Estimate
from franchise.running.progress import Progress, say_once
from tests import test_input_errors as inputs
from tests.cli.commands import TEXTS
from tests.data.readers import bad_inputs
from tests.plots.cases import mixture, segmented
from tests.report.cases import themes
from tests.support.rendered import (
    Page,
    assert_plain,
    known,
    lines_of,
    plots_of,
    rows_of,
    verdicts_of_all_levels,
)

RUN = CliRunner()
COMMANDS = sorted(get_command(main.app).commands)


# --- commands -----------------------------------------------------------------------------------------------


def help_of(monkeypatch, *arguments):
    monkeypatch.setenv("COLUMNS", "1000")  # every option in one line
    result = RUN.invoke(main.app, [*arguments, "--help"])
    assert result.exit_code == 0
    return lines_of(result.output)


@pytest.mark.parametrize(
    "command", [[], *([name] for name in COMMANDS)], ids=lambda words: " ".join(words) or "all"
)
def test_help(monkeypatch, command):
    lines = help_of(monkeypatch, *command)
    assert len(lines) > 3
    assert_plain(lines)


def test_help_with_a_banned_pattern_is_found(monkeypatch):
    def planted(words: int = 10) -> None:
        """Show what was found, one line a topic."""

    monkeypatch.setattr(main, "app", main.typer.Typer())
    main.app.command()(planted)
    with pytest.raises(AssertionError, match="one line a topic"):
        assert_plain(help_of(monkeypatch))


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A file of texts, the run of a short fit, and what was printed."""
    folder = tmp_path_factory.mktemp("words")
    file = folder / "animals.txt"
    file.write_text("\n".join(TEXTS))
    say_once.cache_clear()  # the choice of the sampler is printed once in a process
    result = RUN.invoke(
        main.app,
        ["fit", str(file), "--out", str(folder / "run"), "--draws", "12", "--warmup", "8", "--chains", "2"],
    )
    assert result.exit_code == 0, result.output
    return str(file), str(folder / "run"), result


def test_fit(fitted):
    _, run, result = fitted
    lines = lines_of(result.stdout)
    assert any(line.startswith("Sampler: direct (auto; ") for line in lines_of(result.stderr))
    assert any(line.startswith("Topics per draw: ") for line in lines)
    assert_plain([line.replace(run, "run") for line in [*lines, *lines_of(result.stderr)]])


@pytest.mark.parametrize(
    "arguments",
    [
        ["topics", "RUN"],
        ["topics", "RUN", "--draw", "0"],
        ["topics", "RUN", "--groups", "1"],
        ["topics", "RUN", "--min-share", "0.01"],
        ["export", "RUN", "--to", "NEW"],
        ["effect", "RUN", "~ 1"],
        ["update", "RUN", "FILE", "--out", "NEW", "--draws", "12", "--warmup", "2"],
        ["infer", "RUN", "FILE"],
        ["evaluate", "RUN", "FILE"],
        ["report", "RUN", "--out", "OUT"],
        ["compare", "FILE", "--samplers", "direct", "--draws", "12", "--warmup", "2", "--chains", "2"],
        ["resume", "RUN"],
        ["generate", "enron", "--dry-run"],
        ["samplers"],
        ["data"],
    ],
    ids=" ".join,
)
def test_what_commands_print(fitted, tmp_path, arguments):
    file, run, _ = fitted
    places = {"RUN": run, "FILE": file, "OUT": str(tmp_path / "report.html"), "NEW": str(tmp_path / "new")}
    result = RUN.invoke(main.app, [places.get(word, word) for word in arguments])
    assert result.exit_code == 0, result.output
    lines = [line.replace(str(tmp_path), "folder") for line in lines_of(result.output)]
    assert lines
    assert_plain(lines)


def test_segments(tmp_path):
    corpus = fr.Corpus.from_texts(TEXTS, sentences="simple")
    posterior = fr.HTMM(2, draws=4, warmup=2, chains=1, progress=False).fit(corpus).posterior_
    posterior.save(tmp_path / "run")
    result = RUN.invoke(main.app, ["segments", str(tmp_path / "run")])
    assert result.exit_code == 0, result.output
    assert any("sentence" in line for line in lines_of(result.output))
    assert_plain([line for line in lines_of(result.output) if "sentence" in line or "Showing" in line])


def test_parameters_in_reports_and_commands(tmp_path):
    counts = fr.Groups([0, 1, 30, 31] * 4, [0, 0, 1, 1] * 4)
    fr.sample(counts, fr.Poisson(), draws=12, warmup=4, progress=False).save(tmp_path / "run")
    result = RUN.invoke(main.app, ["topics", str(tmp_path / "run"), "--parameters"])
    assert result.exit_code == 0, result.output
    assert "rate" in result.output
    assert_plain(lines_of(result.output))
    path = write_report(fr.load(tmp_path / "run"), tmp_path / "report.html")
    assert_plain(Page(path.read_text()).texts)


def test_the_demo(monkeypatch, tmp_path):
    facts = {
        "year": list(range(1900, 1920)),
        "date": [f"{year}-01-01" for year in range(1900, 1920)],
        "president": ["Nobel"] * 20,
        "delivery": ["spoken"] * 20,
    }
    monkeypatch.setattr(
        "franchise.data.datasets.load", lambda *_, **__: fr.Corpus.from_texts(TEXTS, metadata=facts)
    )
    result = RUN.invoke(main.app, ["demo", "--draws", "12", "--warmup", "4", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    text = " ".join(lines_of(result.output))
    assert "State of the Union addresses" in text
    assert "consensus topics" in text
    assert_plain(lines_of(result.output))


def test_progress(monkeypatch, capsys):
    row = {"n_topics": 5.0, "log_likelihood_per_observation": -3.25}
    with Progress(True, 10, [0, 0], 1000, "word") as bars:
        for sweeps in range(11):
            bars.update(sweeps % 2, sweeps, row)
    console = make_console()
    with shared_progress(console) as report:
        report("matching topics across draws", 0.5)
    monkeypatch.setattr("franchise.running.estimate_time.estimate", lambda *_: Estimate(600.0, 2**31))
    _announce(console, fr.sample, inputs.CORPUS, {})
    lines = lines_of(capsys.readouterr().out)
    assert any("5 topics" in line and "nats/word" in line for line in lines)
    assert (
        "Estimated: about 10 minutes and 2.0 GiB of memory. Press Ctrl-C to stop; the run can be resumed."
        in lines
    )
    assert_plain(lines)


# --- the verdict --------------------------------------------------------------------------------------------


def sentences_of(found):
    return [found.sentence, *found.details, *found.table["note"], *map(str, found.table.columns)]


def test_verdicts():
    found = verdicts_of_all_levels()
    levels = {CONVERGED, USABLE_DRAWS, WEAK, NOT_CONVERGED, DISAGREE, TOO_SHORT}
    assert {each.level for each in found} == levels
    assert_plain([sentence for each in found for sentence in sentences_of(each)])


def test_a_verdict_with_a_banned_pattern_is_found(monkeypatch):
    monkeypatch.setitem(NAMES, "log_joint", "what is left of the log joint")
    with pytest.raises(AssertionError, match="what is"):
        test_verdicts()


# --- errors and warnings ------------------------------------------------------------------------------------


def message_of(call):
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


FIXES = (
    "add|apply|check|choose|close|compress|convert|correct|create|decompress|download|drop|fill|fix|increase|lower|make|move|"
    "read|remove|rename|restore|run|set|split|unpack|upgrade|use|write"
)
ALLOWED_OR_FIX = re.compile(
    rf"\b(must|at most|needs|did you mean|is for)\b|(^|[.;:,] )(or |if [^.]*, )?({FIXES})\b", re.IGNORECASE
)


def assert_good_errors(messages):
    """Errors are plain, begin with a name or in lower case, end with a full stop, and name a rule or a fix."""
    assert_plain(messages)
    for name, message in messages.items():
        assert message.endswith((".", "?", '."', ")")), f"{name}: {message}"
        assert not re.match(r"(A|An|The|There|This|It|No|Which|You|Please)\b", message), f"{name}: {message}"
        assert ALLOWED_OR_FIX.search(message), f"{name}: {message}"


@pytest.mark.filterwarnings("ignore:alpha and gamma")
def test_errors_of_arguments():
    calls = {str(number): row[0] for number, row in enumerate(rows_of(inputs.test_wrong_data))}
    for number, row in enumerate(rows_of(inputs.test_priors_that_are_not_positive)):
        calls[f"prior {number}"] = row[0]
    for settings, *_ in rows_of(inputs.test_wrong_arguments):
        calls[str(settings)] = lambda settings=settings: fr.sample(inputs.CORPUS, **settings)
    families = inputs.test_a_family_that_does_not_fit.pytestmark[-1].args[1]
    for row in families:
        data, family, _ = getattr(row, "values", row)
        calls[f"{row}"] = lambda data=data, family=family: fr.sample(data, family, draws=1, warmup=0)
    assert len(calls) > 90
    assert_good_errors({name: message_of(call) for name, call in calls.items()})


def test_errors_of_files(tmp_path):
    messages = {}
    for number, case in enumerate(bad_inputs.CASES):
        folder = tmp_path / str(number)
        folder.mkdir()
        path, options = case.write(folder)
        read = getattr(fr, case.reader)
        messages[f"{case.reader}: {case.name}"] = message_of(
            lambda read=read, path=path, options=options: read(path, **options)
        )
    long = re.compile("x{100,}")
    assert_good_errors({name: long.sub("x", message) for name, message in messages.items()})


def test_an_error_with_a_banned_pattern_is_found():
    good = "x.txt: is not text in utf-8. Set the encoding."
    assert_good_errors({"good": good})
    for bad in (
        f"{good} Leave it out.",
        "x.txt: is not text in utf-8.",
        "There is no text. Use another file.",
    ):
        with pytest.raises(AssertionError):
            assert_good_errors({"bad": bad})


def test_errors_of_commands(fitted, tmp_path, capsys, monkeypatch):
    file, run, _ = fitted
    table = tmp_path / "table.csv"
    table.write_text("g,x\na,1\nb,2\n")
    messages = {}
    for arguments in (
        ["fit", file, "--out", run],
        ["fit", file, "--out", "new", "--n-topics", "4"],
        ["fit", file, "--out", "new", "--family", "poisson"],
        ["fit", file, "--out", "new", "--prior", "many"],
        ["fit", file, "--out", "new", "--set", "prior"],
        ["fit", file, "--out", "new", "--columns", "x"],
        ["fit", file, "--out", "new", "--address", "auto"],
        ["fit", file, "--out", "new", "--model", "htmm", "--family", "poisson"],
        ["fit", file, "--out", "new", "--max-df", "1.5"],
        ["fit", str(table), "--out", "new", "--group", "g"],
        ["topics", str(tmp_path)],
        ["topics", run, "--min-chains", "9"],
        ["evaluate", run, file, "--method", "guess"],
        ["report", run, "--out", str(tmp_path)],
        ["data", "novels"],
        ["segments", run],
        ["topics", run, "--parameters"],
        ["fit", file, "--out", "new", "--draws", "-1"],
        ["fit", file, "--out", "new", "--start", "many"],
        ["fit", file, "--out", "new", "--alpha", "-1"],
        ["reproduce", "novel", "--out", str(table)],
    ):
        monkeypatch.setattr("sys.argv", ["franchise", *arguments])
        with pytest.raises(SystemExit) as ending:
            main.main()
        assert ending.value.code == main.BAD_INPUT, arguments
        messages[" ".join(arguments)] = capsys.readouterr().err.strip().removeprefix("error: ")
    assert_good_errors(messages)


def test_internal_errors(capsys, monkeypatch):
    monkeypatch.setattr("franchise.samplers.registry.sampler_table", lambda: 1 / 0)
    monkeypatch.setattr("sys.argv", ["franchise", "samplers"])
    with pytest.raises(SystemExit):
        main.main()
    assert_plain(lines_of(capsys.readouterr().err))


def test_warnings():
    moves = [fr.moves.DirectAssignment()], [fr.moves.Concentrations()]
    short = {"draws": 1, "warmup": 0, "chains": 1}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for sampler in moves:
            fr.sample(inputs.CORPUS, fr.Categorical(3, fr.Gamma(1.0, 1.0)), sampler=sampler, **short)
        fr.sample(inputs.CORPUS, sampler="direct", draws=10**6, time_limit=1e-9, chains=1)
        fr.HTMM(
            2, inference="em", max_iterations=1, document_prior=1.1, word_prior=1.1, switch_prior=(1.1, 1.1)
        ).fit(TEXTS)
        warn_renamed("posterior.continue_", "posterior.extend")
    messages = [str(each.message) for each in caught]
    assert len(set(messages)) >= 6, messages
    assert_plain(messages)


# --- the report ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [themes, mixture, segmented], ids=lambda make: make.__name__)
def test_reports(make, tmp_path):
    steps = []
    path = write_report(make(), tmp_path / "report.html", progress=lambda what, share: steps.append(what))
    page = Page(path.read_text())
    table = page.data["convergence"]
    assert any("Download tables" in text for text in page.texts)
    assert any("No consensus topic" in text for text in page.strings())
    assert_plain([*page.texts, *page.strings(), *steps])
    assert_plain([*table["columns"], *table["titles"], *(row[-1] for row in table["rows"])])
    assert_plain([trace["title"] for trace in page.data["traces"]])


def test_a_report_with_a_banned_pattern_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr(
        "franchise.report.prose._topics_note", lambda *_: "Sizes are shares, one row a topic."
    )
    with pytest.raises(AssertionError, match="one row a topic"):
        test_reports(mixture, tmp_path)


# --- tables, plots and what is printed of objects -----------------------------------------------------------

ARGUMENTS = {
    "topics_over": ["year"],
    "topics_by_class": ["party"],
    "find_topics": ["apple"],
    "representative_documents": [0],
    "infer": [mixture().data],
    "document_intervals": [0.95],
    "compare": [mixture()],
}
OF_KNOWN = {"known_topics", "known_shares"}
OF_COUNTS = {"topic_parameters"}
OF_MIXTURES = {"topics_over", "topics_by_class", "find_topics", "infer", "stacking_weights", "compare"}


def tables_of(posterior, leave=()):
    """All methods of a posterior that return a table, called."""
    methods = inspect.getmembers(type(posterior), inspect.isfunction)
    hints = {name: inspect.signature(method).return_annotation for name, method in methods}
    names = [name for name, hint in hints.items() if hint == "pd.DataFrame" and not name.startswith("_")]
    owners = {"topic_groups": posterior.reduce_topics(1)}
    references = pd.DataFrame(posterior.component_probabilities().T, index=posterior.data.vocabulary)
    arguments = {**ARGUMENTS, "match_known": [references]}
    return {
        name: getattr(owners.get(name, posterior), name)(*arguments.get(name, []))
        for name in names
        if name not in leave
    }


@pytest.mark.parametrize(
    ("make", "leave"),
    [
        (mixture, OF_KNOWN | OF_COUNTS),
        (segmented, OF_KNOWN | OF_MIXTURES | OF_COUNTS),
        (known, OF_COUNTS),
    ],
)
def test_columns_of_tables(make, leave):
    found = tables_of(make(), leave)
    assert {"topics", "summary", "document_topics", "topic_info", "left_over"} <= set(found)
    assert found.keys() >= OF_KNOWN - leave
    assert_plain_columns(found)


def test_columns_of_parameters_of_counts():
    posterior = fr.sample(fr.Groups([1, 9, 2, 8], [0, 0, 1, 1]), fr.Poisson(), draws=2, warmup=2, chains=1)
    assert_plain_columns({name: getattr(posterior, name)() for name in OF_COUNTS})


def assert_plain_columns(tables):
    for name, table in tables.items():
        headings = [
            *map(str, table.columns),
            *(str(level) for level in table.index.names),
            table.attrs.get("note", ""),
        ]
        assert_plain({f"{name}: {heading}": heading.replace("_", " ") for heading in headings})


def test_columns_of_samplers():
    table = fr.sampler_table()
    assert_plain([*map(str, table.columns), *table["what"]])


def test_plots():
    drawn = plots_of()
    assert set(drawn) == {name for name in plots.__all__ if not name.endswith("_data")}
    for name, figure in drawn.items():
        figure.canvas.draw()
        texts = {text.get_text() for text in figure.findobj(Text)} - {""}
        assert texts, name
        assert_plain({f"{name}: {text}": text for text in texts})


def test_representations():
    corpus = fr.Corpus.from_texts([*TEXTS, ""], sentences="simple", min_df=2)
    objects = [
        corpus,
        corpus.dropped,
        inputs.COUNTS,
        mixture(),
        segmented(),
        mixture().draw(),
        mixture().consensus_topics,
    ]
    score = fr.diagnostics.document_completion(mixture(), mixture().data)
    assert_plain(
        [line for each in [*objects, score] for text in (repr(each), str(each)) for line in lines_of(text)]
    )
