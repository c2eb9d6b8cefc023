//! Tokens out of bytes: keys and values of the tables, and any text in between.

use arbitrary::{Arbitrary, Unstructured};
use proc_macro2::{TokenStream, TokenTree};

use crate::tables::{
    ANSWERS, BEFORE, BEFORE_BLOCK, BLOCKS, BODIES, FIELDS, ITEMS, OTHER, PARAMETERS, TYPES, VALUES,
    VERDICTS,
};
use reattempt_syntax::keys::KEYS;

#[derive(Debug, Arbitrary)]
pub(crate) struct Input<'a> {
    pub(crate) form: Form,
    /// Whether names come from configuration.
    pub(crate) named: bool,
    arguments: Arguments<'a>,
    item: Item<'a>,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
pub(crate) enum Form {
    Attribute,
    Block,
    Classify,
}

#[derive(Debug, Arbitrary)]
enum Arguments<'a> {
    Keys(Vec<Argument<'a>>),
    Text(&'a str),
}

#[derive(Debug, Arbitrary)]
struct Argument<'a> {
    key: Key<'a>,
    form: Given,
    value: Value<'a>,
}

#[derive(Debug, Arbitrary)]
enum Key<'a> {
    Known(u8),
    Other(u8),
    Text(&'a str),
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Given {
    /// `key = value`
    Assigned,
    /// `key(value)`
    Called,
    /// `key`
    Alone,
    /// `key == value`
    Odd,
}

#[derive(Debug, Arbitrary)]
enum Value<'a> {
    Known(u8),
    Number(i64),
    Float(f64),
    Quoted(&'a str),
    Text(&'a str),
}

#[derive(Debug)]
enum Item<'a> {
    Known(u8),
    /// The parts of a function.
    Function {
        before: u8,
        parameters: u8,
        answer: u8,
        body: u8,
    },
    Text(&'a str),
}

// By hand: texts come last, and need all the bytes that are left.
impl<'a> Arbitrary<'a> for Item<'a> {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(match bytes.arbitrary::<u8>()? % 4 {
            0 => Self::Known(bytes.arbitrary()?),
            1 | 2 => Self::Function {
                before: bytes.arbitrary()?,
                parameters: bytes.arbitrary()?,
                answer: bytes.arbitrary()?,
                body: bytes.arbitrary()?,
            },
            _ => Self::Text(bytes.arbitrary()?),
        })
    }
}

impl Input<'_> {
    /// Nothing where the text is no tokens, or nested deeper than a parser has stack for.
    pub(crate) fn tokens(&self) -> Option<(TokenStream, TokenStream)> {
        let arguments = match &self.arguments {
            Arguments::Keys(keys) => {
                let keys: Vec<_> = keys.iter().take(12).map(Argument::text).collect();
                keys.join(", ")
            }
            Arguments::Text(text) => (*text).to_owned(),
        };
        let item = match (&self.item, self.form) {
            (Item::Text(text), _) => (*text).to_owned(),
            (Item::Known(item), Form::Classify) => of(TYPES, *item).to_owned(),
            (Item::Known(item), Form::Block) => of(BLOCKS, *item).to_owned(),
            (Item::Known(item), Form::Attribute) => of(ITEMS, *item).to_owned(),
            (Item::Function { before, body, .. }, Form::Block) => {
                format!("{} {}", of(BEFORE_BLOCK, *before), of(BODIES, *body))
            }
            (
                Item::Function {
                    before, parameters, ..
                },
                Form::Classify,
            ) => {
                let verdict = of(VERDICTS, *before);
                format!("enum E {{ {verdict} A {} }}", of(FIELDS, *parameters))
            }
            (
                Item::Function {
                    before,
                    parameters,
                    answer,
                    body,
                },
                Form::Attribute,
            ) => format!(
                "{} f({}) {} {}",
                of(BEFORE, *before),
                of(PARAMETERS, *parameters),
                of(ANSWERS, *answer),
                of(BODIES, *body),
            ),
        };
        let tokens = |text: &str| -> Option<TokenStream> {
            // A parser of `syn` needs stack for each level, as the compiler does.
            let shallow = text
                .matches(['(', '[', '{', '<', '&', '*', '-', '!', '|', '='])
                .count()
                <= 200;
            let tokens = shallow.then(|| text.parse().ok()).flatten()?;
            (depth(&tokens) <= 40).then_some(tokens)
        };
        Some((tokens(&arguments)?, tokens(&item)?))
    }
}

fn depth(tokens: &TokenStream) -> usize {
    let below = tokens.clone().into_iter().map(|token| match token {
        TokenTree::Group(group) => 1 + depth(&group.stream()),
        _ => 0,
    });
    below.max().unwrap_or(0)
}

fn of<'t>(table: &[&'t str], at: u8) -> &'t str {
    table[usize::from(at) % table.len()]
}

impl Argument<'_> {
    fn text(&self) -> String {
        let key = match self.key {
            Key::Known(key) => of(KEYS, key),
            Key::Other(key) => of(OTHER, key),
            Key::Text(key) => key,
        };
        let value = match self.value {
            Value::Known(value) => of(VALUES, value).to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Float(number) => format!("{number:?}"),
            Value::Quoted(text) => format!("{text:?}"),
            Value::Text(text) => text.to_owned(),
        };
        match self.form {
            Given::Assigned => format!("{key} = {value}"),
            Given::Called => format!("{key}({value})"),
            Given::Alone => key.to_owned(),
            Given::Odd => format!("{key} == {value}"),
        }
    }
}
