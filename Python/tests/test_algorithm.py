"""What an algorithm's object goes back to, without a program that asks it."""

import unittest

import islet.algorithm as ia


class Adding(ia.Algorithm):
    """Keeps something of its own beside what it inherits."""

    def snapshot(self):
        kept = super().snapshot()
        kept["mine"] = 1
        return kept


class Snapshots(unittest.TestCase):
    def test_what_one_class_adds_is_nobody_elses(self):
        one, other = Adding(), ia.Algorithm()
        one.person, other.person = "a", "b"
        self.assertEqual(one.snapshot(), {"mine": 1})
        saved = other.snapshot()
        self.assertEqual(saved, {})
        other.sum = 3
        other.restore(saved)
        self.assertEqual(vars(other), {"person": "b"})


if __name__ == "__main__":
    unittest.main()
