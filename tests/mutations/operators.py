"""operators.py: breaks the code on purpose, by operators (mutants.py); does a test say so?

    --list              every mutant: id, line, change
    --count             how many, by operator and by room, and which functions have none
    --show TEXT         the lines before and after, of each mutant whose id holds TEXT
    --run               builds and tests each; the default
    --sample N          N of them, drawn by --seed S (1): each room gets its share, and the same seed draws the same ids
                        from a tree that has changed little
    --file TEXT         only files whose path starts so
    --ids FILE          only those that FILE names, one a line, or that it holds results of
    --jobs N --work DIR N copies of the tree under DIR (build/mutate)
    --most SECONDS      of suites a mutant, by the times measured; 0, the default: all that hold the file
    --results FILE      one line of JSON a mutant; a run goes on where it stopped, unless the sources have changed
    --score FILE        what a file of results says, by operator and by room

A mutant is `killed` (a test fails, or takes far longer than it should), `survived`, or `unbuilt`, which the score
leaves out.  Suites are run until one fails: that of the file's name first, then those of its room, of its top folder,
and all others whose programs hold the file, the command line last; those that cannot hold it are not run.  A survivor
must stand in survivors.txt with its reason; one that does not makes the exit code 1.  README.md tells how to read it.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import queue
import sys
import threading
import time

import ctokens
import mutants
import tree

SURVIVORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "survivors.txt")


def key(identity):
    """What stays of an id when the function moves to another file."""
    return identity.split(":", 1)[1]


def survivors():
    """Reasons by id, of survivors.txt."""
    found = {}
    for line in tree.read(SURVIVORS).splitlines():
        if line.strip() and not line.startswith("#"):
            identity, _, reason = line.partition(" ")
            found[identity] = reason.strip()
    return found


def sample(found, count, seed):
    """`count` mutants: to each room by its share, and in it those of the smallest hash of seed and id."""
    rooms = collections.defaultdict(list)
    for mutant in found:
        mutant.rank = hashlib.sha256(f"{seed}:{key(mutant.id)}".encode()).hexdigest()
        rooms[mutant.room].append(mutant)
    drawn, owed = [], 0.0
    for room in sorted(rooms):
        owed += count * len(rooms[room]) / len(found)
        take = int(owed + 0.5)
        owed -= take
        drawn += sorted(rooms[room], key=lambda m: m.rank)[:take]
    return sorted(drawn, key=lambda m: m.rank)


def named(found, path):
    """Mutants whose ids stand in a file, and ids that no mutant has any more."""
    by_id, by_key, chosen, gone = {m.id: m for m in found}, {key(m.id): m for m in found}, [], []
    for line in tree.read(path).splitlines():
        identity = json.loads(line).get("id") if line.startswith("{") else line.split(" ")[0]
        if not identity or identity.startswith("#"):
            continue
        mutant = by_id.get(identity) or by_key.get(key(identity))
        if mutant:
            chosen.append(mutant)
        else:
            gone.append(identity)
    return chosen, gone


def change_of(mutant, source):
    """'old => new', on one line."""
    old, new = source[mutant.span[0]:mutant.span[1]], mutant.new
    return " ".join(old.split()) + " => " + (new or "(nothing)")


def shown(mutant):
    """The lines of the change, before and after."""
    source = mutants.read(tree.ROOT, mutant.path)
    first, last = source.rfind("\n", 0, mutant.span[0]) + 1, source.find("\n", mutant.span[1])
    after = source[first:mutant.span[0]] + mutant.new + source[mutant.span[1]:last]
    return "".join(f"- {line}\n" for line in source[first:last].splitlines()) + \
        "".join(f"+ {line}\n" for line in after.splitlines())


def within(copy, suites, most):
    """The first suites, as many as take no longer than `most` seconds together; at least one."""
    total, chosen = 0, []
    for suite in suites:
        total += copy.times[suite]
        if not chosen or total <= most or most == 0:
            chosen.append(suite)
    return chosen


def try_one(mutant, copy, most):
    """The record of one mutant."""
    source, start, ran = tree.read(os.path.join(copy.path, mutant.path)), time.monotonic(), []
    record = {"id": mutant.id, "line": ctokens.line_of(source, mutant.span[0]), "change": change_of(mutant, source)}
    suites = copy.suites_for(mutant.path)
    with copy.broken(mutant.path, mutant.apply(source)):
        result, programs = "survived", 0
        for suite in within(copy, suites, most):
            if not ran or copy.needs_programs(suite) > programs:
                programs = copy.needs_programs(suite)
                if copy.build(programs):
                    result = "unbuilt"
                    break
            ran.append(suite)
            failed = copy.run_suite(suite, 20 + 3 * copy.times[suite])
            if failed:
                result = "killed"
                record.update(suite=suite, test=failed)
                break
    record.update(result=result, suites=len(ran), of=len(suites), seconds=round(time.monotonic() - start, 1))
    return record


def stamp():
    """A hash of all that a result depends on, of the sources and of the tests."""
    total = hashlib.sha256()
    for name in sorted(tree.files_under(tree.ROOT)):
        if not name.startswith("tests/mutations/"):
            with open(os.path.join(tree.ROOT, name), "rb") as data:
                total.update(name.encode() + b"\0" + hashlib.sha256(data.read()).digest())
    return total.hexdigest()[:16]


def earlier(path, now):
    """Records of a run of the same tree; a file of another tree is put aside."""
    if not os.path.exists(path):
        return []
    records = [json.loads(line) for line in tree.read(path).splitlines()]
    if not records or records[0].get("tree") != now:
        os.replace(path, path + ".old")
        return []
    return records[1:]


def run_all(chosen, options):
    """Records of all; those of an earlier run of the same tree are taken as they are."""
    now, lock = stamp(), threading.Lock()
    records = earlier(options.results, now)
    done = {record["id"] for record in records}
    chosen = [mutant for mutant in chosen if mutant.id not in done]
    copies = queue.Queue()
    for copy in tree.copies(options.work, options.jobs) if chosen else []:
        copies.put(copy)
    with open(options.results, "a", encoding="utf-8") as out:
        if not records and out.tell() == 0:
            out.write(json.dumps({"tree": now}) + "\n")

        def one(mutant):
            copy = copies.get()
            try:
                record = try_one(mutant, copy, options.most)
            finally:
                copies.put(copy)
            with lock:
                out.write(json.dumps(record) + "\n")
                out.flush()
                print(f"{record['result']:9}{record['seconds']:7.1f} s  {record.get('suite', '-'):16} {record['id']}  "
                      f"{record['change'][:60]}", flush=True)
            return record

        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            records += list(pool.map(one, chosen))
    return records


def score(records):
    """Prints killed of built, by operator and by room."""
    for title, of in (("operator", lambda i: i.split(":")[2]), ("room", lambda i: os.path.dirname(i.split(":")[0])),
                      ("all", lambda i: "")):
        table = collections.defaultdict(collections.Counter)
        for record in records:
            table[of(record["id"])][record["result"]] += 1
        print(f"{title:28}  built  killed  survived")
        for row, count in sorted(table.items()):
            built = count["killed"] + count["survived"]
            print(f"  {row:26} {built:6} {count['killed']:7} {count['survived']:9}" +
                  (f"   {100 * count['killed'] / built:5.1f} %" if built else ""))


def count(chosen):
    """Prints how many mutants there are, by operator and by room."""
    for title, of in (("operator", lambda m: m.operator), ("room", lambda m: m.room)):
        print(title)
        for row, number in sorted(collections.Counter(of(m) for m in chosen).items()):
            print(f"  {row:26} {number:6}")
    print(f"all{'':24} {len(chosen):6}")


def judge(records):
    """Exit code: 1 if a survivor has no reason in survivors.txt."""
    known, bad = survivors(), 0
    keys = {key(identity) for identity in known}
    for record in records:
        if record["result"] == "survived" and key(record["id"]) not in keys:
            bad = 1
            print(f"survived, and survivors.txt gives no reason: {record['id']}  line {record['line']}: "
                  f"{record['change']}")
    return bad


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    for word in ("--list", "--count", "--run"):
        parser.add_argument(word, action="store_true")
    for word, kind, value in (("--sample", int, 0), ("--seed", int, 1), ("--jobs", int, os.cpu_count() or 1),
                              ("--most", float, 0)):
        parser.add_argument(word, type=kind, default=value)
    for word, value in (("--file", ""), ("--ids", ""), ("--show", ""), ("--score", ""), ("--results", ""),
                        ("--work", tree.WORK)):
        parser.add_argument(word, default=value)
    options = parser.parse_args()
    options.work = os.path.abspath(options.work)
    options.results = options.results or os.path.join(options.work, "results.jsonl")
    return options


def main():
    options = arguments()
    if options.score:
        records = [json.loads(line) for line in tree.read(options.score).splitlines()]
        score([record for record in records if "id" in record])
        return 0
    found = mutants.all_of(tree.ROOT, options.file)
    chosen = sample(found, options.sample, options.seed) if options.sample else found
    if options.ids:
        chosen, gone = named(found, options.ids)
        print(f"{len(chosen)} mutants; {len(gone)} are no longer in the sources")
    if options.show:
        for mutant in found:
            if options.show in mutant.id:
                print(mutant.id + "\n" + shown(mutant), end="")
    elif options.list:
        for mutant in chosen:
            source = mutants.read(tree.ROOT, mutant.path)
            print(mutant.id, ctokens.line_of(source, mutant.span[0]), change_of(mutant, source))
    elif options.count:
        count(chosen)
        bare = mutants.without_mutants(tree.ROOT, found) if not options.file else []
        print(f"functions without a mutant: {len(bare)}", *bare, sep="\n    ")
    else:
        os.makedirs(options.work, exist_ok=True)
        records = run_all(chosen, options)
        score(records)
        return judge(records)
    return 0


if __name__ == "__main__":
    sys.exit(main())
