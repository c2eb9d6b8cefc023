//! A field of a `self` that has another name, in the answer of a trait's method.

use reattempt::retry;

trait Serializer: Sized {
    type Sequence;
    fn sequence(self) -> Result<Self::Sequence, String>;
}

struct Text(String);

struct Compound<'a> {
    text: &'a mut Text,
}

impl<'a> Serializer for &'a mut Compound<'a> {
    type Sequence = Compound<'a>;

    #[retry(on(_))]
    fn sequence(self) -> Result<Self::Sequence, String> {
        let compound = self;
        compound.text.0.push('[');
        Ok(Compound {
            text: compound.text,
        })
    }
}

fn main() {
    let mut text = Text(String::new());
    let mut compound = Compound { text: &mut text };
    let _ = compound.sequence().map(|it| it.text.0.len());
}
