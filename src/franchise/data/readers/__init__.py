"""Reading files: `read_corpus` and `read_groups`.

    read           the two functions
    formats        the reader for each format
    source         opening, decompressing and decoding, within a limit; errors that name file and line
    plain_text     folders, lines, MALLET
    columns        a table as texts or groups; csv, jsonl and parquet read tables
    count_matrix   counts as a corpus, sparse matrices of scipy; docword, ldac and matrix_market read counts
    vocabulary     the words of counts
    count_table    tables of counts with names of rows and columns, in either orientation
    named_matrix   numbers with such names, also of tables of signatures

Reading never executes code from a file: no pickle.
"""

from franchise.data.readers.read import read_corpus, read_groups

__all__ = ["read_corpus", "read_groups"]
