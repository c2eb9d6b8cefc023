//! Arguments: none to eight, by value and by reference, with resources between them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use reattempt_supervisor::{Step, StepError, WorkflowContext, step, workflow};
use serde::{Deserialize, Serialize};

use super::{Log, task_result};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Cart {
    items: Vec<String>,
    notes: BTreeMap<String, Option<u64>>,
}

#[step]
async fn nothing(_: &Step) -> Result<u32, String> {
    Ok(1)
}

#[step]
async fn one(_step: &Step, a: u32) -> Result<u32, String> {
    Ok(a)
}

#[step(retry(on(_)))]
#[expect(clippy::too_many_arguments, reason = "as many as there may be")]
async fn eight(
    _: &Step,
    mut a: u32,
    (b, c): (u32, u32),
    [d, ..]: [u32; 2],
    _: u32,
    _e: u32,
    f @ 0..: u32,
    g: &u32,
    h: u32,
) -> Result<u32, String> {
    a += b;
    Ok(a + c + d + f + g + h)
}

#[step]
async fn with_resources(
    step: &Step,
    text: &str,
    #[with] log: &Log,
    slice: &[u32],
    maybe: Option<&String>,
    #[with] number: &u64,
    cow: Cow<'_, str>,
    owned: String,
    cart: &Cart,
    #[with] _words: &Vec<&'static str>,
) -> Result<String, String> {
    log.add(format!(
        "{text} {slice:?} {maybe:?} {number} {cow} {owned} {} {}",
        cart.items.len(),
        step.key().is_empty()
    ));
    Ok(owned)
}

#[expect(single_use_lifetimes, reason = "as somebody may write them")]
#[step]
async fn named<'a, 'b: 'a>(step: &'a Step, x: &'b str, y: &'a str) -> Result<String, String>
where
    'a: 'a,
{
    let longer: &'a str = if step.key().len() > 1 { x } else { y };
    Ok(longer.to_owned())
}

#[step(args = "ignore")]
async fn changing(_: &Step, list: &mut Vec<u32>) -> Result<usize, String> {
    list.push(1);
    Ok(list.len())
}

#[workflow]
async fn none(context: &WorkflowContext) -> Result<u32, StepError> {
    let mut list = Vec::new();
    changing(context, &mut list).await?;
    Ok(nothing(context).await? + one(context, 2).await?)
}

#[workflow]
#[expect(clippy::too_many_arguments, reason = "as many as there may be")]
#[expect(single_use_lifetimes, reason = "as somebody may write them")]
async fn all<'a>(
    context: &'a WorkflowContext,
    mut a: u32,
    (b, c): (u32, u32),
    [d, ..]: [u32; 2],
    _: u32,
    _f: u32,
    cart: Cart,
    text: Cow<'static, str>,
    none: Option<()>,
) -> Result<(u32, Cart), StepError> {
    a += 1;
    let sum = eight(context, a, (b, c), [d, 0], 9, 9, 1, &2, 3).await?;
    let owned = "owned".to_owned();
    let text = with_resources(
        context,
        &text,
        &[1, 2],
        Some(&owned),
        Cow::Borrowed("cow"),
        owned.clone(),
        &cart,
    )
    .await?;
    assert_eq!((text.as_str(), none), ("owned", None));
    assert_eq!(named(context, "x", "y").await?, "x");
    Ok((sum, cart))
}

#[tokio::test(start_paused = true)]
async fn none_at_all() {
    assert_eq!(
        task_result(none(), |it| it.register(none)).await.unwrap(),
        3
    );
}

#[tokio::test(start_paused = true)]
async fn as_many_as_there_may_be() {
    let log = Log::default();
    let cart = Cart {
        items: vec!["a \"book\", []".to_owned()],
        notes: BTreeMap::from([("big".to_owned(), Some(u64::MAX)), ("no".to_owned(), None)]),
    };
    let submission = all(
        1,
        (2, 3),
        [4, 5],
        6,
        7,
        cart.clone(),
        Cow::Borrowed("text"),
        None,
    );
    let known = log.clone();
    let answer = task_result(submission, |it| {
        it.register(all).with(known).with(5_u64).with(vec!["word"])
    });
    assert_eq!(answer.await.unwrap(), (2 + 2 + 3 + 4 + 1 + 2 + 3, cart));
    assert_eq!(
        log.take(),
        ["text [1, 2] Some(\"owned\") 5 cow owned 1 false"]
    );
}

#[tokio::test(start_paused = true)]
async fn calls_are_send() {
    fn send<T: Send>(value: T) -> T {
        value
    }
    #[workflow]
    async fn asks(context: &WorkflowContext) -> Result<u32, StepError> {
        send(one(context, 1)).await
    }
    assert_eq!(
        task_result(asks(), |it| it.register(asks)).await.unwrap(),
        1
    );
}
