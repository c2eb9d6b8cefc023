"""Reads `cargo metadata`; fails where a package that users compile needs a newer Rust than the one that is promised."""

import json
import sys

# The features that need more say so where they stand in the manifest.
# Tests switch on more of sqlx.
ALLOWED = {
    (name, "0.9")
    for name in ("sqlx", "sqlx-core", "sqlx-macros", "sqlx-macros-core", "sqlx-mysql", "sqlx-postgres", "sqlx-sqlite")
}



def numbers(version):
    return [int(part) for part in version.split(".")[:2]]


def main(oldest):
    metadata = json.load(sys.stdin)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    # What only tests need is no matter of the users.
    waiting = [name for name in metadata["workspace_members"] if packages[name]["publish"] is None]
    seen = set(waiting)
    while waiting:
        for dependency in nodes[waiting.pop()]["deps"]:
            kinds = {kind["kind"] for kind in dependency["dep_kinds"]}
            if kinds != {"dev"} and dependency["pkg"] not in seen:
                seen.add(dependency["pkg"])
                waiting.append(dependency["pkg"])
    faults = [
        f"{package['name']} {package['version']} needs Rust {package['rust_version']}"
        for package in (packages[name] for name in sorted(seen))
        if package["rust_version"]
        and numbers(package["rust_version"]) > numbers(oldest)
        and (package["name"], package["version"].rsplit(".", 1)[0]) not in ALLOWED
    ]
    print("\n".join(faults) or f"none of {len(seen)} packages needs more than Rust {oldest}")
    return bool(faults)


sys.exit(main(sys.argv[1]))
