"""The report: topics, documents and convergence diagnostics as one self-contained HTML file."""

from franchise.report.write import write_report

__all__ = ["write_report"]
