//! The code in the README and in the pages about services.

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub mod readme {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/services/overview.md")]
#[doc = include_str!("../../docs/services/http.md")]
#[doc = include_str!("../../docs/services/grpc.md")]
#[doc = include_str!("../../docs/services/databases.md")]
#[doc = include_str!("../../docs/services/redis.md")]
pub mod services {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/overload.md")]
pub mod overload {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/testing.md")]
pub mod testing {}

#[cfg(doctest)]
#[doc = include_str!("../../retry-macros/docs/retry.md")]
#[doc = include_str!("../../retry-macros/docs/retry_block.md")]
#[doc = include_str!("../../retry-macros/docs/classify.md")]
pub mod macros {}
