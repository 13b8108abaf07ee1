"""Reading files: `read_corpus` and `read_groups`.

    read.py        the two functions
    formats.py     which reader a file goes to
    files.py       opening, uncompressing, decoding, within a limit; errors that name file and line
    texts.py       folders, lines, MALLET
    posterior/hdp_posterior.py      a table as texts or groups; delimited.py, json_lines.py and parquet.py read
    tables
    counts.py      counts as a corpus; docword.py, ldac.py, matrix_market.py and npz.py read counts
    vocabularies.py  the words of counts

Nothing that is read is ever executed: no pickle.
"""

from franchise.data.readers.read import read_corpus, read_groups

__all__ = ["read_corpus", "read_groups"]
