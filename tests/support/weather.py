"""The weather data of Mathematics 13: codes in declared order, and the labels they stand for."""

NAMES = ["outlook", "temperature", "humidity", "windy"]
CATEGORIES = [
    ["sunny", "overcast", "rainy"],
    ["hot", "mild", "cool"],
    ["high", "normal"],
    ["TRUE", "FALSE"],
]
CLASS_LABELS = ["yes", "no"]
VALUES = [len(categories) for categories in CATEGORIES]

_TABLE = """
sunny    hot  high   FALSE no
sunny    hot  high   TRUE  no
overcast hot  high   FALSE yes
rainy    mild high   FALSE yes
rainy    cool normal FALSE yes
rainy    cool normal TRUE  no
overcast cool normal TRUE  yes
sunny    mild high   FALSE no
sunny    cool normal FALSE yes
rainy    mild normal FALSE yes
sunny    mild normal TRUE  yes
overcast mild high   TRUE  yes
overcast hot  normal FALSE yes
rainy    mild high   TRUE  no
"""
_CELLS = [line.split() for line in _TABLE.strip().splitlines()]

LABELLED = [cells[:-1] for cells in _CELLS]
LABELS = [cells[-1] for cells in _CELLS]
ROWS = [[CATEGORIES[i].index(label) for i, label in enumerate(row)] for row in LABELLED]
CLASSES = [CLASS_LABELS.index(label) for label in LABELS]
