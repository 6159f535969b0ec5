"""Python itself as the oracle for guards and predicates: `python -m tests.oracle --pairs 20000 --seed 1`."""
