let placeholderWard = 0
