"""What schemathesis is told beside the document.

A field marked `readOnly` is accepted in a write and ignored, so that people can read, change and write back.
schemathesis takes its presence for a fault that must be refused; such bodies are not generated.
"""

import schemathesis


def read_only(schema, root):
    """The names of all read-only fields of a body's schema, at any depth."""
    if "$ref" in schema:
        return read_only(root["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]], root)
    names = set()
    for name, field in schema.get("properties", {}).items():
        names |= {name} if field.get("readOnly") else read_only(field, root)
    return names | (read_only(schema["items"], root) if "items" in schema else set())


def holds(value, names):
    if isinstance(value, dict):
        return bool(names & value.keys()) or any(holds(each, names) for each in value.values())
    return isinstance(value, list) and any(holds(each, names) for each in value)


@schemathesis.hook
def filter_body(context, body):
    operation = context.operation
    media = operation.definition.raw["requestBody"]["content"]["application/json"]
    return not holds(body, read_only(media["schema"], operation.schema.raw_schema))
