"""Damaged runs: whatever is done to the files, a run is read right, or an InputError names the file.

First damage as it happens: flipped bits, files cut short, lost or exchanged. Every file has a checksum, so that
what is read then is what was written, to the bit. Then files that were made wrong on purpose, with checksums that
are right: what is in them is looked at before anything is done with it, so that nothing else than an InputError
comes of it, and no crash.
"""

from __future__ import annotations

import json
import shutil
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import franchise as fr
from franchise.storage.atomic import checksum_of
from franchise.storage.chain_store import checksum_of_all
from tests.running.runs import assert_same_bits, sample, sample_segments
from tests.storage.parted import part_run

FUZZ = settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
)
COUNTS = fr.Groups(
    csr_array(np.random.default_rng(5).poisson(0.7, (9, 6))), ["a", "b", "a", "c", "b", "a", "c", "c", "b"]
)
SHORT = {"warmup": 2, "chains": 1, "thin": 1}


def in_parts(make):
    """What is made, with checkpoints in parts."""

    def made(folder):
        posterior = make(folder)
        part_run(folder)
        return posterior

    return made


MAKERS = {
    "weights": lambda folder: sample("categorical", "direct", 3, run_dir=folder, **SHORT),
    "seating": lambda folder: sample("categorical", "crf", 3, run_dir=folder, **{**SHORT, "chains": 2}),
    "sub-topics": lambda folder: sample("categorical", "subcluster", 3, run_dir=folder, **SHORT),
    "sparse": lambda folder: fr.sample(
        COUNTS, fr.Multinomial(6), sampler="direct", draws=3, workers=1, run_dir=folder, **SHORT
    ),
    "segments": lambda folder: sample_segments(None, 3, run_dir=folder, **SHORT),
    "parts": in_parts(lambda folder: sample("categorical", "direct", 3, run_dir=folder, **SHORT)),
}
CHECKPOINT = "chain-0/checkpoint.safetensors"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The runs, undamaged: their folders, their posteriors, and those of one draw more."""
    made = {}
    for name, make in MAKERS.items():
        folder = tmp_path_factory.mktemp("runs") / name
        posterior = make(folder)
        made[name] = folder, posterior, posterior.extend(1, workers=1)
    return made


@pytest.fixture
def folder(tmp_path):
    """Where the copy that is damaged lies."""
    return tmp_path / "damaged"


def files_of(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def check_outcome(action, expected, folder):
    """The action gives what is expected, or an InputError that names a file of the run."""
    try:
        posterior = action()
    except fr.InputError as error:
        message = str(error)
        if str(folder) not in message:
            raise AssertionError(f"no file is named: {message}") from error
        return
    if expected is not None:
        assert_same_bits(posterior, expected)


# --- damage as it happens -----------------------------------------------------------------------------------


def flip(content, draw):
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(changed) * 8 - 1))
        changed[place // 8] ^= 1 << (place % 8)
    return bytes(changed)


def cut(content, draw):
    return content[: draw(st.integers(0, len(content) - 1))]


def lengthen(content, draw):
    return content + draw(st.binary(min_size=1, max_size=20))


def blank(content, draw):
    begin = draw(st.integers(0, len(content) - 1))
    end = min(len(content), begin + draw(st.integers(1, 64)))
    return content[:begin] + bytes(end - begin) + content[end:]


def lose(content, draw):
    return None


DAMAGES = [flip, flip, flip, cut, lengthen, blank, lose]


@given(st.data())
@settings(FUZZ, max_examples=200)
def test_damaged_files(runs, folder, data):
    source, whole, longer = runs[data.draw(st.sampled_from(sorted(runs)))]
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    path = folder / data.draw(st.sampled_from(files_of(folder)))
    content = data.draw(st.sampled_from(DAMAGES))(path.read_bytes(), data.draw)
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    check_outcome(lambda: fr.load(folder), whole, folder)
    check_outcome(lambda: fr.resume(folder, draws=4, workers=1), longer, folder)


@pytest.mark.parametrize(
    "name", ["run.json", "data.json", "data.safetensors", CHECKPOINT, "chain-0/trace.log"]
)
def test_every_single_bit(name, runs, folder):
    """One flipped bit in each byte of a file, one after the other."""
    source, whole, _ = runs["weights"]
    content = (source / name).read_bytes()
    shutil.copytree(source, folder)
    for place in range(0, len(content), 7):
        changed = bytearray(content)
        changed[place] ^= 1 << (place % 8)
        (folder / name).write_bytes(bytes(changed))
        check_outcome(lambda: fr.load(folder), whole, folder)


def test_exchanged_files(runs, folder, tmp_path):
    """Files of another chain, of another run, and of the same run at another time."""
    source, _, _ = runs["seating"]
    other = tmp_path / "other"
    sample("categorical", "crf", 3, run_dir=other, seed=9, **{**SHORT, "chains": 2})
    earlier = tmp_path / "earlier"
    sample("categorical", "crf", 2, run_dir=earlier, **{**SHORT, "chains": 2})
    assert files_of(other) == files_of(earlier) == files_of(source)
    for name in files_of(source):
        for origin in (other / name, earlier / name, source / name.replace("chain-0", "chain-1")):
            if origin.read_bytes() == (source / name).read_bytes():
                continue
            shutil.copytree(source, folder)
            shutil.copyfile(origin, folder / name)
            if name == "run.json" and origin.is_relative_to(earlier):
                assert fr.load(folder).n_draws == 3  # only the plan is another: fewer draws than there are
            else:
                with pytest.raises(fr.InputError, match=str(folder)):
                    fr.load(folder)
            shutil.rmtree(folder)


# --- made wrong on purpose ----------------------------------------------------------------------------------

WRONG = [
    None,
    True,
    -1,
    0,
    3,
    10**30,
    0.5,
    -2.5,
    float("nan"),
    float("inf"),
    "",
    "direct",
    [],
    [1, 2, 3],
    [[[]]],
    {},
    {"shape": 1.0},
    {"move": "in_turn"},
]


def paths_in(value, path=()):
    """Where everything is in nested dicts and lists."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from paths_in(part, (*path, key))


def change_somewhere(value, draw):
    """Replace or remove something in nested dicts and lists."""
    path = draw(st.sampled_from([path for path in paths_in(value) if path]))
    home = value
    for key in path[:-1]:
        home = home[key]
    if draw(st.booleans()):
        home[path[-1]] = draw(st.sampled_from(WRONG))
    else:
        del home[path[-1]]
    return value


def seal_settings(folder, change):
    """Change run.json, and make its checksum right again."""
    path = folder / "run.json"
    said = json.loads(path.read_text())
    del said["checksum"]
    change(said)
    path.write_text(json.dumps({**said, "checksum": checksum_of(said)}))


def seal_data(folder, name, content):
    """Write a file of the data, and make its checksum right."""
    (folder / name).write_bytes(content)

    def change(said):
        said["files"][name] = f"{zlib.crc32(content):08x}"

    seal_settings(folder, change)
    seal_checkpoints(folder, lambda arrays, metadata: None)


def seal_checkpoints(folder, change):
    """Change all checkpoints, and make their checksums and names right."""
    from safetensors import safe_open
    from safetensors.numpy import save

    said = json.loads((folder / "run.json").read_text())
    for number in range(len(list(folder.glob("chain-*")))):
        path = folder / f"chain-{number}" / "checkpoint.safetensors"
        with safe_open(path, framework="numpy") as file:
            metadata = json.loads(file.metadata()["facts"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        named = {name: value for name, value in said.items() if name not in ("draws", "checksum")}
        metadata["of"] = f"{checksum_of(named)}-{number}"
        change(arrays, metadata)
        text = json.dumps(metadata)
        path.write_bytes(save(arrays, {"facts": text, "checksum": str(checksum_of_all(arrays, text))}))


def copy_any(runs, folder, draw):
    """Put one of the runs into the folder."""
    source, _, _ = runs[draw(st.sampled_from(sorted(runs)))]
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)


def read_and_go_on(folder):
    """Whatever is in the folder, either is done right, or an InputError says why not."""
    check_outcome(lambda: fr.load(folder), None, folder)
    check_outcome(lambda: fr.resume(folder, draws=4, workers=1), None, folder)


@given(st.data())
@FUZZ
def test_wrong_settings(runs, folder, data):
    copy_any(runs, folder, data.draw)
    seal_settings(folder, lambda said: change_somewhere(said, data.draw))
    seal_checkpoints(folder, lambda arrays, metadata: None)
    read_and_go_on(folder)


@given(st.data())
@FUZZ
def test_wrong_facts(runs, folder, data):
    copy_any(runs, folder, data.draw)
    seal_checkpoints(folder, lambda arrays, metadata: change_somewhere(metadata, data.draw))
    read_and_go_on(folder)


def of_another_type(array, draw):
    kind = draw(st.sampled_from(["float64", "float32", "int64", "int32", "int8", "uint8", "bool"]))
    with np.errstate(invalid="ignore"):
        return array.astype(kind)


def of_another_shape(array, draw):
    return draw(
        st.sampled_from([array[:-1], array[None], np.concatenate([array, array]), array.reshape(-1)[:0]])
    )


def with_another_value(array, draw):
    changed = array.reshape(-1).copy()
    if len(changed):
        extreme = [-1, 0, 1, 2, 5, 100, 10**6]
        if changed.dtype.kind == "f":
            extreme += [float("nan"), float("inf"), 0.3]
        elif changed.dtype.kind in "iu":
            extreme += [np.iinfo(changed.dtype).max, np.iinfo(changed.dtype).min]
        value = draw(st.sampled_from(extreme))
        changed[draw(st.integers(0, len(changed) - 1))] = np.array(value).astype(changed.dtype)
    return changed.reshape(array.shape)


@given(st.data())
@FUZZ
def test_wrong_arrays(runs, folder, data):
    copy_any(runs, folder, data.draw)

    def change(arrays, metadata):
        name = data.draw(st.sampled_from(sorted(arrays)))
        how = data.draw(st.sampled_from([of_another_type, of_another_shape, *[with_another_value] * 3, None]))
        array = arrays.pop(name)
        if how is not None:
            arrays[name] = np.ascontiguousarray(how(array, data.draw))

    seal_checkpoints(folder, change)
    read_and_go_on(folder)


@given(st.data())
@FUZZ
def test_wrong_data(runs, folder, data):
    from safetensors.numpy import load, save

    copy_any(runs, folder, data.draw)
    if data.draw(st.booleans()):
        said = json.loads((folder / "data.json").read_text())
        seal_data(folder, "data.json", json.dumps(change_somewhere(said, data.draw)).encode())
    else:
        arrays = load((folder / "data.safetensors").read_bytes())
        name = data.draw(st.sampled_from(sorted(arrays)))
        how = data.draw(st.sampled_from([of_another_type, of_another_shape, with_another_value]))
        arrays[name] = np.ascontiguousarray(how(arrays[name], data.draw))
        seal_data(folder, "data.safetensors", save(arrays))
    read_and_go_on(folder)


def header(**tensors):
    """The beginning of a safetensors file that says so."""
    text = json.dumps({"__metadata__": {"facts": "{}", "checksum": "0"}, **tensors}).encode()
    return len(text).to_bytes(8, "little") + text


HOSTILE = {
    "a header of 4 exabytes": (1 << 62).to_bytes(8, "little") + b"{}",
    "a header of 90 megabytes": (90 << 20).to_bytes(8, "little") + b"{}",
    "an array of a petabyte": header(x={"dtype": "F64", "shape": [1 << 47], "data_offsets": [0, 1 << 50]}),
    "an array larger than its bytes": header(x={"dtype": "F64", "shape": [1 << 40], "data_offsets": [0, 8]})
    + b"8" * 8,
    "a shape that overflows": header(x={"dtype": "F64", "shape": [1 << 62, 4], "data_offsets": [0, 0]}),
    "an unknown type": header(x={"dtype": "F4096", "shape": [1], "data_offsets": [0, 8]}) + b"8" * 8,
    "arrays that overlap": header(
        x={"dtype": "U8", "shape": [8], "data_offsets": [0, 8]},
        y={"dtype": "U8", "shape": [8], "data_offsets": [4, 12]},
    )
    + b"8" * 12,
    "nothing": b"",
}


@pytest.mark.parametrize("name", [CHECKPOINT, "data.safetensors"])
@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_hostile_arrays(name, content, runs, folder):
    shutil.copytree(runs["weights"][0], folder)
    if name == CHECKPOINT:
        (folder / name).write_bytes(content)
    else:
        seal_data(folder, name, content)
    for action in (fr.load, fr.resume):
        with pytest.raises(fr.InputError, match=name):
            action(folder)


@pytest.mark.parametrize("name", ["run.json", "data.json"])
@pytest.mark.parametrize(
    "content", [b"[" * 10**5, b"[]", b"7", b"null", b'{"format": 1e999}', b"\xff\xfe", b"{}"]
)
def test_hostile_json(name, content, runs, folder):
    shutil.copytree(runs["weights"][0], folder)
    if name == "run.json":
        (folder / name).write_bytes(content)
    else:
        seal_data(folder, name, content)
    for action in (fr.load, fr.resume):
        with pytest.raises(fr.InputError, match=name):
            action(folder)


@pytest.mark.parametrize("slots", [10**12, 2**62])
def test_more_slots_than_fit_in_memory(slots, runs, folder):
    shutil.copytree(runs["weights"][0], folder)
    seal_checkpoints(folder, lambda arrays, metadata: arrays.update(slots=np.array([slots])))
    with pytest.raises(fr.InputError, match=r"checkpoint\.safetensors.*will not fit in memory"):
        fr.load(folder)


def test_labels_of_topics_that_are_not_there(runs, folder):
    """In a checkpoint, and in the log of labels, with right checksums."""
    source, whole, _ = runs["weights"]
    topics = int(whole.trace["n_topics"][0, -1])
    shutil.copytree(source, folder)
    path = folder / "chain-0" / "labels.log"
    rows = [row.astype("<i4") for row in whole.labels[0]]
    rows[-1][3] = topics
    content = b"".join(zlib.crc32(row.tobytes()).to_bytes(4, "little") + row.tobytes() for row in rows)
    assert len(content) == path.stat().st_size
    path.write_bytes(content)
    seal_checkpoints(folder, lambda arrays, metadata: metadata.update(labels_checksum=zlib.crc32(content)))
    with pytest.raises(fr.InputError, match=rf"labels\.log.*must be from 0 to {topics - 1}"):
        fr.load(folder)

    shutil.rmtree(folder)
    shutil.copytree(source, folder)

    def change(arrays, metadata):
        arrays["snapshot_2_labels"][3] = topics

    seal_checkpoints(folder, change)
    with pytest.raises(fr.InputError, match=rf"checkpoint\.safetensors.*must be from 0 to {topics - 1}"):
        fr.load(folder)


@pytest.mark.parametrize("move", ["in_turn", "Move", "__doc__", "os", "franchise.load", "Chain", "", None, 3])
def test_only_moves_are_made(move, runs, folder):
    """What settings name is looked up among the moves, and nothing else is called."""
    shutil.copytree(runs["weights"][0], folder)

    def change(said):
        said["schedule"]["parts"][0] = {"move": move}

    seal_settings(folder, change)
    seal_checkpoints(folder, lambda arrays, metadata: None)
    with pytest.raises(fr.InputError, match=r"run\.json"):
        fr.resume(folder, draws=4)


def test_unknown_words_do_no_harm(runs, folder):
    """What a later version may add without a new format."""
    source, whole, _ = runs["weights"]
    shutil.copytree(source, folder)
    said = json.loads((folder / "data.json").read_text())
    seal_data(folder, "data.json", json.dumps({**said, "text_options": {"lowercase": True}}).encode())
    seal_settings(folder, lambda said: said.update(note="found on the beach"))
    seal_checkpoints(folder, lambda arrays, metadata: metadata.update(mood="good"))
    assert_same_bits(fr.load(folder), whole)


@pytest.mark.parametrize("name", ["run.json", "data.json", CHECKPOINT])
def test_a_newer_format_is_refused_in_two_sentences(name, runs, folder):
    shutil.copytree(runs["weights"][0], folder)
    if name == "run.json":
        seal_settings(folder, lambda said: said.update(format=99))
    elif name == "data.json":
        said = json.loads((folder / name).read_text())
        seal_data(folder, name, json.dumps({**said, "format": 99}).encode())
    else:
        seal_checkpoints(folder, lambda arrays, metadata: metadata.update(format=99))
    for action in (fr.load, fr.resume):
        with pytest.raises(fr.InputError) as caught:
            action(folder)
        message = str(caught.value)
        assert message.startswith(f"{folder / name} has format 99")
        assert message.endswith("Upgrade franchise.")
        assert message.count(". ") == 1
