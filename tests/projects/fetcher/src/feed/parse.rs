pub mod dates;
