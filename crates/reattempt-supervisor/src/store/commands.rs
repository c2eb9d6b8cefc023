//! What operators say of a task: which commands there are, how they are called, and which tasks take them.

use crate::task::State;
use crate::task::State::{Error, Parked, Pending, Processing, Waiting};

/// The table of commands about a whole task, in the order of the page: what each does, the method of an
/// [`Operator`](crate::Operator), its name, what has become of a task that took it, and the states of tasks that take it.
///
/// `commands!(list)` expands to `list! { ... }`. The command, its method, the page and the program are made from it.
macro_rules! commands {
    ($list:ident) => {
        $list! {
            /// Continues a failed or parked task as if it had not failed. If the task goes forward, the
            /// step that ended or parked it runs again: the store deletes that record, and no other.
            Resubmit resubmit "resubmit" "continues" [Error, Parked];
            /// Undoes the steps of a failed or parked task.
            Undo undo "undo" "will be undone" [Error, Parked];
            /// Ends the task and undoes its steps; also a parked one.
            Cancel cancel "cancel" "will end, and its steps will be undone" [Pending, Processing, Waiting, Parked];
            /// Sets the task aside until it is resubmitted.
            Park(String) park "park" "is parked" [Pending, Processing, Waiting];
            /// Ends a parked task as cancelled, as it is: nothing more of it runs or is undone.
            GiveUp give_up "give up" "is given up" [Parked];
        }
    };
}

pub(crate) use commands;

macro_rules! list {
    ($($(#[doc = $doc:literal])* $command:ident $(($why:ty))? $method:ident $name:literal $done:literal [$($state:ident),*];)*) => {
        /// A command of an operator.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum AdminCommand {
            $($(#[doc = $doc])* $command $(($why))?,)*
            /// Says what became of one step of a failed or parked task, and continues the task.
            Resolve(Resolution),
            /// Gives a command in the name of an operator. If the task takes it, the store keeps an
            /// [`OperatorNote`](crate::OperatorNote).
            Signed {
                /// The command, without a name.
                command: Box<Self>,
                /// The operator.
                by: String,
                /// Why the operator gives it.
                why: String,
            },
        }

        impl AdminCommand {
            /// Returns each command about a whole task, for this reason.
            #[doc(hidden)]
            pub fn all(why: &str) -> Vec<Self> {
                vec![$(Self::$command $((<$why>::from(why)))?),*]
            }

            /// Returns the name of the command.
            #[doc(hidden)]
            pub const fn as_str(&self) -> &'static str {
                match self {
                    $(Self::$command { .. } => $name,)*
                    Self::Resolve(_) => "resolve",
                    Self::Signed { .. } => "signed",
                }
            }

            /// Returns what the command does, and what has become of a task that took it.
            #[doc(hidden)]
            pub const fn texts(&self) -> [&'static str; 2] {
                match self {
                    $(Self::$command { .. } => [concat!($($doc),*), $done],)*
                    Self::Resolve(_) | Self::Signed { .. } => [""; 2],
                }
            }

            /// Returns the states of tasks that take the command.
            pub(crate) fn states(&self) -> &'static [State] {
                match self {
                    $(Self::$command { .. } => &[$($state),*],)*
                    Self::Resolve(_) => Self::STOPPED,
                    Self::Signed { command, .. } => command.states(),
                }
            }
        }
    };
}

commands!(list);

impl AdminCommand {
    /// The states of tasks of which an operator may say what became of a step, or that go on or back.
    pub(crate) const STOPPED: &[State] = &[Error, Parked];

    /// Returns the command about a whole task with this name, for this reason.
    #[doc(hidden)]
    pub fn named(name: &str, why: &str) -> Option<Self> {
        let mut all = Self::all(why).into_iter();
        all.find(|command| command.as_str() == name)
    }

    /// Returns the names of the commands about a whole task that `is_wanted`, by the states of the tasks that take them.
    #[cfg(feature = "page")]
    pub(crate) fn names(is_wanted: impl Fn(&[State]) -> bool) -> Vec<&'static str> {
        let all = Self::all("");
        let wanted = all.iter().filter(|command| is_wanted(command.states()));
        wanted.map(Self::as_str).collect()
    }
}

/// What an operator says about a step that ended the task, or whose outcome is unknown. The store
/// keeps it as an [`OperatorNote`](crate::OperatorNote).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// The number of the step.
    pub seq: i32,
    /// What became of it.
    pub verdict: Verdict,
    /// The operator.
    pub by: String,
    /// How the operator knows.
    pub why: String,
}

/// What became of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It was not done: a task that goes forward runs it again.
    NotDone,
    /// It was done, with this result as JSON.
    Done(String),
    /// The outcome is unknown, or it does not matter: the task turns back, and undoes this step as
    /// one of unknown outcome.
    Undo,
}

impl Verdict {
    /// Returns its name: `not done`, `done` or `undo`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::NotDone => "not done",
            Self::Done(_) => "done",
            Self::Undo => "undo",
        }
    }

    /// Returns the result of the step.
    pub fn result(&self) -> Option<&str> {
        match self {
            Self::Done(result) => Some(result),
            Self::NotDone | Self::Undo => None,
        }
    }
}
