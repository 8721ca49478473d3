//! Parts of a product `C = A B`: entries of `C` that are wanted, and terms of the sums that are not
//! zero. Every engine of products takes them; what it has no use for it computes in full.

/// Wanted sums of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sums {
    /// All of them.
    All,
    /// `C` is square and symmetric, and its lower triangle alone is wanted: above the diagonal
    /// anything may be left.
    Lower,
    /// `C` is square and symmetric, and its upper triangle alone is wanted: below the diagonal
    /// anything may be left.
    Upper,
    /// `C` is square and symmetric: one triangle is computed and mirrored.
    Symmetric,
}

/// Terms of the sums of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terms {
    /// All of them.
    All,
    /// `B` is zero below the diagonal (and within its blocks the zeros are stored).
    UpperRight,
    /// `B` is zero above the diagonal (and within its blocks the zeros are stored).
    LowerRight,
    /// `A` is zero above the diagonal (and within its blocks the zeros are stored).
    LowerLeft,
    /// `A` is square and symmetric; its lower triangle and [`BAND`](crate::lanes::BAND) entries
    /// right of the diagonal are read.
    SymmetricLeft,
}
