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

    def test_what_was_one_object_still_is(self):
        class Sharing(ia.Algorithm):
            pass

        one = Sharing()
        one.person = object()
        one.model = {"gain": 1}
        one.filter = [one.model, one.person, one]
        saved = one.snapshot()
        one.model["gain"] = 2
        one.filter.append("of the step that is undone")
        one.restore(saved)
        self.assertEqual(one.model, {"gain": 1})
        self.assertIs(one.filter[0], one.model)
        self.assertIs(one.filter[1], one.person)
        self.assertIs(one.filter[2], one)
        self.assertEqual(len(one.filter), 3)

    def test_what_a_person_draws_goes_back_too(self):
        def person():
            names = ["seed", "target", *ia.Therapy.__slots__, *("subject%d" % part for part in range(8))]
            return ia.Person([7] + [1.0] * (1 + len(ia.Therapy.__slots__)) + [0] * 8, names)

        one, other = person(), person()
        self.assertIsNone(one._drawn())
        first = one.random.random()
        one._rewind(None)
        self.assertEqual(one.random.random(), first)
        drawn = one._drawn()
        second = one.random.random()
        one._rewind(drawn)
        self.assertEqual(one.random.random(), second)
        self.assertEqual([other.random.random() for _ in range(2)], [first, second])


if __name__ == "__main__":
    unittest.main()
