use reattempt::retry;

unsafe extern "C" {
    #[retry(max = 3, on(_))]
    fn fetch() -> i32;
}

fn main() {
    let _ = unsafe { fetch() };
}
