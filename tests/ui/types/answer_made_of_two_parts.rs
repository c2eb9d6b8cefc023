//! An answer that holds one part of `self` by `&` and another by `&mut`.

use reattempt::retry;

struct Guard<'a>(&'a mut u8);

impl<'a> Guard<'a> {
    fn into_file(self, key: &'a Key) -> File<'a> {
        File {
            key,
            content: Content::Raw(self),
        }
    }
}

enum Content<'a> {
    Raw(Guard<'a>),
}

struct File<'a> {
    key: &'a Key,
    content: Content<'a>,
}

struct Key(u8);

impl Key {
    fn open<'a>(&self, bytes: &'a mut [u8]) -> Result<Guard<'a>, String> {
        bytes
            .get_mut(usize::from(self.0))
            .map(Guard)
            .ok_or_else(String::new)
    }
}

struct Archive {
    keys: Vec<(Key, Key)>,
    bytes: Vec<u8>,
}

impl Archive {
    #[retry(max = 3, on(_))]
    fn file(&mut self, index: usize) -> Result<File<'_>, String> {
        let bytes = &mut self.bytes;
        let (name, key) = self.keys.get(index).ok_or_else(String::new)?;
        Ok(File {
            key: name,
            content: Content::Raw(key.open(bytes)?),
        })
    }

    #[retry(max = 3, on(_))]
    fn in_a_closure(&mut self, index: usize) -> Result<File<'_>, String> {
        let bytes = &mut self.bytes;
        let keys = self.keys.get(index).ok_or_else(String::new);
        keys.and_then(move |(name, key)| {
            let content = match key.0 {
                0 => return Err(String::new()),
                _ => Content::Raw(key.open(bytes)?),
            };
            Ok(File { key: name, content })
        })
    }

    #[retry(max = 3, on(_))]
    async fn made_into(&mut self, index: usize) -> Result<File<'_>, String> {
        let (key, _) = self.keys.get(index).ok_or_else(String::new)?;
        let guard = guarded(&mut self.bytes);
        Ok(guard.into_file(key))
    }
}

fn guarded(bytes: &mut [u8]) -> Guard<'_> {
    Guard(&mut bytes[0])
}

fn main() {
    let mut archive = Archive {
        keys: vec![(Key(0), Key(0))],
        bytes: vec![0],
    };
    let _ = archive.file(0).map(|it| {
        let Content::Raw(guard) = it.content;
        (it.key.0, *guard.0)
    });
    let _ = archive.in_a_closure(0);
    let _ = archive.made_into(0);
}
