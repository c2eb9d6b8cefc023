//! Three layers of five attempts over a dead service make 13 requests, whatever surrounds them:
//! 5 + 4 + 4, because an operation that has used up its retries makes a single attempt in each
//! retry of a layer above.

use std::rc::Rc;

use crate::clock::{Local, at_most, below, ms, pass, seed};
use crate::operations::BLOCKING;
use crate::service::{Answer, BlockingStack, Health, Operation, Service, Stack, When};
use crate::surroundings::{ALL, NOISES, Noise};

const WHEN: [When; 3] = [When::AtOnce, When::NextPoll, When::Later];

/// The requests of some chains; those that did not make as many as expected, with what they were.
#[derive(Default)]
struct Wrong(Vec<(String, u32)>);

impl Wrong {
    fn expect(&mut self, expected: u32, requests: u32, chain: impl FnOnce() -> String) {
        if requests != expected {
            self.0.push((chain(), requests));
        }
    }

    fn expect_none(self) {
        assert_eq!(self.0, [], "chains that made so many requests");
    }
}

fn chain(service: &Rc<Service>, layers: &[Operation]) -> Local<()> {
    let call = Stack::call(service, layers);
    Box::pin(async { assert!(call.await.is_err()) })
}

#[test]
fn of_one_form() {
    let _seeded = seed();
    let mut wrong = Wrong::default();
    for (here, noise) in ALL
        .iter()
        .flat_map(|here| NOISES.map(|noise| (here, noise)))
    {
        let [handler, client, connect] = here.operations().layers;
        for ((handler, client), connect) in handler.iter().zip(client).zip(connect) {
            for when in WHEN {
                let service = Service::new(Health::Dead(when));
                let layers = [handler.1, client.1, connect.1];
                here.run(noise, connect.1, chain(&service, &layers));
                wrong.expect(13, service.requests(), || {
                    format!("{here:?}, {noise:?}, {when:?}: {}", handler.0)
                });
            }
        }
    }
    wrong.expect_none();
}

#[test]
fn of_mixed_forms() {
    let _seeded = seed();
    let mut wrong = Wrong::default();
    for here in ALL {
        for _ in 0..200 {
            let forms = here
                .operations()
                .layers
                .map(|forms| forms[below(forms.len())]);
            let (noise, when) = (NOISES[below(2)], WHEN[below(3)]);
            let service = Service::new(Health::Dead(when));
            let layers = forms.map(|(_, layer)| layer);
            here.run(noise, layers[2], chain(&service, &layers));
            wrong.expect(13, service.requests(), || {
                format!(
                    "{here:?}, {noise:?}, {when:?}: {:?}",
                    forms.map(|(form, _)| form)
                )
            });
        }
    }
    wrong.expect_none();
}

#[test]
fn two_in_one_join() {
    let _seeded = seed();
    let mut wrong = Wrong::default();
    for (here, when) in ALL.iter().flat_map(|here| WHEN.map(|when| (here, when))) {
        let [handler, client, connect] = here.operations().layers;
        for ((handler, client), connect) in handler.iter().zip(client).zip(connect) {
            let services = [(); 2].map(|()| Service::new(Health::Dead(when)));
            let layers = [handler.1, client.1, connect.1];
            let [one, other] = services.each_ref().map(|service| chain(service, &layers));
            let both: Local<_> = Box::pin(async { tokio::join!(one, other) });
            here.run(NOISES[below(2)], connect.1, both);
            for service in services {
                wrong.expect(13, service.requests(), || {
                    format!("{here:?}, {when:?}: {}", handler.0)
                });
            }
        }
    }
    wrong.expect_none();
}

/// The layers from `FROM` on in a form of those that block their thread.
fn blocking<const FORM: usize, const FROM: usize>(stack: Stack) -> Local<Answer> {
    let layers: Vec<_> = BLOCKING[FROM..].iter().map(|forms| forms[FORM].1).collect();
    Box::pin(async move { BlockingStack::call(&stack.service, &layers) })
}

/// A whole chain, its lower layers, and the lowest alone, for neighbours.
const BLOCKING_FORMS: [[Operation; 3]; 4] = [
    [blocking::<0, 0>, blocking::<0, 1>, blocking::<0, 2>],
    [blocking::<1, 0>, blocking::<1, 1>, blocking::<1, 2>],
    [blocking::<2, 0>, blocking::<2, 1>, blocking::<2, 2>],
    [blocking::<3, 0>, blocking::<3, 1>, blocking::<3, 2>],
];

#[test]
fn that_block_their_thread() {
    let _seeded = seed();
    let mut wrong = Wrong::default();
    for here in ALL {
        for (form, [whole, lower, lowest]) in BLOCKING_FORMS.into_iter().enumerate() {
            let handlers = here.operations().layers[0].iter();
            let below_async = handlers.map(|(name, handler)| (*name, vec![*handler, lower]));
            for (name, layers) in below_async.chain([("blocking", vec![whole])]) {
                let service = Service::new(Health::Dead(When::AtOnce));
                let call = chain(&service, &layers);
                let later = Box::pin(async {
                    pass(at_most(ms(20))).await;
                    call.await;
                });
                here.run(Noise::GivesUp, lowest, later);
                wrong.expect(13, service.requests(), || {
                    format!("{here:?}: {name} over {}", BLOCKING[0][form].0)
                });
            }
        }
    }
    wrong.expect_none();
}

/// Each layer times out while the one inside it is being retried.
#[test]
fn that_cancel_each_other() {
    let _seeded = seed();
    let mut wrong = Wrong::default();
    for (here, noise) in ALL
        .iter()
        .flat_map(|here| NOISES.map(|noise| (here, noise)))
    {
        let layers = here.operations().cancelling;
        let service = Service::new(Health::Hangs);
        here.run(noise, layers[2], chain(&service, &layers));
        wrong.expect(13, service.requests().max(13), || {
            format!("{here:?}, {noise:?}")
        });
        println!("{here:?}, {noise:?}: {} requests", service.requests());
    }
    wrong.expect_none();
}
