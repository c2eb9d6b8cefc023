//! The chapters of the guide, so that the blocks of code in them are compiled and run: `cargo test -p reattempt-guide`.
//! `tests/` judges the other blocks, and whether a chapter is missing here.

macro_rules! chapters {
    ($($name:ident: $file:literal,)*) => {
        $(
            #[cfg(doctest)]
            #[doc = include_str!(concat!("src/", $file))]
            mod $name {}
        )*
    };
}

chapters! {
    index: "index.md",
    first: "first.md",
    which_errors: "which-errors.md",
    delays: "delays.md",
    running: "running.md",
    deadlines: "deadlines.md",
    mapping_errors: "mapping-errors.md",
    layers: "layers.md",
    libraries: "libraries.md",
    idempotency: "idempotency.md",
    nesting: "nesting.md",
    protocol: "protocol.md",
    overload: "overload.md",
    pictures: "storms/pictures.md",
    priorities: "priorities.md",
    daemons: "daemons.md",
    streams: "streams.md",
    blocks: "blocks.md",
    transactions: "transactions.md",
    configuration: "configuration.md",
    agents: "agents.md",
    wasm: "wasm.md",
    testing: "testing.md",
    operating: "operating.md",
    cargo_retry: "cargo-retry.md",
    outage: "outage.md",
    tasks: "tasks.md",
    beyond: "beyond.md",
    migrating: "migrating.md",
    migrating_tower: "migrating-tower.md",
    expansion: "expansion.md",
    costs: "costs.md",
    errors: "errors.md",
}
