//! What is retried, by closures as it stands here, by attributes as a function that has it for a body.

use std::future::ready as at_once;
use std::hint::black_box;
use std::io;

use crate::cases::{Fault, Huge, Script, Yield};

pub(super) async fn ready(script: &Script) -> Result<u64, Fault> {
    at_once(()).await;
    script.small()
}

pub(super) async fn pending(script: &Script) -> Result<u64, Fault> {
    Yield::once().await;
    script.small()
}

pub(super) async fn many(script: &Script) -> io::Result<[u64; 8]> {
    Yield::once().await;
    script.large()
}

pub(super) async fn huge(script: &Script) -> Result<u64, Huge> {
    Yield::once().await;
    script.huge()
}

/// 256 bytes are kept while it waits.
pub(super) async fn kept(script: &Script) -> Result<u64, Fault> {
    let kept = [script; 32];
    Yield::once().await;
    black_box(&kept);
    script.small()
}
