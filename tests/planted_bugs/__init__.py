"""All planted bugs, and the tests of `make test` that catch each.

python -m tests.planted_bugs          prints the list
python -m tests.planted_bugs --run    plants each bug and runs the tests that must catch it
"""
