//! An answer that a call, a struct or a pattern makes of a borrow: what it takes as a value it may hold.

use reattempt::retry;

struct Guard<'a>(&'a mut u8);

struct Cursor<'a> {
    guard: Guard<'a>,
    step: u8,
}

impl<'a> Cursor<'a> {
    fn new(guard: Guard<'a>, step: u8) -> Self {
        Self { guard, step }
    }
}

struct Tree(u8);

impl Tree {
    fn first(&mut self) -> Guard<'_> {
        Guard(&mut self.0)
    }

    fn of_key(&mut self, key: &u8) -> Option<Guard<'_>> {
        (*key > 3).then(|| self.first())
    }
}

enum Kind {
    List(u8),
    None,
}

struct Store {
    tree: Tree,
    key: u8,
    kind: Kind,
}

fn guarded(tree: &mut Tree) -> Result<Guard<'_>, String> {
    Ok(tree.first())
}

fn cursor(guard: Guard<'_>, step: u8) -> Result<Cursor<'_>, String> {
    Ok(Cursor::new(guard, step))
}

impl Store {
    #[retry(max = 3, on(_))]
    fn of_a_variable(&mut self) -> Result<Cursor<'_>, String> {
        let guard = guarded(&mut self.tree)?;
        cursor(guard, self.key)
    }

    #[retry(max = 3, on(_))]
    fn of_a_call(&mut self) -> Result<Cursor<'_>, String> {
        Ok(Cursor::new(self.tree.first(), 1))
    }

    // The key behind the `&` is no more than an argument.
    #[retry(max = 3, on(_))]
    fn beside_a_key(&mut self) -> Result<Guard<'_>, String> {
        self.tree.of_key(&self.key).ok_or_else(String::new)
    }

    #[retry(max = 3, on(_))]
    fn of_a_pattern(&mut self) -> Result<Guard<'_>, String> {
        let Kind::List(list) = &mut self.kind else {
            return Err(String::new());
        };
        Ok(Guard(list))
    }

    #[retry(max = 3, on(_))]
    fn of_an_arm(&mut self) -> Result<Guard<'_>, String> {
        match self.kind {
            Kind::List(ref mut list) => Ok(Guard(list)),
            Kind::None => Err(String::new()),
        }
    }

    #[retry(max = 3, on(_))]
    async fn bound_twice(&mut self) -> Result<Guard<'_>, String> {
        let found = self.tree.of_key(&4);
        let found = found.ok_or(String::new())?;
        Ok(found)
    }
}

// What has the name of the parameter is another part of it.
#[retry(max = 3, on(_))]
fn under_its_name(data: &mut [u8]) -> Result<&mut [u8], String> {
    let (data, tail) = data.split_at_mut(4);
    data.fill(0);
    Ok(tail)
}

struct Two<'a> {
    first: &'a mut u8,
    key: &'a u8,
}

struct Holder<'s> {
    tree: &'s mut Tree,
    first: &'s mut u8,
    key: u8,
}

impl<'s> Holder<'s> {
    // Types tell that a field is a mutable reference.
    #[retry(max = 3, on(_))]
    fn of_a_field(&mut self) -> Result<Two<'_>, String> {
        Ok(Two {
            first: self.first,
            key: &self.key,
        })
    }

    #[retry(max = 3, on(_))]
    fn by_value(self) -> Result<Guard<'s>, String> {
        Ok(Guard(&mut self.tree.0))
    }
}

fn main() {
    let mut store = Store {
        tree: Tree(1),
        key: 2,
        kind: Kind::None,
    };
    let _ = store.of_a_variable().map(|it| (it.guard.0, it.step));
    let _ = store.of_a_call();
    let _ = store.beside_a_key();
    let _ = store.of_a_pattern();
    let _ = store.of_an_arm();
    let _ = store.bound_twice();
    let _ = under_its_name(&mut [0; 8]);
    let holder = || Holder {
        tree: Box::leak(Box::new(Tree(1))),
        first: Box::leak(Box::new(2)),
        key: 3,
    };
    let _ = holder().of_a_field().map(|it| (it.first, it.key));
    let _ = holder().by_value();
}
