//! What the table `retry_meta` of a database says about the others.

use super::Salt;

/// The version of the tables. It rises when a release before cannot work with them any more.
const VERSION: i64 = 1;

/// Returns the rows of a new store.
pub(super) fn rows_of(salt: Salt) -> [(&'static str, i64); 4] {
    let (high, low) = salt.halves();
    [
        ("version", VERSION),
        ("salt", high),
        ("salt_2", low),
        ("store", salt.store_id()),
    ]
}

/// Returns a statement that makes the store another one, unless workers hold leases. It changes three rows. The time of
/// the store is an expression.
pub(super) fn renewal(salt: Salt, now: &str) -> String {
    let (high, low) = salt.halves();
    let store = salt.store_id();
    format!(
        "UPDATE retry_meta SET value = CASE key WHEN 'salt' THEN {high} WHEN 'salt_2' THEN {low} ELSE {store} END
         WHERE key IN ('salt', 'salt_2', 'store') AND NOT EXISTS (SELECT 1 FROM retry_worker WHERE lease_until > {now})"
    )
}

/// Returns the salt of a store with these rows, or why this release cannot use its tables.
pub(super) fn salt_of(rows: &[(String, i64)]) -> Result<Salt, String> {
    let value = |wanted: &str| {
        let row = rows.iter().find(|(key, _)| key == wanted);
        row.map(|(_, value)| *value)
    };
    if let Some(version) = value("version").filter(|version| *version > VERSION) {
        return Err(format!(
            "the tables have version {version} and this release knows {VERSION}; update this program"
        ));
    }
    // Development versions counted revisions.
    let halves = value("salt").zip(value("salt_2"));
    match (halves, value("store"), value("revision")) {
        (Some((high, low)), Some(_), None) => Ok(Salt::from_halves(high, low)),
        _ => Err(
            "the tables come from a development version before the first release; use a new database, or drop the \
             tables and functions whose names start with `retry_`"
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(given: &[(&str, i64)]) -> Vec<(String, i64)> {
        let owned = given.iter().map(|(key, value)| ((*key).to_owned(), *value));
        owned.collect()
    }

    #[test]
    fn a_store_has_the_salt_that_it_got() {
        for bits in [0, 1, u128::MAX, 1 << 63, 1 << 64, 1 << 127] {
            let salt = Salt::from_u128(bits);
            assert_eq!(salt_of(&rows(&rows_of(salt))), Ok(salt), "{bits}");
        }
    }

    /// Computed with Python: `int.from_bytes(sha256(b"reattempt store" + bytes(range(16))).digest()[:8], signed=True)`.
    #[test]
    fn the_number_of_a_store_comes_from_its_salt() {
        let salt = Salt::from_u128(0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f);
        assert_eq!(salt.store_id(), -2_366_801_367_484_091_229);
        assert_eq!(format!("{salt:?}"), "Salt(..)");
    }

    #[test]
    fn tables_before_the_first_release_are_refused() {
        let whole = rows(&rows_of(Salt::from_u128(7)));
        let with_revision = [whole.clone(), rows(&[("revision", 9)])].concat();
        let old = rows(&[("version", 1), ("salt", 7), ("revision", 9)]);
        for rows in [
            with_revision,
            old,
            rows(&[("version", 1), ("salt", 7)]),
            Vec::new(),
        ] {
            let error = salt_of(&rows);
            assert!(
                error.is_err_and(|error| error.contains("development version")),
                "{rows:?}"
            );
        }
    }

    #[test]
    fn tables_of_a_later_release_are_refused() {
        let mut later = rows(&rows_of(Salt::from_u128(7)));
        later.insert(0, ("version".to_owned(), 2));
        let error = salt_of(&later);
        assert!(error.is_err_and(|error| error.contains("version 2")));
    }
}
