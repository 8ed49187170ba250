//! Folders in search order.

use std::ops::Add;
use std::path::Path;

use super::Root;

/// Folders in search order; earlier ones win. Immutable: adding gives a new set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathSet {
    roots: Vec<Root>,
}

impl PathSet {
    /// The folders `roots`, in this order.
    #[must_use]
    pub fn new<T: Into<Root>>(roots: impl IntoIterator<Item = T>) -> Self {
        Self {
            roots: roots.into_iter().map(Into::into).collect(),
        }
    }

    /// The folders in search order.
    #[must_use]
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// The folders in search order.
    pub fn iter(&self) -> std::slice::Iter<'_, Root> {
        self.roots.iter()
    }
}

impl Add for PathSet {
    type Output = PathSet;

    /// The folders of both, those of `other` last.
    fn add(mut self, other: PathSet) -> PathSet {
        self.roots.extend(other.roots);
        self
    }
}

impl<'a> IntoIterator for &'a PathSet {
    type Item = &'a Root;
    type IntoIter = std::slice::Iter<'a, Root>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<&str> for PathSet {
    fn from(path: &str) -> Self {
        Self::new([path])
    }
}

impl From<&Path> for PathSet {
    fn from(path: &Path) -> Self {
        Self::new([path])
    }
}

impl<T: Into<Root>> From<Vec<T>> for PathSet {
    fn from(paths: Vec<T>) -> Self {
        Self::new(paths)
    }
}

impl<T: Into<Root>, const N: usize> From<[T; N]> for PathSet {
    fn from(paths: [T; N]) -> Self {
        Self::new(paths)
    }
}

impl<T: Into<Root>> FromIterator<T> for PathSet {
    fn from_iter<I: IntoIterator<Item = T>>(roots: I) -> Self {
        Self::new(roots)
    }
}
