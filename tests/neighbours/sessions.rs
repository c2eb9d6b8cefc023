//! The session of the guide reconnects, and each of its requests needs two attempts. Whatever
//! surrounds the session, it has all of its retries.

use crate::clock::{below, seed};
use crate::operations::Operations;
use crate::service::{Answer, Health, Operation, Service, Stack};
use crate::surroundings::{NOISES, Noise, Surroundings};

const SESSIONS: usize = 100;

/// Returns whether a session lost a retry: it then begins a third time, or ends.
fn is_lost(here: Surroundings, noise: Noise, session: Operation, request: Operation) -> bool {
    let service = Service::new(Health::Flaky);
    let call = Stack::call(&service, &[session, request]);
    let answer: Answer = here.run(noise, request, call);
    (answer, service.sessions()) != (Ok(()), 2)
}

/// A row: a session in one form, which makes requests in the same form, and at last in mixed forms.
fn rows(here: Surroundings) -> Vec<(&'static str, Vec<(Operation, Operation)>)> {
    let Operations {
        sessions,
        cut_off,
        request,
        ..
    } = here.operations();
    let all = sessions.iter().chain([&cut_off]);
    let mixed = all.flat_map(|session| request.iter().map(|request| (session.1, request.1)));
    let same = sessions.iter().zip(request);
    let same = same.chain([(&cut_off, &request[0])]);
    same.map(|((form, session), (_, request))| (*form, vec![(*session, *request)]))
        .chain([("mixed", mixed.collect())])
        .collect()
}

fn no_session_loses_a_retry(here: Surroundings) {
    let _seeded = seed();
    let mut lost = Vec::new();
    for (form, pairs) in rows(here) {
        for noise in NOISES {
            let sessions = (0..SESSIONS).filter(|_| {
                let (session, request) = pairs[below(pairs.len())];
                is_lost(here, noise, session, request)
            });
            lost.push((format!("{form}, {noise:?}"), sessions.count()));
        }
    }
    let all: usize = lost.iter().map(|(_, lost)| lost).sum();
    let sessions = lost.len() * SESSIONS;
    println!("{here:?}: {all} of {sessions} sessions lost a retry");
    lost.retain(|(_, lost)| *lost > 0);
    assert_eq!(lost, [], "so many of {SESSIONS} sessions lost a retry");
}

#[test]
fn alone() {
    no_session_loses_a_retry(Surroundings::Nothing);
}

#[test]
fn beside_tasks_of_tokio() {
    no_session_loses_a_retry(Surroundings::TasksOfTokio);
}

#[test]
fn beside_a_branch_of_a_join() {
    no_session_loses_a_retry(Surroundings::Join);
}

#[test]
fn beside_others_of_a_buffer() {
    no_session_loses_a_retry(Surroundings::Buffered);
}

#[test]
fn beside_a_branch_of_a_select_loop() {
    no_session_loses_a_retry(Surroundings::Select);
}

#[test]
fn beside_tasks_of_a_local_executor() {
    no_session_loses_a_retry(Surroundings::TasksOfExecutor);
}
