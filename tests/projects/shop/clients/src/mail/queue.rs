use super::*;

//~ put
#[retry(policy = "storage")]
pub(super) fn put(order: u64) -> Result<(), Fault> {
    if order == 0 {
        Err(Fault::Unknown)
    } else {
        Ok(())
    }
}
