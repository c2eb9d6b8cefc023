//! What other libraries call it.

use reattempt::retry;

#[retry(retries = 3, on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(attempts = 3, on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

#[retry(max_attempts = 3, on(_))]
fn fetch_c() -> Result<u32, String> {
    Ok(1)
}

#[retry(max_retries = 3, on(_))]
fn fetch_d() -> Result<u32, String> {
    Ok(1)
}

#[retry(delay = "1s", on(_))]
fn fetch_e() -> Result<u32, String> {
    Ok(1)
}

#[retry(interval = "1s", on(_))]
fn fetch_f() -> Result<u32, String> {
    Ok(1)
}

#[retry(max_delay = "1s", on(_))]
fn fetch_g() -> Result<u32, String> {
    Ok(1)
}

#[retry(waitDuration = 500, min = "1s", max = "30s", on(_))]
fn fetch_java() -> Result<u32, String> {
    Ok(1)
}

#[retry(multiplier = 2.0, on(_))]
fn fetch_h() -> Result<u32, String> {
    Ok(1)
}

#[retry(retry_on(_))]
fn fetch_i() -> Result<u32, String> {
    Ok(1)
}

#[retry(when = |_| true)]
fn fetch_j() -> Result<u32, String> {
    Ok(1)
}

#[retry(if = |_| true)]
fn fetch_k() -> Result<u32, String> {
    Ok(1)
}

#[retry(attempt_timeout = "1s", on(_))]
fn fetch_l() -> Result<u32, String> {
    Ok(1)
}

#[retry(per_try_timeout = "1s", on(_))]
fn fetch_m() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_java();
    let _ = fetch_a();
    let _ = fetch_b();
    let _ = fetch_c();
    let _ = fetch_d();
    let _ = fetch_e();
    let _ = fetch_f();
    let _ = fetch_g();
    let _ = fetch_h();
    let _ = fetch_i();
    let _ = fetch_j();
    let _ = fetch_k();
    let _ = fetch_l();
    let _ = fetch_m();
}
