//! Answers whose type has a lifetime and that borrow nothing of a parameter.

use std::borrow::Cow;
use std::marker::PhantomData;

use reattempt::retry;

struct Guard<'a, K> {
    text: Cow<'a, str>,
    key: PhantomData<K>,
}

impl<K> Guard<'_, K> {
    fn owned(text: String) -> Self {
        let (text, key) = (Cow::Owned(text), PhantomData);
        Self { text, key }
    }
}

struct Cursor<'c> {
    root: &'c mut u8,
}

impl<'c> Cursor<'c> {
    fn new(root: &'c mut u8) -> Self {
        Self { root }
    }

    fn take<K>(&mut self) -> Result<Guard<'static, K>, String> {
        *self.root += 1;
        Ok(Guard::owned(self.root.to_string()))
    }
}

struct Tree<'t, K> {
    root: u8,
    name: &'t str,
    key: PhantomData<K>,
}

impl<'t, K> Tree<'t, K> {
    // The cursor is gone, and so is what it borrows.
    #[retry(max = 3, on(_))]
    fn by_a_cursor(&mut self) -> Result<Guard<'_, K>, String> {
        let mut cursor = Cursor::new(&mut self.root);
        cursor.take()
    }

    #[retry(max = 3, on(_))]
    async fn after_a_cursor(&mut self) -> Result<Guard<'_, K>, String> {
        let mut cursor = Cursor::new(&mut self.root);
        let taken = cursor.take();
        self.root += 1;
        taken
    }

    #[retry(max = 3, on(_))]
    fn of_a_value(&mut self) -> Result<Guard<'_, K>, String> {
        let text = self.next()?;
        Ok(Guard::owned(text))
    }

    // It borrows what the tree borrows.
    #[retry(max = 3, on(_))]
    fn of_what_it_borrows(&mut self) -> Result<&str, String> {
        self.next()?;
        Ok(self.name())
    }

    fn next(&mut self) -> Result<String, String> {
        self.root += 1;
        Ok(self.root.to_string())
    }

    fn name(&self) -> &'t str {
        self.name
    }
}

/// What the messages about such answers say to write.
struct Token<'a>(&'a str);

trait Serializer: Sized {
    type Count;
    fn count(self, name: &str) -> Result<Self::Count, String>;
    fn tuple(self) -> Result<Self::Count, String>;
}

struct Count(u8);

impl<'t, K> Tree<'t, K> {
    fn token<'a>(&mut self, text: &'a str) -> Result<Token<'a>, String> {
        self.root += 1;
        Ok(Token(text))
    }

    fn next_name(&mut self) -> Result<&'t str, String> {
        self.root += 1;
        Ok(self.name)
    }

    #[retry(max = 3, on(_))]
    fn with_the_lifetime_of_what_it_borrows(&mut self) -> Result<&'t str, String> {
        self.next_name()
    }

    #[retry(max = 3, on(_))]
    fn with_a_lifetime_of_its_own<'a>(&mut self, text: &'a str) -> Result<Token<'a>, String> {
        self.token(text)
    }
}

impl<K> Serializer for &mut Tree<'_, K> {
    type Count = Count;

    fn count(self, name: &str) -> Result<Self::Count, String> {
        self.next()?;
        Ok(Count(self.root + u8::from(name.is_empty())))
    }

    #[retry(max = 3, on(_))]
    fn tuple(self) -> Result<Count, String> {
        self.count("")
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), String> {
    let mut tree = Tree::<u8> {
        root: 0,
        name: "tree",
        key: PhantomData,
    };
    assert_eq!(tree.by_a_cursor()?.text, "1");
    assert_eq!(tree.after_a_cursor().await?.text, "2");
    assert_eq!(tree.of_a_value()?.text, "4");
    assert_eq!(tree.of_what_it_borrows()?, "tree");
    assert_eq!(tree.with_the_lifetime_of_what_it_borrows()?, "tree");
    assert_eq!(tree.with_a_lifetime_of_its_own("text")?.0, "text");
    assert_eq!(tree.tuple()?.0, 9);
    let PhantomData = tree.of_a_value()?.key;
    Ok(())
}
