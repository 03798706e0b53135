"""Checks an export of a chain, or what `starter show --json` prints: python3 check_digests.py < refund-17.jsonl"""
import hashlib, json, sys

class Number(str):
    """A number as it was written."""

def canonical(v):
    if isinstance(v, Number):
        return str(v)
    if isinstance(v, dict):
        return "{" + ",".join(canonical(k) + ":" + canonical(v[k]) for k in sorted(v)) + "}"
    if isinstance(v, list):
        return "[" + ",".join(map(canonical, v)) + "]"
    return json.dumps(v, ensure_ascii=False)

parent = None
for line in map(lambda l: json.loads(l, parse_int=Number, parse_float=Number), sys.stdin):
    idea = line.get("idea", line)
    if "meta" in idea:  # an export begins with a line that is no Idea
        digest = idea["meta"].pop("digest")
        whole = hashlib.sha256(canonical(idea).encode()).hexdigest() == digest
        linked = parent in (None, idea["meta"].get("parent"))
        print(idea["meta"]["at"], digest, "good" if whole and linked else "BROKEN")
        parent = digest
