"""The data of a run on disk: arrays as safetensors, names and words as JSON; no pickle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.dropped import decode_dropped, encode_dropped
from franchise.data.group_tree import GroupTree
from franchise.data.grouped import GroupedData
from franchise.data.groups import Groups
from franchise.data.sentences import Sentences
from franchise.data.sharded.sharded_corpus import MappedCorpus, open_shards
from franchise.data.text_options import decode_options, encode_options
from franchise.errors import InputError
from franchise.validation import check_format, check_labels

FORMAT = 1


def encode_data(data: GroupedData) -> dict[str, bytes]:
    """Return the contents of data.safetensors and data.json; InputError if something cannot be stored.

    For a corpus in shards, only its folder and checksum are stored.
    """
    from safetensors.numpy import save

    words: dict[str, Any]
    if isinstance(data, MappedCorpus):
        words = {"format": FORMAT, "kind": "shards", "folder": str(data.shards.folder.resolve())}
        words |= {"checksum": data.shards.checksum, "path": str(data.path.resolve())}
        words |= _tree_names(data.tree)
        return {"data.safetensors": save(_tree_arrays(data.tree)), "data.json": json.dumps(words).encode()}
    words = {"metadata": {name: _plain(tuple(entries)) for name, entries in data.metadata.items()}}
    words |= {"format": FORMAT, "names": _plain(tuple(data.group_names))}
    if isinstance(data, Corpus):
        words |= {"kind": "corpus", "vocabulary": list(data.vocabulary), "texts": data.texts}
        words["text_options"] = encode_options(data.text_options)
        words |= {"dropped": encode_dropped(data.dropped), "notes": data.notes}
        arrays = {"observations": data.observations, "offsets": data.offsets}
        sentences = {} if data.sentences is None else data.sentences._asdict()
        arrays |= {f"sentences.{name}": array for name, array in sentences.items() if array is not None}
    elif isinstance(data.observations, np.ndarray):
        words |= {"kind": "groups", "columns": getattr(data, "columns", None)}
        arrays = {"observations": data.observations, "groups": data.group_of_observation}
    else:
        rows = data.observations
        words |= {
            "kind": "sparse groups",
            "shape": list(rows.shape),
            "columns": getattr(data, "columns", None),
        }
        arrays = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}
        arrays["groups"] = data.group_of_observation
    words |= _tree_names(data.tree)
    arrays |= _tree_arrays(data.tree)
    return {
        "data.safetensors": save({name: np.ascontiguousarray(array) for name, array in arrays.items()}),
        "data.json": json.dumps(words).encode(),
    }


def load_data(folder: Path) -> Corpus | Groups:
    """Return the data that `encode_data` was given, from the two files of a folder."""
    from safetensors.numpy import load_file

    arrays = load_file(folder / "data.safetensors")
    words = json.loads((folder / "data.json").read_bytes())
    check_format(str(folder / "data.json"), words.get("format", FORMAT), FORMAT)
    tree = _tree_in(words, arrays)
    if words["kind"] == "shards":
        return (
            open_shards(words["folder"]).checked(words["checksum"]).memory_mapped(words["path"], groups=tree)
        )
    names = [_hashable(name) for name in words["names"]]
    metadata = {name: [_hashable(entry) for entry in entries] for name, entries in words["metadata"].items()}
    if words["kind"] == "corpus":
        sentences: Any = [arrays.get(f"sentences.{name}") for name in Sentences._fields]
        corpus = Corpus(
            arrays["observations"],
            arrays["offsets"],
            words["vocabulary"],
            names=names,
            metadata=metadata,
            texts=words["texts"],
            sentences=Sentences(*sentences) if sentences[0] is not None else None,
            text_options=decode_options(words.get("text_options")),  # not in files of older versions
            groups=tree,
        )
        corpus.dropped, corpus.notes = decode_dropped(words.get("dropped")), words.get("notes", [])
        return corpus
    groups = check_labels("groups", arrays["groups"], len(arrays["groups"]), len(names))
    labels = [names[number] for number in groups.tolist()]
    columns = words.get("columns")  # not in files of older versions
    if words["kind"] == "groups":
        return _with_tree(Groups(arrays["observations"], labels, metadata=metadata, columns=columns), tree)
    from scipy.sparse import csr_array

    if (arrays["indptr"][1:] < arrays["indptr"][:-1]).any():  # check_format does not check all
        raise InputError("the rows of sparse observations must follow one another.")
    rows = csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(words["shape"]))
    rows.check_format(full_check=True)
    return _with_tree(Groups(rows, labels, metadata=metadata, columns=columns), tree)


def _tree_names(tree: GroupTree | None) -> dict[str, Any]:
    return {} if tree is None else {"tree": {"levels": tree.levels, "names": tree.names}}


def _tree_arrays(tree: GroupTree | None) -> dict[str, np.ndarray]:
    return {} if tree is None else {"tree.parents": tree.parents, "tree.node_of_group": tree.node_of_group}


def _tree_in(words: dict[str, Any], arrays: dict[str, np.ndarray]) -> GroupTree | None:
    """Return the levels above the groups that are stored; None for none."""
    if "tree" not in words:
        return None
    levels, names = (tuple(map(str, words["tree"][name])) for name in ("levels", "names"))
    return GroupTree(levels, names, arrays["tree.parents"], arrays["tree.node_of_group"])


def _with_tree(groups: Groups, tree: GroupTree | None) -> Groups:
    """Return groups under a tree, which has a node for each."""
    if tree is not None and len(tree.node_of_group) != groups.n_groups:
        raise InputError(f"the tree must have {groups.n_groups} groups; got {len(tree.node_of_group)}.")
    groups.tree = tree
    return groups


def _plain(entry: object) -> Any:
    """Return a name, or names, as JSON values: numbers, strings, None, and tuples of these (as lists)."""
    if isinstance(entry, np.generic):
        entry = entry.item()
    if isinstance(entry, tuple):
        return [_plain(part) for part in entry]
    if entry is None or isinstance(entry, (str, int, float, bool)):
        return entry
    if hasattr(entry, "isoformat"):
        return entry.isoformat()
    raise InputError(
        f"names and metadata of a run must be text, numbers, dates or tuples of these; got {entry!r} "
        f"({type(entry).__name__}). Convert it to text."
    )


def _hashable(entry: object) -> Any:
    return tuple(_hashable(part) for part in entry) if isinstance(entry, list) else entry
