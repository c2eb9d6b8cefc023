//! A `self` that is a `&mut`, in the answer of a trait's method.

use reattempt::retry;

trait Serializer: Sized {
    type Sequence;
    type Ok;
    fn sequence(self) -> Result<Self::Sequence, String>;
    fn tuple(self) -> Result<Self::Sequence, String>;
    fn map(self) -> Result<(Self::Sequence, usize), String>;
    fn unit(self) -> Result<Self::Ok, String>;
}

struct Text(String);

struct Compound<'a> {
    text: &'a mut Text,
}

impl<'a> Serializer for &'a mut Text {
    type Sequence = Compound<'a>;
    type Ok = ();

    #[retry(on(_))]
    fn sequence(self) -> Result<Self::Sequence, String> {
        self.0.push('[');
        Ok(Compound { text: self })
    }

    #[retry(on(_))]
    fn tuple(self) -> Result<Self::Sequence, String> {
        self.sequence()
    }

    #[retry(on(_))]
    fn map(self) -> Result<(Self::Sequence, usize), String> {
        let length = self.0.len();
        let sequence = self.sequence()?;
        Ok((sequence, length))
    }

    #[retry(on(_))]
    fn unit(self) -> Result<Self::Ok, String> {
        self.0.push('-');
        Ok(())
    }
}

fn main() {
    let mut text = Text(String::new());
    let _ = text.sequence().map(|it| it.text.0.len());
    let _ = text.tuple();
    let _ = text.map();
    let _ = text.unit();
}
