"""Holds real answers of a running server against the schemas of its OpenAPI document.

    BASE=http://... KEY=... READER=... LIMITED=http://... LIMITED_KEY=... python tests/outside/answers.py

Every operation is asked for its success and for each failure the document lists (500 and 503 aside, which
nobody can ask for). Schemas are read strictly: a field that the document does not know is a fault.
BASE serves the demo tenant without rate limits; LIMITED is a server with limits of 1 and 2.
"""

import copy
import json
import os
import sys
import urllib.error
import urllib.request

from jsonschema import Draft202012Validator, FormatChecker

BASE, KEY, READER = (os.environ[name] for name in ("BASE", "KEY", "READER"))
LIMITED, LIMITED_KEY = os.environ["LIMITED"], os.environ["LIMITED_KEY"]
UNASKABLE = {"500", "503"}
faults: list[str] = []


def ask(method, path, key=KEY, body=None, base=BASE):
    """Status, headers and bytes of one request."""
    data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data=data, method=method)
    if key:
        request.add_header("Authorization", f"Bearer {key}")
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.status, reply.headers, reply.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.headers, refused.read()


def merged(parts):
    """One object schema for an `allOf` of objects, so that it can be read strictly."""
    whole = {"type": "object", "properties": {}, "required": []}
    for part in map(resolved, parts):
        whole["properties"].update(part.get("properties", {}))
        whole["required"] += part.get("required", [])
    return whole


def resolved(node):
    while "$ref" in node:
        target = DOCUMENT
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return node


def strict(node):
    """The same schema, in which an object has its own fields and no others."""
    if isinstance(node, list):
        return [strict(each) for each in node]
    if not isinstance(node, dict):
        return node
    if "allOf" in node:
        node = merged(node["allOf"])
    node = {name: strict(value) for name, value in node.items()}
    if node.get("type") == "object" and "properties" in node:
        node.setdefault("additionalProperties", False)
    return node


DOCUMENT = json.loads(ask("GET", "/api/openapi.json")[2])
STRICT = {"components": {"schemas": strict(DOCUMENT["components"]["schemas"])}}


def fault(what):
    faults.append(what)


def fits(name, schema, value):
    rooted = {**strict(copy.deepcopy(schema)), **STRICT}
    for error in Draft202012Validator(rooted, format_checker=FormatChecker()).iter_errors(value):
        way = "/".join(map(str, error.absolute_path))
        fault(f"{name}: {way}: {error.message[:200]}")


def check(operation, name, answer, expected, seen):
    """The answer has the status, the headers and the body that the document promises."""
    status, headers, body = answer
    name = f"{name} {status}"
    if str(status) != expected:
        return fault(f"{name}: {expected} was expected: {body[:200]!r}")
    response = resolved(operation["responses"].get(expected, {}))
    if not response:
        return fault(f"{name}: the document does not list it")
    seen.add(expected)
    for header, said in response.get("headers", {}).items():
        if resolved(said).get("required") and header not in headers:
            fault(f"{name}: the header {header} is missing")
    content = response.get("content", {})
    kind = (headers.get("Content-Type") or "").split(";")[0]
    if bool(content) != bool(body) or (content and kind not in content):
        return fault(f"{name}: {kind or 'no body'}, not {', '.join(content) or 'nothing'}")
    if kind == "application/json":
        schema = content[kind]["schema"]
        fits(name, schema, json.loads(body))
        if "example" in content[kind]:
            fits(f"{name} (its example)", schema, content[kind]["example"])
    return None


def first_id(path):
    """The id of something that a list shows."""
    data = json.loads(ask("GET", path + "?limit=1")[2])["data"]
    return data[0]["id"]


def ended_delivery():
    """A delivery that can be replayed: one that was cancelled when its webhook was switched off and on again."""
    webhook = {"name": "Replay", "channel": "email", "url": "mailto:replay@tests.example", "events": ["finding.created"]}
    path = "/api/v1/webhooks/" + json.loads(ask("POST", "/api/v1/webhooks", body=webhook)[2])["data"]["id"]
    for _ in range(100):
        ask("POST", "/api/v1/findings", body={"title": "A finding of the test", "severity": "low"})
        ask("PATCH", path, body={"active": False})
        ask("PATCH", path, body={"active": True})
        cancelled = json.loads(ask("GET", path + "/deliveries?state=cancelled")[2])["data"]
        if cancelled:
            return cancelled[0]["id"]
    raise SystemExit("no delivery was cancelled")


def with_id(path, identifier):
    """A path with an id in its one place."""
    beginning, rest = path.split("{", 1)
    return beginning + identifier + rest.split("}", 1)[1]


def asked(target, query):
    """An address with one more parameter."""
    return target + ("&" if "?" in target else "?") + query


def body_of(path, operation):
    """The example of the document, where it needs no id of this tenant."""
    example = operation["requestBody"]["content"]["application/json"]["example"]
    if path.endswith("/arrangements"):
        return {**example, "provider_id": first_id("/api/v1/concentration-risk/providers")}
    if path.endswith("/providers"):
        return {**example, "name": "A provider of the test"}
    return example


def failures(path, method, operation, target, seen):
    """Each failure that the document lists and that can be asked for."""
    name = f"{method} {path}"
    listed = operation["responses"]
    takes_body = "requestBody" in operation
    asks = {
        "401": lambda: ask(method, target, key=None),
        "413": lambda: ask(method, target, body=b'{"a":"' + b"x" * 300_000 + b'"}'),
        "414": lambda: ask(method, asked(target, "search=" + "x" * 9000)),
        "422": lambda: ask(method, target, body={"no_such_field": 1}) if takes_body else ask(method, asked(target, "no_such=1")),
        "501": lambda: ask(method, target),
    }
    if "x-permission" in operation:
        asks["403"] = lambda: ask(method, target, key=READER, body={} if takes_body else None)
    if "{" in path:
        body = body_of(path, operation) if takes_body else None
        asks["404"] = lambda: ask(method, with_id(path, "no_such"), body=body)
    if "501" in listed:
        # A row without code takes anything: what it will refuse is not known yet.
        asks.pop("422")
    for status, request in asks.items():
        if status in listed:
            check(operation, name, request(), status, seen)
    if "429" in listed:
        for _ in range(4):
            answer = ask(method, target, key=LIMITED_KEY, base=LIMITED)
        check(operation, name, answer, "429", seen)


def reads(path, operation, target, seen):
    """Success, and every word of every filter."""
    check(operation, f"GET {path}", ask("GET", target), "200", seen)
    for parameter in operation.get("parameters", []):
        words = parameter["schema"].get("enum", []) if parameter["in"] == "query" else []
        for word in words:
            check(operation, f"GET {path}?{parameter['name']}={word}", ask("GET", asked(target, f"{parameter['name']}={word}")), "200", seen)


def main():
    seen = {}
    made = {}
    order = {"post": 0, "get": 1, "put": 2, "patch": 3, "delete": 4}
    operations = [(path, method, each) for path, item in DOCUMENT["paths"].items() for method, each in item.items()]
    # Deletes come last, and arrangements go before their provider.
    for path, method, operation in sorted(operations, key=lambda each: (order[each[1]], each[0])):
        here = seen.setdefault((path, method), set())
        verb = method.upper()
        available = operation.get("x-available", True)
        beginning = path.split("/{")[0]
        target = path
        if "{" in path and available:
            known = ended_delivery() if beginning.endswith("/deliveries") else made.get(beginning) or first_id(beginning)
            target = with_id(path, known)
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "query" and parameter.get("required"):
                target = asked(target, f"{parameter['name']}=recovery")
        if available and method == "get":
            reads(path, operation, target, here)
        elif available:
            body = body_of(path, operation) if "requestBody" in operation else None
            expected = next(status for status in ("201", "204", "200") if status in operation["responses"])
            answer = ask(verb, target, body=body)
            check(operation, f"{verb} {path}", answer, expected, here)
            if method == "post" and answer[0] == 201:
                made[path] = json.loads(answer[2])["data"].get("id")
            if path.endswith("/analyze"):
                check(operation, f"{verb} {path}", ask(verb, target, body={"what_if": {}}), "200", here)
        failures(path, verb, operation, target, here)
    for (path, method), statuses in seen.items():
        operation = DOCUMENT["paths"][path][method]
        never = set(operation["responses"]) - statuses - UNASKABLE
        if not operation.get("x-available", True):
            never -= {"200", "422"}
        # A read needs no permission, and a path without an id has nothing that could be missing.
        never -= set() if "x-permission" in operation else {"403"}
        never -= set() if "{" in path else {"404"}
        if never:
            fault(f"{method.upper()} {path}: {', '.join(sorted(never))} was never seen")
    for line in faults:
        print(line, file=sys.stderr)
    print(f"answers: {len(seen)} operations, {sum(map(len, seen.values()))} kinds of answer, {len(faults)} faults")
    return 1 if faults or len(seen) < 60 else 0


sys.exit(main())
