"""Checks the proofs of decisions in an export of a chain, with a JWKS file and nothing else: python3 check_proofs.py deciders.json < refund-17.jsonl"""
import base64, hashlib, json, re, sys, unicodedata, urllib.parse
from datetime import datetime
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
from cryptography.hazmat.primitives.hashes import SHA256

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

def raw(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))

def number(data):
    return int.from_bytes(data, "big")

def sha256(data):
    return hashlib.sha256(data).digest()

def verify(key, data, signature):  # raises InvalidSignature
    if key["kty"] == "OKP":
        ed25519.Ed25519PublicKey.from_public_bytes(raw(key["x"])).verify(signature, data)
    elif key["kty"] == "EC":
        pair = signature if "passkey" in key else utils.encode_dss_signature(number(signature[:32]), number(signature[32:]))
        public = ec.EllipticCurvePublicNumbers(number(raw(key["x"])), number(raw(key["y"])), ec.SECP256R1())
        public.public_key().verify(pair, data, ec.ECDSA(SHA256()))
    else:
        rsa.RSAPublicNumbers(number(raw(key["e"])), number(raw(key["n"]))).public_key().verify(signature, data, padding.PKCS1v15(), SHA256())

def asserted(key, body, part):  # what a passkey signs: where it was used, that its person was there, and the SHA-256 of the payload
    device, page, signature = (raw(json.loads(part)[name]) for name in ("authenticatorData", "clientDataJSON", "signature"))
    verify(key, device + sha256(page), signature)
    says, use = json.loads(page), key["passkey"]
    return [name for name, good in {
        "type": says["type"] == "webauthn.get", "challenge": raw(says["challenge"]) == sha256(body), "origin": says["origin"] in use["origins"],
        "crossOrigin": not says.get("crossOrigin") and "topOrigin" not in says, "rpId": device[:32] == sha256(use["rpId"].encode()),
        "flags": device[32] & 5 == 5}.items() if not good]

def typed(call):  # 1.2@⑬ and 1.2@13 are one Call
    return urllib.parse.unquote(unicodedata.normalize("NFKC", call))

def wrong(key, process, d):
    head, body, signature = d["proof"].split(".")
    if ("passkey" in key) != (json.loads(raw(head)).get("typ") == "webauthn"):
        return ["typ"]
    differ = asserted(key, raw(body), raw(signature)) if "passkey" in key else verify(key, f"{head}.{body}".encode(), raw(signature)) or []
    says, said = json.loads(raw(body)), {"reason": d["reason"]} if d.get("reason") else {}
    order = orders.get(d.get("under"))  # a standing order: one proof for every Call that it covers
    if "under" in d:
        said, given = {"reason": order["reason"]} if order.get("reason") else {}, {k: order[k] for k in ("id", "tool", "when", "count", "until") if k in order}
        d = {**d, "call": order["id"], "decision": "allow", "digest": hashlib.sha256(canonical(given).encode()).hexdigest()}
    said |= {"amend": lambda: {"params": d["signed"].get("params", {})}, "replace": lambda: {"with": d["with"]},
             "hand-over": lambda: {k: d[k] for k in ("to", "toGroup") if k in d}, "answer": lambda: {"output": d.get("output")}}.get(d["decision"], dict)()
    found = {"process": re.sub("/~part/[0-9]+", "", process), "call": typed(d["call"]), "digest": d["digest"], "decision": d["decision"], "sub": d["by"],
             "groups": d.get("groups", []), "iss": key["iss"], "details": hashlib.sha256(canonical(said).encode()).hexdigest()}
    says = {**says, "call": typed(says["call"]), "groups": says.get("groups", []), "process": re.sub("/~part/[0-9]+", "", says["process"])}
    differ += [name for name, value in found.items() if says[name] != value]
    may = {"people": [says["sub"]], "groups": says["groups"]}
    differ += [name for name, names in may.items() if "*" not in key.get(name, []) and not set(names) <= set(key.get(name, []))]
    if "withdrawn" in key and datetime.fromisoformat(d["at"]) >= datetime.fromisoformat(key["withdrawn"]):
        differ.append("withdrawn")
    return differ

orders = {}
keys = {key["kid"]: key for key in json.load(open(sys.argv[1]))["keys"]}
for line in map(lambda text: json.loads(text, parse_int=Number, parse_float=Number), sys.stdin):
    orders |= {e["decision"]["order"]["id"]: e["decision"]["order"] for e in line.get("log", []) if "order" in e.get("decision", {})}
    for entry in line.get("log", []):
        d = entry.get("decision", {})
        if d.get("proof") and "order" not in d:
            kid = json.loads(raw(d["proof"].split(".")[0]))["kid"]
            try:
                why = wrong(keys[kid], line["idea"]["meta"]["process"], d)
            except Exception as e:
                why = [type(e).__name__]
            print(d["call"], d["decision"], "by", d["by"], "key", kid, "BROKEN: " + ", ".join(why) if why else "good")
