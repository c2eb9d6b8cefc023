use reattempt::retry;

#[retry(max, on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(backoff, on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

#[retry(base, on(_))]
fn fetch_c() -> Result<u32, String> {
    Ok(1)
}

#[retry(jitter, on(_))]
fn fetch_d() -> Result<u32, String> {
    Ok(1)
}

#[retry(on)]
fn fetch_e() -> Result<u32, String> {
    Ok(1)
}

#[retry(until, on(_))]
fn fetch_f() -> Result<u32, String> {
    Ok(1)
}

#[retry(fallback, on(_))]
fn fetch_g() -> Result<u32, String> {
    Ok(1)
}

#[retry(context, on(_))]
fn fetch_h() -> Result<u32, String> {
    Ok(1)
}

#[retry(clone, on(_))]
fn fetch_i() -> Result<u32, String> {
    Ok(1)
}

#[retry(name, on(_))]
fn fetch_j() -> Result<u32, String> {
    Ok(1)
}

#[retry(policy, on(_))]
fn fetch_k() -> Result<u32, String> {
    Ok(1)
}

#[retry(timer, on(_))]
fn fetch_l() -> Result<u32, String> {
    Ok(1)
}

#[retry(crate, on(_))]
fn fetch_m() -> Result<u32, String> {
    Ok(1)
}

fn main() {
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
