use reattempt::retry;

#[retry(max = true, on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(backoff = 2, on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

#[retry(jitter = true, on(_))]
fn fetch_c() -> Result<u32, String> {
    Ok(1)
}

#[retry(factor = "2", on(_))]
fn fetch_d() -> Result<u32, String> {
    Ok(1)
}

#[retry(fast_first = "yes", on(_))]
fn fetch_e() -> Result<u32, String> {
    Ok(1)
}

#[retry(name = 3, on(_))]
fn fetch_f() -> Result<u32, String> {
    Ok(1)
}

#[retry(on = "timeout")]
fn fetch_g() -> Result<u32, String> {
    Ok(1)
}

#[retry(deadline = false, on(_))]
fn fetch_h() -> Result<u32, String> {
    Ok(1)
}

#[retry(cap = '1', on(_))]
fn fetch_i() -> Result<u32, String> {
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
}
