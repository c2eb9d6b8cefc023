//! What is retried: once where the compiler sees into it, and once as a call, like that of a client library.

use std::future::{poll_fn, ready};
use std::hint::black_box;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::cases::{Code, Huge, Script};

pub(super) type RequestResult = Result<u64, Code>;

/// Every error is retried.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "libraries give a reference"
)]
pub(super) fn any(_: &Code) -> bool {
    true
}

#[inline(never)]
pub(super) fn request(script: &Script) -> RequestResult {
    script.coded()
}

#[inline(never)]
pub(super) fn request_large(script: &Script) -> io::Result<[u64; 8]> {
    script.large()
}

#[inline(never)]
pub(super) fn request_huge(script: &Script) -> Result<u64, Huge> {
    script.huge()
}

pub(super) async fn small(script: &Script) -> RequestResult {
    ready(()).await;
    script.coded()
}

/// 256 bytes are kept over the await.
pub(super) async fn kept(script: &Script) -> RequestResult {
    let kept = [script; 32];
    ready(()).await;
    black_box(&kept);
    script.coded()
}

/// Pending as often as the script fails.
pub(super) async fn suspended(script: &Script) -> RequestResult {
    poll_fn(|_| pending(script)).await;
    script.coded()
}

fn pending(script: &Script) -> Poll<()> {
    if script.fails() {
        Poll::Pending
    } else {
        Poll::Ready(())
    }
}

/// The first two as futures whose poll is a call.
pub(super) struct Fetch<'s, const KEPT: usize> {
    script: &'s Script,
    kept: [&'s Script; KEPT],
}

pub(super) const fn fetch(script: &Script) -> Fetch<'_, 0> {
    Fetch { script, kept: [] }
}

pub(super) const fn fetch_kept(script: &Script) -> Fetch<'_, 32> {
    Fetch {
        script,
        kept: [script; 32],
    }
}

impl<const KEPT: usize> Future for Fetch<'_, KEPT> {
    type Output = RequestResult;

    #[inline(never)]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<RequestResult> {
        black_box(&self.kept);
        Poll::Ready(self.script.coded())
    }
}

/// The third.
pub(super) struct Suspended<'s>(&'s Script);

pub(super) const fn fetch_suspended(script: &Script) -> Suspended<'_> {
    Suspended(script)
}

impl Future for Suspended<'_> {
    type Output = RequestResult;

    #[inline(never)]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<RequestResult> {
        pending(self.0).map(|()| self.0.coded())
    }
}
