//! `use`: which names it brings, and from where.

use syn::UseTree;
use syn::ext::IdentExt as _;

/// `use path as name`, or all of the path.
#[derive(Debug, Clone)]
pub(crate) struct Use {
    /// `None`: `*`.
    pub(crate) name: Option<String>,
    pub(crate) path: Vec<String>,
    /// Whether it begins with `::`.
    pub(crate) is_global: bool,
}

/// The names that a `use` brings.
pub(crate) fn uses(tree: &UseTree, is_global: bool, all: &mut Vec<Use>) {
    fn walk(tree: &UseTree, before: &mut Vec<String>, is_global: bool, all: &mut Vec<Use>) {
        let mut put = |name: Option<String>, last: Option<String>| {
            let mut path = before.clone();
            path.extend(last.filter(|it| it != "self"));
            all.push(Use {
                name,
                path,
                is_global,
            });
        };
        match tree {
            UseTree::Path(part) => {
                before.push(part.ident.unraw().to_string());
                walk(&part.tree, before, is_global, all);
                before.pop();
            }
            UseTree::Name(part) => {
                let name = part.ident.unraw().to_string();
                let seen = if name == "self" {
                    before.last().cloned()
                } else {
                    Some(name.clone())
                };
                put(seen, Some(name));
            }
            UseTree::Rename(part) => {
                put(
                    Some(part.rename.unraw().to_string()),
                    Some(part.ident.unraw().to_string()),
                );
            }
            UseTree::Glob(_) => put(None, None),
            UseTree::Group(group) => {
                for tree in &group.items {
                    walk(tree, before, is_global, all);
                }
            }
        }
    }
    walk(tree, &mut Vec::new(), is_global, all);
}
