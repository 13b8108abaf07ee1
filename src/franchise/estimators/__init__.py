"""The scikit-learn estimators HDP and HTMM."""
