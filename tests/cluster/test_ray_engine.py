"""The engine Ray: the same draws as on threads, on any number of actors, whoever dies."""

import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import franchise as fr
from franchise.cluster.actor_pool import Placement, placements_for
from franchise.cluster.remote_chain import RemoteChain, wait_until_seen
from franchise.errors import InputError
from franchise.running.chain_run import StopSignal
from franchise.running.kept_draws import LazyDraw

DATA = fr.synthetic.planted_topics(1, 500, 2000, 8, median_length=80, topic_concentration=50.0).data
SETTINGS = {"draws": 6, "warmup": 10, "chains": 2, "seed": 3, "keep_labels": True, "progress": False}


def draw(sampler, engine=None, **more):
    family = fr.Categorical(DATA.vocabulary_size, 0.1)
    return fr.sample(DATA, family, sampler=sampler, engine=engine, **{**SETTINGS, **more})


def assert_same(one, other):
    assert set(one.trace) == set(other.trace)
    for name in set(one.trace) - {"seconds"}:
        assert np.array_equal(one.trace[name], other.trace[name], equal_nan=True), name
    if one.labels is not None:
        assert np.array_equal(one.labels, other.labels)
    for kept, again in zip(one.snapshots, other.snapshots, strict=True):
        for chain, same in zip(kept, again, strict=True):
            assert np.array_equal(chain.labels, same.labels)
            assert np.array_equal(chain.tables_per_topic, same.tables_per_topic)


# --- the same draws -----------------------------------------------------------------------------------------


def test_two_nodes(cluster):
    assert_same(draw("parallel"), draw("parallel", fr.engines.Ray(actors=2)))


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["parallel", "finite", "slice"])
def test_samplers_on_any_number_of_actors(cluster, sampler):
    expected = draw(sampler)
    for actors in (1, 2, 4):
        assert_same(expected, draw(sampler, fr.engines.Ray(actors=actors)))


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["parallel", "direct", "crf"])
def test_trees_of_groups(cluster, sampler, tmp_path):
    """On any number of actors, and resumed on threads."""
    parties = [(f"party {number % 3}", f"speaker {number % 20}") for number in range(DATA.n_documents)]
    tree = fr.Corpus(DATA.observations, DATA.offsets, DATA.vocabulary, groups=parties)
    plan = {"sampler": sampler, **SETTINGS}
    expected = fr.sample(tree, **plan)
    assert "alpha[level 2]" in expected.trace
    run = tmp_path / "run"
    assert_same(
        fr.sample(tree, **{**plan, "draws": 3}),
        fr.sample(tree, **{**plan, "draws": 3}, engine=fr.engines.Ray(actors=2), run_dir=run),
    )
    shutil.copytree(run, tmp_path / "copy")
    assert_same(expected, fr.resume(run, 6, progress=False))
    assert_same(expected, fr.resume(tmp_path / "copy", 6, engine=fr.engines.Ray(actors=3), progress=False))


@pytest.mark.slow
@pytest.mark.parametrize("first", [None, "ray"])
def test_an_update(cluster, first):
    """From chains on threads or on actors, over old and new documents on actors."""
    texts = [f"w{number % 7} w{number % 5} w{number % 11}" for number in range(400)]
    corpus = fr.Corpus.from_texts(texts[:300], min_df=1)
    plan = {"draws": 4, "warmup": 4, "progress": False}
    ray = fr.engines.Ray(actors=2)
    begun = fr.sample(corpus, sampler="parallel", chains=2, engine=first and ray, **plan)
    expected = fr.sample(corpus, sampler="parallel", chains=2, **plan).update(texts[300:], **plan)
    found = begun.update(texts[300:], engine=ray, **plan)
    assert_same(expected, found)
    assert found.topics().equals(expected.topics())


@pytest.mark.slow
@pytest.mark.parametrize("topics", [4, None])
def test_segments(cluster, topics):
    rng = np.random.default_rng(4)
    texts = [
        [[f"w{word}" for word in rng.integers(40 * topic, 40 * topic + 60, size=5)] for topic in order]
        for order in rng.integers(4, size=(900, 6))
    ]
    corpus = fr.Corpus.from_sentences(texts)
    settings = {
        "draws": 5,
        "warmup": 5,
        "chains": 2,
        "start": "random" if topics else 6,
        "progress": False,
    }
    models = [
        fr.HTMM(topics, engine=engine, **settings).fit(corpus) for engine in (None, fr.engines.Ray(actors=3))
    ]
    one, other = (model.posterior_ for model in models)
    for name in set(one.trace) - {"seconds"}:
        assert np.array_equal(one.trace[name], other.trace[name], equal_nan=True), name
    for chain in range(2):
        for kept, again in zip(one.all_kept_draws[chain], other.all_kept_draws[chain], strict=True):
            assert np.array_equal(kept.topics, again.topics)
            assert np.array_equal(kept.switches, again.switches)


@pytest.mark.slow
def test_words_on_disk(cluster, tmp_path):
    """They are read by the actors, and do not go through this process."""
    shards = fr.synthetic.write_planted(
        tmp_path / "corpus", documents=400, vocabulary=500, tokens=40_000, topics=5, shard_tokens=2**16
    )
    settings = {"sampler": "parallel", **SETTINGS}
    engine = fr.engines.Ray(actors=2)
    fr.sample(shards, engine=engine, run_dir=tmp_path / "run", **settings)
    settings_of_longer = {"engine": fr.engines.Ray(actors=3), "progress": False}
    longer = fr.resume(tmp_path / "run", 8, **settings_of_longer)
    assert not [*(tmp_path / "corpus").glob("words-*")]  # no flat file of them was made here
    posterior = fr.load(tmp_path / "run")
    expected = fr.sample(shards.to_corpus(), **{**settings, "draws": 8})
    assert_same(expected, posterior)
    assert_same(expected, longer)
    assert longer.topics().equals(expected.topics())
    whole = fr.sample(shards.to_corpus(), **{**settings, "draws": 9})
    assert_same(whole, longer.extend(1, progress=False))
    kept = fr.sample(shards, **{**settings, "draws": 8}).extend(1, engine="ray", progress=False)
    assert_same(whole, kept)


@pytest.mark.slow
def test_what_cannot_be_shared_out_lives_on_one_actor(cluster):
    assert_same(draw("direct"), draw("direct", fr.engines.Ray(actors=2)))


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["direct", "parallel"])
def test_a_time_limit_gives_draws_of_all_chains(cluster, sampler, tmp_path, monkeypatch):
    """More chains than threads of actors, on one actor each or on all of them; the time is up after 80 sweeps."""
    ticks = itertools.count()
    engine, plan = fr.engines.Ray(actors=1, threads=1), {"chains": 4, "warmup": 2, "keep_labels": False}
    monkeypatch.setattr(StopSignal, "out_of_time", property(lambda self: next(ticks) >= 80))
    with pytest.warns(UserWarning, match="time limit reached"):
        early = draw(sampler, engine, draws=10**6, time_limit=1.0, run_dir=tmp_path / "run", **plan)
    monkeypatch.undo()
    draws = [len(chain.trace) for chain in early.run.chains]
    assert early.n_draws == min(draws) > 0.5 * max(draws)
    loaded, whole = fr.load(tmp_path / "run"), draw(sampler, draws=min(draws), **plan)
    for name in set(whole.trace) - {"seconds"}:
        assert np.array_equal(whole.trace[name], loaded.trace[name], equal_nan=True), name


def parts_in(folder):
    return sorted(path.name for path in folder.rglob("part-*"))


@pytest.mark.slow
def test_a_run_directory(cluster, tmp_path):
    """Begun on one engine, gone on with on the other; and longer chains from what is in memory."""
    whole, run = draw("parallel"), tmp_path / "run"
    short = draw("parallel", fr.engines.Ray(actors=3, threads=1), draws=2, run_dir=run)
    kept = [
        f"part-{what}-{rank}of3.safetensors"
        for what in ("draw-0", "draw-1", "state-12")
        for rank in (1, 2, 3)
    ]
    assert parts_in(run / "chain-0") == parts_in(run / "chain-1") == kept
    assert_same(short, fr.load(run))
    assert_same(whole, short.extend(4, progress=False))
    shutil.copytree(run, tmp_path / "copy")
    assert_same(whole, fr.resume(run, 6, engine=fr.engines.Ray(actors=2), progress=False))
    assert_same(whole, fr.load(run))
    assert_same(whole, fr.resume(tmp_path / "copy", 6, progress=False))
    assert [name for name in parts_in(tmp_path / "copy" / "chain-0") if "state" in name] == []
    whole.save(tmp_path / "saved")
    assert_same(draw("parallel", draws=8), fr.resume(tmp_path / "saved", 8, engine="ray", progress=False))


@pytest.mark.slow
def test_what_is_of_observations_stays_where_it_is(cluster, tmp_path, monkeypatch):
    """With a run directory the driver never has all topics of a chain."""
    expected = draw("parallel", keep_labels=False)

    def comes_home(self):
        raise AssertionError("not to be asked for")

    monkeypatch.setattr(RemoteChain, "_fetch", comes_home)
    monkeypatch.setattr(RemoteChain, "labels", comes_home)
    engine = fr.engines.Ray(actors=2)
    posterior = draw(
        "parallel", engine, keep_labels=False, run_dir=tmp_path / "run", checkpoint_interval=0.01
    )
    assert all(isinstance(kept, LazyDraw) for chain in posterior.snapshots for kept in chain)
    assert_same(expected, posterior)
    assert posterior.topics().equals(expected.topics())
    for one, other in zip(expected.states, posterior.states, strict=True):
        assert np.array_equal(one.topic_of_observation, other.topic_of_observation)


@pytest.mark.slow
def test_a_folder_that_nodes_do_not_share(cluster, tmp_path, monkeypatch):
    """As it is where each has a disk of its own: the actors are sent elsewhere."""
    original = RemoteChain._request

    def elsewhere(self, store, what):
        return original(self, store, what)._replace(folder=str(tmp_path / "elsewhere"))

    monkeypatch.setattr(RemoteChain, "_request", elsewhere)
    monkeypatch.setattr("franchise.cluster.remote_chain.SEEN_SECONDS", 0.2)
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(InputError, match="on a disk that all nodes of the cluster share"):
        draw("parallel", fr.engines.Ray(actors=2), run_dir=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_folder_that_does_not_come(tmp_path, monkeypatch):
    monkeypatch.setattr("franchise.cluster.remote_chain.SEEN_SECONDS", 0.2)
    wait_until_seen([tmp_path], "run")
    with pytest.raises(InputError, match=r"run_dir 'run' must be on a disk that all nodes"):
        wait_until_seen([tmp_path / "nowhere"], "run")


# --- who dies -----------------------------------------------------------------------------------------------


def kill_some(engine, stop, kills, seed):
    """Kill actors at random moments."""
    import ray

    chance = random.Random(seed)
    while not stop.is_set() and len(kills) < 3:
        time.sleep(chance.uniform(0.2, 1.0))
        if engine._pool is None:
            continue
        actor = chance.choice(engine._pool.actors)
        try:
            process = ray.get(actor.process.remote(), timeout=5)
            os.kill(process, signal.SIGKILL)
        except (ray.exceptions.RayError, ProcessLookupError):
            continue
        kills.append(process)


@pytest.mark.slow
def test_actors_die(cluster):
    expected = draw("parallel", draws=40)
    engine = fr.engines.Ray(actors=3)
    stop, kills = threading.Event(), []
    killer = threading.Thread(target=kill_some, args=(engine, stop, kills, 1))
    killer.start()
    try:
        again = draw("parallel", engine, draws=40)
    finally:
        stop.set()
        killer.join()
    assert kills
    assert_same(expected, again)


# --- errors -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_such_cluster():
    """By a process of its own, as this one may be connected."""
    script = "import franchise as fr; fr.engines.Ray('127.0.0.1:1').pool"
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False
    )
    assert "InputError: there is no Ray cluster at '127.0.0.1:1'" in ended.stderr


def test_without_ray(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install \"franchise\[ray\]\""):
        draw("parallel", "ray")


@contextmanager
def another_node(cluster, **settings):
    """A node more for a while."""
    node = cluster.add_node(num_cpus=2, node_ip_address="127.0.0.2", **settings)
    cluster.wait_for_nodes()
    try:
        yield
    finally:
        cluster.remove_node(node)


@pytest.mark.slow
def test_another_version(cluster, tmp_path, monkeypatch):
    """On a node that has a package of its own."""
    package = Path(fr.__file__).parent
    shutil.copytree(package, tmp_path / "franchise", ignore=shutil.ignore_patterns("__pycache__"))
    told = (tmp_path / "franchise" / "__init__.py").read_text()
    assert told.count(f'"{fr.__version__}"') == 1
    (tmp_path / "franchise" / "__init__.py").write_text(told.replace(f'"{fr.__version__}"', '"9.9"'))
    with another_node(cluster, env_vars={"PYTHONPATH": str(tmp_path)}):
        begun = time.monotonic()
        with pytest.raises(InputError, match=rf"has franchise 9\.9, but this is franchise {fr.__version__}"):
            draw("parallel", fr.engines.Ray(actors=3), run_dir=tmp_path / "run")
        assert time.monotonic() - begun < 60.0
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_too_little_memory(cluster, tmp_path):
    """On a node that has promised only some."""
    told = r"has .* of memory free, but its part of the data needs about .*\. Add nodes, or free memory there"
    with another_node(cluster, memory=2**20), pytest.raises(InputError, match=told):
        draw("parallel", fr.engines.Ray(actors=3), run_dir=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("settings", "named"),
    [({"actors": 0}, "actors"), ({"threads": -1}, "threads"), ({"address": 5}, "address")],
)
def test_wrong_settings(settings, named):
    with pytest.raises(InputError, match=named):
        fr.engines.Ray(**settings)


def test_unknown_engines():
    with pytest.raises(InputError, match="engine must be"):
        draw("parallel", "cloud")


def test_seats():
    nodes = {"a": 2, "b": 8}
    assert placements_for(nodes, None, None) == [Placement("b", 8, 8), Placement("a", 2, 2)]
    assert placements_for(nodes, 4, None) == [
        Placement("b", 4, 4),
        Placement("a", 1, 1),
        Placement("b", 4, 4),
        Placement("a", 1, 1),
    ]
    assert placements_for({"a": 1}, 2, 3) == [Placement("a", 3, 0.5), Placement("a", 3, 0.5)]
    with pytest.raises(InputError, match="no node"):
        placements_for({}, None, None)


# --- kills by the dozen ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kept", [True, False], ids=["in a folder", "in memory"])
def test_actors_and_nodes_are_killed(kept, tmp_path):
    """Twenty kills; what is checked is in `killing.py`."""
    folder = [str(tmp_path / "run")] if kept else []
    ended = subprocess.run(
        [sys.executable, "-m", "tests.cluster.killing", "20", "1", *folder],
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert ended.returncode == 0, "\n".join(
        re.findall(r"(?m)^\w[\w.]*(?:Error|Exception).*$", ended.stderr)[-20:]
    )
    told = json.loads(next(line for line in ended.stdout.splitlines() if line.startswith('{"actors"')))
    print(told)
    assert told["actors"] + told["nodes"] == 20
    assert told["nodes"] > 0


@pytest.mark.slow
def test_the_driver_is_killed(tmp_path):
    """Five times, at random moments; resumed each time, the draws are those of a run never killed."""
    draws, kills, chance = 600, 0, random.Random(2)
    fit = ["fit", "sotu", "--warmup", "20", "--chains", "2", "--quiet", "--out"]
    on_ray = ["--engine", "ray", "--actors", "2", "--checkpoint", "2", "--quiet"]
    run = str(tmp_path / "run")
    while True:
        if (tmp_path / "run" / "run.json").exists():
            command = ["resume", run, "--draws", str(draws), *on_ray]
        else:
            command = [*fit, run, "--draws", str(draws), *on_ray]
        driver = subprocess.Popen([sys.executable, "-m", "franchise", *command])
        try:
            driver.wait(chance.uniform(10.0, 20.0) if kills < 5 else 600.0)
        except subprocess.TimeoutExpired:
            driver.kill()
            driver.wait()
            kills += 1
            continue
        assert driver.returncode == 0
        if kills == 5:
            break
        draws += 600  # it was too quick for so many kills
    undisturbed = [*fit, str(tmp_path / "other"), "--draws", str(draws)]
    subprocess.run([sys.executable, "-m", "franchise", *undisturbed], check=True, timeout=600)
    expected, found = fr.load(tmp_path / "other"), fr.load(run)
    for name in set(expected.trace) - {"seconds"}:
        assert np.array_equal(expected.trace[name], found.trace[name], equal_nan=True), name
