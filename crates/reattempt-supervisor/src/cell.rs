//! Values as a store keeps them: what stands in a column, and in the JSON of tasks.

use std::error::Error;
use std::time::Duration;

#[cfg(feature = "sqlite")]
use rusqlite::types::FromSql as InSqlite;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
#[cfg(not(feature = "sqlite"))]
use std::marker::Sized as InSqlite;
#[cfg(not(feature = "postgres"))]
use std::marker::Sized as InPostgres;
#[cfg(feature = "postgres")]
use tokio_postgres::types::FromSqlOwned as InPostgres;

use crate::time::Time;

/// Why what is stored is no value: other programs may have changed the store.
pub(crate) type NoValue = Box<dyn Error + Send + Sync>;

/// A value that a store keeps.
pub(crate) trait Cell: Sized {
    /// The type of its column.
    type Stored: InSqlite + InPostgres;

    /// Returns what a store keeps.
    fn to_stored(&self) -> Self::Stored;

    /// Returns the value that a store has kept.
    fn from_stored(stored: Self::Stored) -> Result<Self, NoValue>;
}

macro_rules! plain {
    ($($type:ty),*) => {$(
        impl Cell for $type {
            type Stored = Self;

            fn to_stored(&self) -> Self {
                self.clone()
            }

            fn from_stored(stored: Self) -> Result<Self, NoValue> {
                Ok(stored)
            }
        }
    )*};
}

plain!(bool, i16, i32, i64, String);

impl<T: Cell> Cell for Option<T>
where
    Option<T::Stored>: InSqlite + InPostgres,
{
    type Stored = Option<T::Stored>;

    fn to_stored(&self) -> Self::Stored {
        self.as_ref().map(T::to_stored)
    }

    fn from_stored(stored: Self::Stored) -> Result<Self, NoValue> {
        stored.map(T::from_stored).transpose()
    }
}

impl Cell for Time {
    type Stored = i64;

    fn to_stored(&self) -> i64 {
        self.as_micros()
    }

    fn from_stored(micros: i64) -> Result<Self, NoValue> {
        Ok(Self::from_micros(micros))
    }
}

/// In microseconds, bounded so that its sum with the time of a server cannot overflow.
impl Cell for Duration {
    type Stored = i64;

    fn to_stored(&self) -> i64 {
        i64::try_from(self.as_micros()).map_or(i64::MAX / 2, |micros| micros.min(i64::MAX / 2))
    }

    fn from_stored(micros: i64) -> Result<Self, NoValue> {
        Ok(Self::from_micros(u64::try_from(micros).unwrap_or_default()))
    }
}

/// Makes cells of types with a number, which say what they are where a number stands for none.
macro_rules! numbered {
    ($($type:ty: $what:literal),*) => {$(
        impl $crate::cell::Cell for $type {
            type Stored = i16;

            fn to_stored(&self) -> i16 {
                self.number()
            }

            fn from_stored(number: i16) -> Result<Self, $crate::cell::NoValue> {
                Self::from_number(number).ok_or_else(|| {
                    let what = $what;
                    format!("{number} is not a {what} that this release knows; update this program")
                        .into()
                })
            }
        }
    )*};
}

/// Makes cells of types around one value.
macro_rules! wrapped {
    ($($type:ident: $inner:ty),*) => {$(
        impl $crate::cell::Cell for $type {
            type Stored = $inner;

            fn to_stored(&self) -> $inner {
                self.0.clone()
            }

            fn from_stored(inner: $inner) -> Result<Self, $crate::cell::NoValue> {
                Ok(Self(inner))
            }
        }
    )*};
}

pub(crate) use {numbered, wrapped};

/// Serializes a value as it is stored, for `#[serde(with)]`.
pub(crate) fn serialize<T: Cell<Stored: Serialize>, S: Serializer>(
    value: &T,
    to: S,
) -> Result<S::Ok, S::Error> {
    value.to_stored().serialize(to)
}

/// Reads what [`serialize`] has written.
pub(crate) fn deserialize<'de, T: Cell<Stored: Deserialize<'de>>, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    let stored = T::Stored::deserialize(from)?;
    T::from_stored(stored).map_err(serde::de::Error::custom)
}
