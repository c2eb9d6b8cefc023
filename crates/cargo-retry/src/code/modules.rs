//! The modules of every target, read as the compiler finds them: files and folders, `#[path]`, `include!`.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use proc_macro2::Span;
use syn::ext::IdentExt as _;
use syn::visit::Visit;
use syn::{Expr, Ident, Item, ItemMacro, ItemMod, Macro};

use super::files::{Folder, NotParsed, Parsed, included, of_name, parsed, without_dots};
use super::uses::{Use, uses};
use super::workspace::{Package, Target, Workspace};
use super::{File, Place, Unread, conditions, loose};

/// What a path may mean; it can be several things, in the namespaces of Rust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meaning {
    Module(usize),
    /// A name that is defined in a module, or an associated one: `(module, [Type, new])`.
    Item(usize, Vec<String>),
    /// Something of a package that is not part of the workspace.
    Foreign(String, Vec<String>),
}

/// What was asked before: the module, whether it begins with `::`, and the path.
pub(super) type Answers = RefCell<HashMap<(usize, bool, Vec<String>), Vec<Meaning>>>;

/// Everything that was read.
#[derive(Default)]
pub(crate) struct Code {
    pub(crate) crates: Vec<Crate>,
    pub(crate) modules: Vec<Module>,
    pub(crate) unread: Vec<Unread>,
    /// What stands behind the `*`s of each module.
    pub(super) globs: Vec<Vec<Meaning>>,
    /// What names mean, once everything is read.
    pub(super) answers: Answers,
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
    /// Several of one name under different conditions.
    pub(crate) children: HashMap<String, Vec<usize>>,
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

impl Module {
    fn constant(&mut self, name: &Ident, value: &Expr) {
        let all = self.constants.entry(name.unraw().to_string());
        all.or_default().push(value.clone());
    }
}

/// An item, and the file that it stands in: that of its module, or one that is included.
pub(crate) struct Written {
    pub(crate) file: Rc<File>,
    pub(crate) item: Item,
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
        code.link();
        code
    }

    /// Warns of what could not be read.
    pub(crate) fn report_unread(&self) {
        for unread in &self.unread {
            let Place { file, line, column } = &unread.place;
            let words = unread.reported();
            let words = format!("warning: {}:{line}:{column}: {words}", file.shown);
            eprintln!("{}", crate::output::shown(&words));
        }
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
        self.read(module, &file, &target.root, &folder);
    }

    /// What stands in a file, into a module.
    fn read(&mut self, module: usize, file: &Rc<File>, path: &Path, folder: &Folder) {
        match self.parsed(path) {
            Ok(Parsed { items, fault }) => {
                if let Some((why, span)) = fault {
                    self.unread(file, span, why, true);
                }
                self.fill(module, file, items, folder);
                self.open.pop();
            }
            Err((why, span)) => self.unread(file, span, why, false),
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

    fn unread(&mut self, file: &Rc<File>, span: Option<Span>, why: String, is_part: bool) {
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
        self.code.unread.push(Unread {
            place,
            why,
            is_part,
        });
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
            return self.read(module, &included, &path, folder);
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
    fn parsed(&mut self, path: &Path) -> Result<Parsed, NotParsed> {
        let known = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if self.open.contains(&known) {
            let why = "this file is a module of itself".to_owned();
            return Err((why, None));
        }
        let parsed = parsed(path)?;
        self.open.push(known);
        Ok(parsed)
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
            Item::Const(item) => module.constant(&item.ident, &item.expr),
            Item::Static(item) => module.constant(&item.ident, &item.expr),
            _ => {}
        }
        let file = Rc::clone(file);
        module.names.extend(named(&item));
        module.items.push(Written { file, item });
    }

    /// `mod name { ... }`, or the files of `mod name;`: one for each `#[cfg_attr(.., path = "...")]`, and that of its
    /// name where none of these holds.
    fn child(&mut self, parent: usize, shown: &Rc<File>, item: ItemMod, folder: &Folder) {
        let Some(outer) = self.code.modules.get(parent) else {
            return;
        };
        let name = item.ident.unraw().to_string();
        let mut around = outer.conditions.clone();
        around.extend(conditions::of(&item.attrs));
        let paths = conditions::values(&item.attrs, "path");
        if let Some((_, items)) = item.content {
            let inside = paths.first().map_or(&name, |(path, _)| path);
            let folder = Folder::inside(folder.children.join(inside));
            let module = self.module_in(parent, &name, shown, around);
            return self.fill(module, shown, items, &folder);
        }
        let is_given = paths.iter().any(|(_, conditions)| conditions.is_empty());
        for (path, conditions) in &paths {
            let path = folder.own.join(path);
            let inside = path.parent().unwrap_or(&folder.own).to_owned();
            let all = [around.clone(), conditions.clone()].concat();
            self.of_file(parent, &name, &path, &Folder::inside(inside), all);
        }
        if is_given {
            return;
        }
        let others = paths.iter().map(|(_, it)| conditions::none(it));
        around.extend(others);
        match of_name(&folder.children, &name) {
            Ok((folder, path)) => self.of_file(parent, &name, &path, &folder, around),
            // The compiler looks for it only where the condition holds.
            Err(_) if !around.is_empty() => {}
            Err(expected) => {
                let place = Place::of(shown, item.ident.span());
                let why = format!(
                    "the file of `mod {name};` is missing; it is expected at {}",
                    self.file(&expected).shown
                );
                self.code.unread.push(Unread {
                    place,
                    why,
                    is_part: false,
                });
            }
        }
    }

    /// A module whose file is known.
    fn of_file(
        &mut self,
        parent: usize,
        name: &str,
        path: &Path,
        folder: &Folder,
        conditions: Vec<String>,
    ) {
        if !conditions.is_empty() && !path.exists() {
            return;
        }
        let file = self.file(path);
        let module = self.module_in(parent, name, &file, conditions);
        self.read(module, &file, path, folder);
    }

    /// An empty module in another.
    fn module_in(
        &mut self,
        parent: usize,
        name: &str,
        file: &Rc<File>,
        conditions: Vec<String>,
    ) -> usize {
        let outer = self.code.modules.get(parent);
        let (krate, above) = outer.map_or((0, ""), |it| (it.krate, it.path.as_str()));
        let path = format!("{above}::{name}");
        let module = self.module(krate, Some(parent), path, file, conditions);
        if let Some(outer) = self.code.modules.get_mut(parent) {
            outer
                .children
                .entry(name.to_owned())
                .or_default()
                .push(module);
        }
        module
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
