//! Clients of the services behind the shop.

pub mod catalogue;
pub mod mail;
pub mod payments;
pub mod stock;
