import islet.algorithm as ia


class Mine(ia.Algorithm):
    name, version, basal_source = "mine", 1, "algorithm"
    gain = ia.Parameter(0.3, 0, 5, "1/h", "share of a correction an hour")

    def step(self, s):  # s.cgm is None where there is none
        rate = s.therapy.basal
        if s.cgm:
            rate += self.gain * (s.cgm - s.target) / s.therapy.cf
        return ia.Dose(basal=max(0, rate) / 12, meal=s.meal_grams / s.therapy.cr)


ia.serve(Mine)
