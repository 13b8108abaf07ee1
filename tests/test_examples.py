"""The examples run as they stand, as a user would run them, and print what they promise."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name: str) -> str:
    finished = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", str(EXAMPLES / name)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.mark.slow
def test_three_lines_finds_topics():
    output = run("three_lines.py")
    assert "share" in output
    assert len(output.splitlines()) == 22
    assert re.search(r"treaty|treasury|army", output)


@pytest.mark.slow
def test_ants_stand_beside_the_report():
    output = run("ants.py")
    rows = re.findall(r"^ +(\d+) +(\d+) +(\d+)$", output, re.MULTILINE)
    assert sum(int(ours) for _, ours, _ in rows) == 450
    assert sum(int(theirs) for _, _, theirs in rows) == 450
    chances = {
        name: float(value) for name, value in re.findall(r"(control|temperature|any two) +([\d.]+)", output)
    }
    assert chances["control"] > chances["any two"]
    assert chances["temperature"] > chances["any two"]


@pytest.mark.slow
def test_own_moves_agree_with_a_named_sampler():
    figures = re.findall(r"([\d.]+) topics, Monte Carlo error ([\d.]+)", run("own_moves.py"))
    (one, error), (other, other_error) = [(float(mean), float(error)) for mean, error in figures]
    assert abs(one - other) < 4 * (error**2 + other_error**2) ** 0.5


def test_every_example_is_tested():
    mine = Path(__file__).read_text()
    assert all(f'run("{example.name}")' in mine for example in EXAMPLES.glob("*.py"))


@pytest.mark.slow
def test_similar_topics_are_told_apart_sooner_by_split_merge():
    output = run("similar_topics.py")
    found = output.replace("not in 100 sweeps", "from sweep 101 on")  # at the earliest
    sweeps = [int(sweep) for sweep in re.findall(r"from sweep (\d+) on", found)]
    assert len(sweeps) == 2
    assert sweeps[1] < sweeps[0]


@pytest.mark.slow
def test_hidden_markov_recovers_the_parameters():
    output = run("hidden_markov.py")
    rows = re.findall(r"^[ab]\d\d +([\d.]+) +[\d.]+ +([\d.]+) +([\d.]+)$", output, re.MULTILINE)
    assert len(rows) == 10
    for true, ours, error in rows:
        assert 0 < float(error) < 0.05
        assert abs(float(ours) - float(true)) < 4 * float(error)
    first_state = re.findall(r"^pi\d +[\d.]+ +[\d.]+ +([\d.]+)$", output, re.MULTILINE)
    assert sorted(first_state) == ["0.0000", "1.0000"]
    (reached,) = re.findall(r"(-[\d.]+) at the start, (-[\d.]+) after (\d+) iterations", output)
    start, end, iterations = reached
    assert float(start) == pytest.approx(-11129, abs=25)  # mean and 4 standard deviations over 20 data sets
    assert float(end) == pytest.approx(-10375, abs=130)
    assert 100 < int(iterations) < 1000
    assert "states came out in the other order" in output
    standing_for = [int(count) for count in re.findall(r"would be that of (\d+) observations", output)]
    assert len(standing_for) == 2
    assert all(960 < count < 1040 for count in standing_for)
    fitted, true = (float(share) for share in re.findall(r"parameters finds ([\d.]+) of the states", output))
    assert true > 0.78
    assert abs(fitted - true) < 0.01
    assert all(float(total) > 1.5 for total in re.findall(r"sum to ([\d.]+) and ([\d.]+)\.", output)[0])


@pytest.mark.slow
def test_latent_variable_agrees_with_the_exact_posterior():
    output = run("latent_variable.py")
    signed, absolute = output.split("|theta|", 1)
    for part in (signed, absolute):
        ours = [float(figure) for figure in re.findall(r"changes of sign +(.*)", part)[0].split()]
        exact = [float(figure) for figure in re.findall(r"exact +(-?\d.*)", part)[0].split()]
        mean, median, low, high, negative, error = ours
        assert 0 < error < 0.05
        assert abs(mean - exact[0]) < 4 * error
        assert [median, low, high] == pytest.approx(exact[1:4], abs=0.25)
        assert negative == pytest.approx(exact[4], abs=0.02)
    assert [float(row.split()[4]) for row in re.findall(r"Gibbs from -?1 +(.*)", signed)] == [1, 0]
    stuck, mixed = re.findall(r"([\d.]+) for theta, ([\d.]+) for \|theta\|", output)[0]
    assert float(stuck) > 1.5
    assert float(mixed) < 1.02
    exact_width, known_width = re.findall(r"exact ([\d.]+), with z known ([\d.]+)", output)[0]
    assert float(exact_width) > 4 * float(known_width)


@pytest.mark.slow
def test_two_gaussians_tell_the_right_conditional_from_the_printed_one():
    output = run("two_gaussians.py")
    exact = [float(mean) for mean in re.findall(r"exact +([\d.]+)", output)]
    for name, is_right in (("right", True), ("printed", False)):
        rows = re.findall(rf"{name} +([\d.]+) \(([\d.]+)\)", output)
        assert len(rows) == len(exact) == 2
        for (mean, error), truth in zip(rows, exact, strict=True):
            away = abs(float(mean) - truth) / float(error)
            assert away < 4 if is_right else away > 50
    for k, truth in enumerate(exact, start=1):  # with labels unknown, too: the components hardly overlap
        (row,) = re.findall(rf"^tau_{k} .*", output, re.MULTILINE)
        _, as_printed, right = (float(mean) for mean in re.findall(r"([\d.]+) \(", row))
        assert right == pytest.approx(truth, rel=0.03)
        assert as_printed > 1.1 * truth
    variances = re.findall(r"^  (?:printed|right) +([\d.]+) and ([\d.]+)$", output, re.MULTILINE)
    as_printed, right = ([float(one), float(other)] for one, other in variances)
    assert as_printed == pytest.approx([8.6, 8.6], abs=0.05)
    assert right == pytest.approx([6.6, 6.6], abs=0.05)


@pytest.mark.slow
def test_parts_of_a_speech_are_found():
    output = run("segments.py")
    rows = re.findall(r"^ *(\d+) - +(\d+)   ([\d.]+)   (.+)$", output, re.MULTILINE)
    assert len(rows) == 8
    assert all(int(begin) < int(end) for begin, end, _, _ in rows)
    assert all(int(one[1]) < int(other[0]) for one, other in itertools.pairwise(rows))
    assert min(float(sure) for _, _, sure, _ in rows) > 0.5
    words = " ".join(words for *_, words in rows)
    assert "forest" in words
    assert "corporations" in words


@pytest.mark.slow
def test_topics_that_chains_agree_on_are_understood():
    output = run("understanding.py")
    (topics, everywhere) = re.findall(
        r"Consensus\((\d+) topics over 90 draws of 3 chains; (\d+) in all", output
    )[0]
    assert 3 <= int(everywhere) < int(topics)
    (topic, label) = re.findall(r"Silver is of topic (\d+), '(.*)', with probability", output)[0]
    assert "gold" in label
    assert int(topic) < 10
    rows = re.findall(r"^ *(\w+) +([\d.]+) ([\d.]+) ([\d.]+) +[\d.]+$", output, re.MULTILINE)
    assert len(rows) == 5
    assert all(float(low) < float(mean) < float(high) for _, mean, low, high in rows)
    assert len(re.findall(r"paragraph \d+ \(\d+%\): .*gold", output)) == 2
    shares = [float(share) for share in re.findall(r"^\d{4} to \d{4}  ([\d.]+)", output, re.MULTILINE)]
    assert shares[0] > shares[1] > shares[2]  # after the panic of 1893 it was talked about less and less


@pytest.mark.slow
def test_topics_in_a_pipeline():
    output = run("pipeline.py")
    rows = re.findall(r"^  ([\d.]+) +(-[\d.]+)$", output, re.MULTILINE)
    scores = {float(prior): float(score) for prior, score in rows}
    assert scores.keys() == {0.02, 0.1, 0.5}
    assert min(scores, key=scores.get) == 0.5
    assert all(-6.2 < score < -5.4 for score in scores.values())
    assert "topic0  topic1  topic2" in output
    assert re.search(r"2002-01-29 George W. Bush, paragraph 1 +\d", output)
    (right,) = re.findall(r"(\d+)% right", output)
    assert int(right) > 56  # 55 % for the larger party
