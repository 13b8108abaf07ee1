"""The report: what a fit has found, and whether to trust it, as one page that opens offline in any browser."""

from franchise.report.write import write_report

__all__ = ["write_report"]
