//! The names of operations that have none of their own.

use reattempt::{observe, retry};

use crate::methods::{Api, Client, Other, r#try};

#[tokio::test]
async fn a_method_is_called_by_its_type() {
    let all = || -> Vec<(String, u64)> {
        let stats = observe::stats();
        let ours = |name: &str| name.starts_with("telemetry::methods::");
        let ours = stats.operations().iter().filter(|it| ours(it.name()));
        ours.map(|it| (it.name().to_owned(), it.calls())).collect()
    };
    let name = |name: &str| format!("telemetry::methods::{name}");
    assert_eq!(all(), []);
    let failed = [
        Client(1_u8).get().is_err(),
        Client(1_u16).get().is_err(),
        Client(1_u8).later().await.is_err(),
        Client::<u8>::connect().is_err(),
        Other("").get().is_err(),
        Api::get(&Other("")).is_err(),
        Other("").default().is_err(),
        Api::default(&&mut Client(vec![1])).is_err(),
        Api::get(&[1_u8][..]).is_err(),
        Api::get(&&Other("")).is_err(),
        Api::get(&&mut Client(vec![1])).is_err(),
        r#try::Plain.r#match().is_err(),
        r#try::get().is_err(),
    ];
    assert!(failed.iter().all(|failed| *failed));
    let expected = [
        ("Api::default", 2),
        ("Api::get", 2),
        ("Client::connect", 1),
        ("Client::get", 3),
        ("Client::later", 1),
        ("Other::get", 2),
        ("try::Plain::match", 1),
        ("try::get", 1),
        ("try::inside", 2),
    ];
    assert_eq!(all(), expected.map(|(it, calls)| (name(it), calls)));
}

struct Hooked;

impl Hooked {
    #[retry(max = 2, backoff = "none", on(_), on_retry = |retry| names.push(retry.operation()))]
    #[expect(clippy::unused_self, reason = "only its name is looked at")]
    fn get(&self, names: &mut Vec<&'static str>) -> Result<(), String> {
        Err(names.len().to_string())
    }
}

#[test]
fn hooks_know_the_same_name() {
    let mut names = Vec::new();
    assert!(Hooked.get(&mut names).is_err());
    assert_eq!(names, ["telemetry::names::Hooked::get"]);
}
