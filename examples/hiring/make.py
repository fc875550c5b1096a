"""Makes people.csv, an invented table of applicants, and model.json, an invented scorecard.

Nobody in it exists. Women and men are alike except that more women work part time; the scorecard
counts years of service, which asks more of those who worked part time.

    python3 make.py
"""

import csv
import json
import random

random.seed(7)
DEGREES = ["none", "school", "college", "university"]
JOBS = ["clerk", "sales", "technician", "manager"]
HOURS = ["part time", "full time"]

rows = []
for _ in range(600):
    sex = random.choice(["Female", "Male"])
    degree = random.choices(DEGREES, [2, 4, 3, 2])[0]
    job = random.choices(JOBS, [4, 3, 3, 2])[0]
    hours = random.choices(HOURS, [5, 4] if sex == "Female" else [1, 5])[0]
    years = max(0, round(random.gauss(5 if hours == "part time" else 9, 3)))
    region = random.choice(["north", "south", "?"] if random.random() < 0.1 else ["north", "south"])
    good = years + 2 * DEGREES.index(degree) + random.gauss(0, 2) > 11
    rows.append([sex, degree, job, hours, years, region, "yes" if good else "no"])

with open("people.csv", "w", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["sex", "degree", "job", "hours", "years", "region", "kept"])
    writer.writerows(rows)

model = {
    "intercept": -9.75,
    "levels": {
        "degree": {"none": 0, "school": 2, "college": 3.5, "university": 5},
        "job": {"clerk": 0, "sales": 0.5, "technician": 1, "manager": 2.5},
        "hours": {"part time": -1, "full time": 0},
    },
    "numbers": {"years": 0.75},
    "unseen": "error",
}
with open("model.json", "w") as file:
    json.dump(model, file, indent=2)
    file.write("\n")
