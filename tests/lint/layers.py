"""layers.py [--build BUILD]: the rooms of attest keep to tests/lint/rooms.txt; prints every breach, exit code 1 if any.

Checked of each source file of the product:
    its room is in the table; a header of another room that it includes is public there, and the row allows the room
    every header that the compiler reads for it (gcc -M, so through any number of includes) is of a room that its row
        reaches, or of a package that a row on that way allows
    every function that its object needs (nm) is defined in a room that its row reaches or names under `links`
Checked of the whole: the rooms have no circle, neither of includes nor of calls; reference/ calls nothing of libm.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ["kernels", "props", "reference", "reports", "verify"]
PACKAGES = {"flint": r"/(flint|arb|arb_\w+|arf|mag|acb\w*)/|/(mpfr|gmp|arb|arf|mag|acb|fmpz\w*|fmpq\w*)\.h$",
            "gsl": r"/gsl/", "jansson": r"/jansson", "random123": r"/Random123/"}
LIBM = re.compile(r"(exp|log|sqrt|pow|tanh|sin|cos|ldexp|frexp|scalb|nextafter|fma|rint|floor|ceil|round|cbrt|erf|expm1|"
                  r"log1p|exp2|log2|log10)[fl]?$")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)


class Room:
    def __init__(self, row):
        cells = [cell.strip() for cell in row.split("|")]
        self.name = cells[0]
        self.headers, self.rooms, self.links, self.packages = [
            [] if cell == "-" else cell.split() for cell in cells[1:5]]


def read_rooms():
    with open(os.path.join(ROOT, "tests/lint/rooms.txt"), encoding="utf-8") as text:
        rooms = [Room(row) for row in text if row.strip() and not row.startswith("#")]
    return {room.name: room for room in rooms}


def room_of(path, rooms):
    """The room of a file: its folder; sections below kernels/defects are one room, suites are none."""
    folder = os.path.dirname(path)
    while folder and folder not in rooms:
        if not folder.startswith("kernels/defects"):
            return None
        folder = os.path.dirname(folder)
    return folder or None


def reach(name, rooms):
    """The room, and what its includes bring along."""
    found, open_rooms = set(), [name]
    while open_rooms:
        room = open_rooms.pop()
        if room not in found:
            found.add(room)
            open_rooms += rooms[room].rooms
    return found


def sources():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *FOLDERS], cwd=ROOT,
                            stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return [path for path in listed if path.endswith((".c", ".h", ".cu")) and os.path.exists(os.path.join(ROOT, path))
            and not path.startswith("reference/tables/")]


def resolve(path, name):
    """The file that `#include "name"` in `path` means, from the root; None: not ours."""
    for base in (os.path.dirname(path), "", "kernels"):
        found = os.path.normpath(os.path.join(base, name))
        if os.path.exists(os.path.join(ROOT, found)):
            return found
    return None


def direct(path, rooms):
    """Breaches of one file's own includes, and the rooms that they lead to."""
    said, met = [], set()
    mine = room_of(path, rooms)
    if mine is None:
        return [f"{path}: its folder is no room of rooms.txt"], met
    with open(os.path.join(ROOT, path), encoding="utf-8") as text:
        names = INCLUDE.findall(text.read())
    for name in names:
        target = resolve(path, name)
        room = room_of(target, rooms) if target else None
        if target is None or room == mine:
            continue
        if room is None:
            said.append(f"{path}: {name} is in no room")
            continue
        met.add(room)
        if room not in rooms[mine].rooms:
            said.append(f"{path}: {mine} may not include {room} ({name})")
        elif target.endswith(".h") and rooms[room].headers != ["*"] and os.path.basename(target) not in rooms[room].headers:
            said.append(f"{path}: {name} is no public header of {room}")
    return said, met


def transitive(path, rooms):
    """Breaches of what the compiler reads for one source file."""
    mine = room_of(path, rooms)
    made = subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-I.", "-Ikernels", "-M", path], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if made.returncode != 0:
        return [f"{path}: gcc -M: {made.stderr.strip().splitlines()[0]}"]
    allowed = reach(mine, rooms)
    packages = {package for room in allowed for package in rooms[room].packages}
    said = []
    for header in made.stdout.replace("\\\n", " ").split()[1:]:
        if header.startswith("/"):
            said += [f"{path}: reads {header}, of {package}" for package, pattern in PACKAGES.items()
                     if package not in packages and re.search(pattern, header)]
        elif header.split("/")[0] in FOLDERS:
            room = room_of(os.path.normpath(header), rooms)
            if room not in allowed:
                said.append(f"{path}: reads {header}, of {room}, which no include of {mine} allows")
    return said[:3]


def symbols(build, path):
    """Names that the object of a source file defines, and names that it needs; None where it is not built."""
    built = os.path.join(build, path[:-2] + ".o")
    if not os.path.exists(built):
        return None
    text = subprocess.run(["nm", built], stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [row.split() for row in text.splitlines()]
    return ({row[-1] for row in rows if row[-2] in "TDBRVWC"}, {row[-1] for row in rows if row[-2] == "U"})


def linked(build, paths, rooms):
    """Breaches of calls between rooms, and the calls themselves as pairs of rooms."""
    units = [path for path in paths if path.endswith(".c") and not path.startswith("kernels/defects/")]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        tables = {path: table for path, table in zip(units, pool.map(lambda path: symbols(build, path), units)) if table}
    home = {name: room_of(path, rooms) for path, (defined, _) in tables.items() for name in defined}
    said, met = [], set()
    for path, (_, needed) in tables.items():
        mine = room_of(path, rooms)
        allowed = reach(mine, rooms) | set(rooms[mine].links)
        if mine.startswith("reference"):
            said += [f"{path}: calls {name} of libm" for name in sorted(needed) if LIBM.match(name)]
        for name in sorted(needed & set(home)):
            if home[name] != mine:
                met.add((mine, home[name]))
                if home[name] not in allowed:
                    said.append(f"{path}: calls {name} of {home[name]}, which the row of {mine} does not allow")
    if not tables:
        said.append(f"{build}: no objects there; `make all` first")
    return said, met


def circles(edges):
    """Rooms that reach themselves."""
    after = {}
    for one, other in edges:
        after.setdefault(one, set()).add(other)
    said = []
    for start in sorted(after):
        seen, open_rooms = set(), list(after[start])
        while open_rooms:
            room = open_rooms.pop()
            if room not in seen:
                seen.add(room)
                open_rooms += after.get(room, ())
        if start in seen:
            said.append(f"{start}: part of a circle of rooms")
    return said


def main():
    parser = argparse.ArgumentParser(description="the rooms of attest keep to tests/lint/rooms.txt")
    parser.add_argument("--build", default=os.environ.get("BUILD", os.path.join(ROOT, "build")))
    options = parser.parse_args()
    rooms = read_rooms()
    said = [f"rooms.txt: {room.name} names {other}, which has no row" for room in rooms.values()
            for other in room.rooms + room.links if other not in rooms]
    if not said:
        paths, edges = sources(), set()
        for path in paths:
            found, met = direct(path, rooms)
            said += found
            edges |= {(room_of(path, rooms), room) for room in met}
        units = [path for path in paths if path.endswith(".c") and room_of(path, rooms)
                 and not path.startswith(("kernels/defects/", "kernels/vendor/"))]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for found in pool.map(lambda path: transitive(path, rooms), units):
                said += found
        found, met = linked(os.path.abspath(options.build), paths, rooms)
        said += found + circles(edges | met)
    for line in said:
        print("layers: " + line)
    if not said:
        print(f"layers: ok, {len(rooms)} rooms")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
