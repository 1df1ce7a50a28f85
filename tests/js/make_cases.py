"""Write packed fits, and their labels at several cuts, for the tests of the JavaScript.

python tests/js/make_cases.py build/js
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from explorer_cases import CUTS, cuts_of, grid_fit
from plot_cases import fits
from quickshift.explorer.clusters import pack_clusters

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
names = []
for name, model in fits().items():
    file = name.replace(" ", "_")
    packed = pack_clusters(model, None, None)
    (folder / f"{file}.bin").write_bytes(packed)
    cases = [{"cut": cut, "labels": labels.tolist()} for cut, labels in cuts_of(model, CUTS)]
    (folder / f"{file}.json").write_text(json.dumps(cases), encoding="utf-8")
    names.append(file)
(folder / "grid.bin").write_bytes(pack_clusters(grid_fit(), None, None))
(folder / "names.json").write_text(json.dumps(names), encoding="utf-8")
