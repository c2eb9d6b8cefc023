//! Compensations, and the arguments that they get.

use reattempt_supervisor::{State, Step, StepError, SubmitError, WorkflowContext, step, workflow};

use super::{Log, task_result};

#[step(undo = unmade)]
async fn make_it(
    _: &Step,
    #[with] log: &Log,
    text: &str,
    slice: &[u32],
    maybe: Option<&str>,
    none: Option<&u32>,
    owned: Option<String>,
    number: &u32,
    unmade: u32,
) -> Result<Vec<u32>, String> {
    log.add(format!(
        "make_it {text} {slice:?} {maybe:?} {none:?} {owned:?} {number} {unmade}"
    ));
    Ok(vec![unmade])
}

#[step(retry(max = 3, base = "1ms", on(_)), complete_by = "1m")]
async fn unmade(
    step: &Step,
    text: &str,
    slice: &[u32],
    maybe: Option<&str>,
    none: Option<&u32>,
    owned: Option<String>,
    number: &u32,
    unmade: u32,
    answer: &[u32],
    #[with] log: &Log,
) -> Result<(), String> {
    assert!(step.key().ends_with("-undo"));
    log.add(format!(
        "unmade {text} {slice:?} {maybe:?} {none:?} {owned:?} {number} {unmade} {answer:?}"
    ));
    Ok(())
}

#[step]
async fn fails(_: &Step) -> Result<(), String> {
    Err("it had to".to_owned())
}

#[workflow]
async fn task(context: &WorkflowContext, text: String) -> Result<(), StepError> {
    make_it(
        context,
        &text,
        &[1, 2],
        Some(&text),
        None,
        Some("o".to_owned()),
        &3,
        4,
    )
    .await?;
    fails(context).await
}

#[tokio::test(start_paused = true)]
async fn a_compensation_gets_what_the_step_got() {
    let log = Log::default();
    let known = log.clone();
    let ended = task_result(task("t".to_owned()), |it| it.register(task).with(known)).await;
    assert!(
        matches!(ended, Err(SubmitError::Ended(_, State::Compensated, _))),
        "{ended:?}"
    );
    assert_eq!(
        log.take(),
        [
            r#"make_it t [1, 2] Some("t") None Some("o") 3 4"#,
            r#"unmade t [1, 2] Some("t") None Some("o") 3 4 [4]"#,
        ]
    );
}
