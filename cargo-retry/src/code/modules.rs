//! The modules of every target, read as the compiler finds them: files and folders, `#[path]`, `include!`.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use proc_macro2::Span;
use syn::ext::IdentExt as _;
use syn::visit::Visit;
use syn::{Expr, Item, ItemMacro, ItemMod, LitStr, Macro, UseTree};

use super::workspace::{Package, Target, Workspace};
use super::{File, Place, Unread, conditions, loose};

/// Everything that was read.
#[derive(Default)]
pub(crate) struct Code {
    pub(crate) crates: Vec<Crate>,
    pub(crate) modules: Vec<Module>,
    pub(crate) unread: Vec<Unread>,
}

/// What one target is compiled from.
pub(crate) struct Crate {
    pub(crate) package: String,
    pub(crate) kind: &'static str,
    /// The number of its outermost module.
    pub(crate) root: usize,
    /// What the code calls other crates, and what their packages are called.
    pub(crate) externs: HashMap<String, String>,
    pub(crate) is_2015: bool,
    /// What it calls macros of its own.
    pub(crate) macros: HashSet<String>,
}

pub(crate) struct Module {
    pub(crate) krate: usize,
    pub(crate) parent: Option<usize>,
    /// From the crate downwards: `shop::orders`.
    pub(crate) path: String,
    pub(crate) file: Rc<File>,
    pub(crate) children: HashMap<String, usize>,
    pub(crate) uses: Vec<Use>,
    /// Constants and statics; several of one name under different conditions.
    pub(crate) constants: HashMap<String, Vec<Expr>>,
    pub(crate) items: Vec<Written>,
    /// Of functions, types and constants.
    pub(crate) names: HashSet<String>,
    /// What was given to macros and read as items, as far as it could be.
    pub(crate) given: Vec<(Rc<File>, Macro)>,
    pub(crate) conditions: Vec<String>,
}

/// An item, and the file that it stands in: that of its module, or one that is included.
pub(crate) struct Written {
    pub(crate) file: Rc<File>,
    pub(crate) item: Item,
}

/// `use path as name`, or all of the path.
#[derive(Debug, Clone)]
pub(crate) struct Use {
    /// `None`: `*`.
    pub(crate) name: Option<String>,
    pub(crate) path: Vec<String>,
    /// Whether it begins with `::`.
    pub(crate) is_global: bool,
}

impl Code {
    /// Reads all targets of the workspace.
    pub(crate) fn read(workspace: &Workspace) -> Self {
        let mut code = Self::default();
        let mut seen = HashSet::new();
        for package in &workspace.packages {
            for target in &package.targets {
                let reader = Reader {
                    workspace,
                    code: &mut code,
                    seen: &mut seen,
                    open: Vec::new(),
                };
                reader.target(package, target);
            }
        }
        code
    }
}

struct Reader<'a> {
    workspace: &'a Workspace,
    code: &'a mut Code,
    /// What could not be read is said once.
    seen: &'a mut HashSet<PathBuf>,
    /// The files that are being read, each in the one before.
    open: Vec<PathBuf>,
}

/// Where the files of a module's modules are.
#[derive(Clone)]
struct Folder {
    /// Of `mod name;`.
    children: PathBuf,
    /// Of `#[path]`.
    own: PathBuf,
}

impl Reader<'_> {
    fn target(mut self, package: &Package, target: &Target) {
        let root = self.code.modules.len();
        let krate = self.code.crates.len();
        let mut externs = package.externs.clone();
        let lib = package.targets.iter().find(|it| it.kind == "lib");
        if let Some(lib) = lib.filter(|_| target.kind != "lib" && target.kind != "build") {
            externs.insert(lib.name.clone(), package.name.clone());
        }
        self.code.crates.push(Crate {
            package: package.name.clone(),
            kind: target.kind,
            root,
            externs,
            is_2015: package.is_2015,
            macros: HashSet::new(),
        });
        let file = self.file(&target.root);
        let folder = target.root.parent().unwrap_or(&package.folder).to_owned();
        let folder = Folder {
            children: folder.clone(),
            own: folder,
        };
        let module = self.module(krate, None, target.name.clone(), &file, Vec::new());
        match self.parsed(&target.root) {
            Ok(items) => self.fill(module, &file, items, &folder),
            Err((why, span)) => self.unread(&file, span, why),
        }
    }

    fn file(&self, path: &Path) -> Rc<File> {
        let path = &without_dots(path);
        let shown = path.strip_prefix(&self.workspace.root).unwrap_or(path);
        Rc::new(File {
            shown: shown.display().to_string().replace('\\', "/"),
            path: path.to_owned(),
        })
    }

    fn unread(&mut self, file: &Rc<File>, span: Option<Span>, why: String) {
        if !self.seen.insert(file.path.clone()) {
            return;
        }
        let place = match span {
            Some(span) => Place::of(file, span),
            None => Place {
                file: Rc::clone(file),
                line: 1,
                column: 1,
            },
        };
        self.code.unread.push(Unread { place, why });
    }

    /// An empty module.
    fn module(
        &mut self,
        krate: usize,
        parent: Option<usize>,
        path: String,
        file: &Rc<File>,
        conditions: Vec<String>,
    ) -> usize {
        self.code.modules.push(Module {
            krate,
            parent,
            path,
            file: Rc::clone(file),
            children: HashMap::new(),
            uses: Vec::new(),
            constants: HashMap::new(),
            items: Vec::new(),
            names: HashSet::new(),
            given: Vec::new(),
            conditions,
        });
        self.code.modules.len().saturating_sub(1)
    }

    fn fill(&mut self, module: usize, file: &Rc<File>, items: Vec<Item>, folder: &Folder) {
        for item in items {
            match item {
                Item::Mod(child) => self.child(module, file, child, folder),
                Item::Macro(given) if given.ident.is_none() => {
                    self.given(module, file, given, folder);
                }
                item => {
                    self.hidden(module, file, &item, folder);
                    self.put(module, file, item);
                }
            }
        }
    }

    /// Modules and macros in the blocks of an item. `super` of such a module is the module of the item.
    fn hidden(&mut self, module: usize, file: &Rc<File>, item: &Item, folder: &Folder) {
        let mut hidden = Hidden::default();
        hidden.visit_item(item);
        let krate = self.code.modules.get(module).map(|it| it.krate);
        if let Some(krate) = krate.and_then(|krate| self.code.crates.get_mut(krate)) {
            krate.macros.extend(hidden.macros);
        }
        for inner in hidden.modules {
            self.child(module, file, inner, folder);
        }
    }

    /// What is given to a macro: the name of a file, or what looks like items.
    fn given(&mut self, module: usize, file: &Rc<File>, given: ItemMacro, folder: &Folder) {
        if let Some(path) = included(&given.mac, file) {
            let included = self.file(&path);
            return match self.parsed(&path) {
                Ok(items) => {
                    self.fill(module, &included, items, folder);
                    self.open.pop();
                }
                Err((why, span)) => self.unread(&included, span, why),
            };
        }
        let mut inside = loose::items(given.mac.tokens.clone());
        if inside.is_empty() {
            return self.put(module, file, Item::Macro(given));
        }
        for item in &mut inside {
            if let Some(attributes) = loose::attributes(item) {
                attributes.extend(given.attrs.iter().cloned());
            }
        }
        if let Some(module) = self.code.modules.get_mut(module) {
            module.given.push((Rc::clone(file), given.mac));
        }
        self.fill(module, file, inside, folder);
    }

    /// The items of a file, which is open from now on.
    fn parsed(&mut self, path: &Path) -> Result<Vec<Item>, NotParsed> {
        let known = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if self.open.contains(&known) {
            let why = "this file is a module of itself".to_owned();
            return Err((why, None));
        }
        let items = parsed(path)?;
        self.open.push(known);
        Ok(items)
    }

    fn put(&mut self, module: usize, file: &Rc<File>, item: Item) {
        let Some(module) = self.code.modules.get_mut(module) else {
            return;
        };
        match &item {
            Item::Use(item) => uses(&item.tree, item.leading_colon.is_some(), &mut module.uses),
            Item::ExternCrate(item) => {
                let name = item.ident.unraw().to_string();
                if name != "self" {
                    let seen = item.rename.as_ref().map_or(&item.ident, |(_, seen)| seen);
                    let of = |name: Option<String>| Use {
                        name,
                        path: vec![item.ident.unraw().to_string()],
                        is_global: true,
                    };
                    module.uses.push(of(Some(seen.unraw().to_string())));
                    if item.attrs.iter().any(|it| it.path().is_ident("macro_use")) {
                        module.uses.push(of(None));
                    }
                }
            }
            Item::Const(item) => {
                let name = item.ident.unraw().to_string();
                module
                    .constants
                    .entry(name)
                    .or_default()
                    .push((*item.expr).clone());
            }
            Item::Static(item) => {
                let name = item.ident.unraw().to_string();
                module
                    .constants
                    .entry(name)
                    .or_default()
                    .push((*item.expr).clone());
            }
            _ => {}
        }
        let file = Rc::clone(file);
        module.names.extend(named(&item));
        module.items.push(Written { file, item });
    }

    fn child(&mut self, parent: usize, shown: &Rc<File>, item: ItemMod, folder: &Folder) {
        let Some(outer) = self.code.modules.get(parent) else {
            return;
        };
        let name = item.ident.unraw().to_string();
        let mut around = outer.conditions.clone();
        around.extend(conditions::of(&item.attrs));
        let (krate, path) = (outer.krate, format!("{}::{name}", outer.path));
        let is_conditional = !around.is_empty();
        let given = conditions::value(&item.attrs, "path");
        let found = match (&item.content, &given) {
            (Some(_), Some(path)) => Ok((
                Folder {
                    children: folder.children.join(path),
                    own: folder.children.join(path),
                },
                None,
            )),
            (Some(_), None) => Ok((
                Folder {
                    children: folder.children.join(&name),
                    own: folder.children.join(&name),
                },
                None,
            )),
            (None, Some(path)) => {
                let path = folder.own.join(path);
                let inside = path.parent().unwrap_or(&folder.own).to_owned();
                Ok((
                    Folder {
                        children: inside.clone(),
                        own: inside,
                    },
                    Some(path),
                ))
            }
            (None, None) => {
                of_name(&folder.children, &name).map(|(folder, path)| (folder, Some(path)))
            }
        };
        let (folder, path_of) = match found {
            Ok(found) => found,
            // The compiler looks for it only where the condition holds.
            Err(_) if is_conditional => return,
            Err(expected) => {
                let place = Place::of(shown, item.ident.span());
                let why = format!(
                    "the file of `mod {name};` is missing; it is expected at {}",
                    self.file(&expected).shown
                );
                self.code.unread.push(Unread { place, why });
                return;
            }
        };
        let file = match &path_of {
            Some(path) => self.file(path),
            None => Rc::clone(shown),
        };
        let items = match (item.content, &path_of) {
            (Some((_, items)), _) => Ok(items),
            (None, Some(path)) if is_conditional && !path.exists() => return,
            (None, Some(path)) => self.parsed(path),
            (None, None) => Ok(Vec::new()),
        };
        let module = self.module(krate, Some(parent), path, &file, around);
        if let Some(outer) = self.code.modules.get_mut(parent) {
            outer.children.insert(name, module);
        }
        match items {
            Ok(items) => self.fill(module, &file, items, &folder),
            Err((why, span)) => return self.unread(&file, span, why),
        }
        if path_of.is_some() {
            self.open.pop();
        }
    }
}

/// What a function, a type or a constant is called.
fn named(item: &Item) -> Option<String> {
    let name = match item {
        Item::Fn(item) => &item.sig.ident,
        Item::Struct(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Union(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Const(item) => &item.ident,
        Item::Static(item) => &item.ident,
        _ => return None,
    };
    Some(name.unraw().to_string())
}

/// What the blocks of an item define.
#[derive(Default)]
struct Hidden {
    modules: Vec<ItemMod>,
    macros: Vec<String>,
}

impl<'ast> Visit<'ast> for Hidden {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.modules.push(item.clone());
    }

    fn visit_item_macro(&mut self, item: &'ast ItemMacro) {
        self.macros
            .extend(item.ident.as_ref().map(ToString::to_string));
    }
}

/// One file has one name, however it is reached.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// `name.rs` or `name/mod.rs`; neither: where it is expected.
fn of_name(folder: &Path, name: &str) -> Result<(Folder, PathBuf), PathBuf> {
    let inside = folder.join(name);
    let beside = folder.join(format!("{name}.rs"));
    let within = inside.join("mod.rs");
    // Beside `name.rs`, `#[path]` is looked up where the file is.
    if beside.exists() {
        let own = folder.to_owned();
        Ok((
            Folder {
                children: inside,
                own,
            },
            beside,
        ))
    } else if within.exists() {
        let own = inside.clone();
        Ok((
            Folder {
                children: inside,
                own,
            },
            within,
        ))
    } else {
        Err(beside)
    }
}

/// The file of `include!("name")`.
fn included(mac: &Macro, file: &File) -> Option<PathBuf> {
    let is_include = mac.path.segments.last()?.ident == "include";
    let name: LitStr = is_include.then(|| mac.parse_body().ok())??;
    Some(file.path.parent()?.join(name.value()))
}

/// Brackets in brackets.
const DEEP: usize = 2000;

type NotParsed = (String, Option<Span>);

fn parsed(path: &Path) -> Result<Vec<Item>, NotParsed> {
    let text = fs::read_to_string(path).map_err(|error| (error.to_string(), None))?;
    if is_deep(&text) {
        return Err(("its code is nested too deeply".to_owned(), None));
    }
    let file = syn::parse_file(&text).map_err(|error| {
        let said = error.to_string();
        let is_lexed = said != "cannot parse string into token stream";
        let why = if is_lexed {
            said
        } else {
            "brackets or quotes do not match".to_owned()
        };
        (why, Some(error.span()))
    })?;
    Ok(file.items)
}

/// Whether brackets stand in each other as no code has it that people write, and as the stack cannot hold it.
fn is_deep(text: &str) -> bool {
    let (mut depth, mut signs) = (0_usize, 0_usize);
    let deepest = text.bytes().map(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth = depth.saturating_add(1),
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        // `&&&x` is as deep as `(((x`; lines of `---` and `***` are comments.
        signs = if matches!(byte, b'&' | b'!') {
            signs.saturating_add(1)
        } else {
            0
        };
        depth.saturating_add(signs)
    });
    // Brackets in texts count, too, since only what is far beyond is refused.
    deepest.max().unwrap_or_default() > DEEP
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
