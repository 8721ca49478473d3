//! Instruction sets: the widest one of this CPU, or the one that `STIEFEL_SIMD` names.
//!
//! The choice is made once per process. Within one set a matrix's result is the same to the bit for
//! any batch, any neighbours and any number of threads; between two sets results agree to rounding,
//! because sums of different width are added in a different order.

use crate::{LinalgError, Result};
use pulp::Arch;
use std::sync::OnceLock;

/// The environment variable that fixes the instruction set.
pub const VARIABLE: &str = "STIEFEL_SIMD";

/// A set of vector instructions that the kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum InstructionSet {
    /// No vector instructions.
    Scalar,
    /// 128 bits, ARM.
    Neon,
    /// 256 bits and fused multiply-add, x86-64.
    Avx2,
    /// 512 bits, x86-64.
    Avx512,
}

impl InstructionSet {
    /// All sets, the widest last.
    pub const ALL: [Self; 4] = [Self::Scalar, Self::Neon, Self::Avx2, Self::Avx512];

    /// The name that `STIEFEL_SIMD` takes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Numbers in a register.
    pub(crate) fn lanes<T>(self) -> usize {
        let bytes = match self {
            Self::Avx512 => 64,
            Self::Avx2 => 32,
            Self::Neon => 16,
            Self::Scalar => size_of::<T>(),
        };
        bytes / size_of::<T>()
    }

    /// The sets that this CPU has, the widest last.
    pub fn available() -> Vec<Self> {
        let has = |set: &Self| set.arch().is_some();
        Self::ALL.into_iter().filter(has).collect()
    }

    /// The token that proves the CPU has the set.
    fn arch(self) -> Option<Arch> {
        match self {
            Self::Scalar => Some(Arch::Scalar),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => pulp::x86::V3::try_new().map(Arch::V3),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => pulp::x86::V4::try_new().map(Arch::V4),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => pulp::aarch64::Neon::try_new().map(Arch::Neon),
            #[allow(unreachable_patterns)]
            _ => None,
        }
    }
}

impl std::fmt::Display for InstructionSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The set that the kernels of this process use.
///
/// ```
/// use stiefel_linalg::{InstructionSet, instruction_set};
///
/// assert!(InstructionSet::available().contains(&instruction_set()?));
/// # Ok::<(), stiefel_linalg::LinalgError>(())
/// ```
///
/// # Errors
/// Where `STIEFEL_SIMD` names no set, or one that this CPU lacks.
pub fn instruction_set() -> Result<InstructionSet> {
    chosen().map(|(set, _)| set)
}

fn chosen() -> Result<(InstructionSet, Arch)> {
    static CHOSEN: OnceLock<Result<(InstructionSet, Arch)>> = OnceLock::new();
    match CHOSEN.get_or_init(|| choose(std::env::var_os(VARIABLE).as_deref())) {
        Ok(found) => Ok(*found),
        Err(error) => Err(error.clone()),
    }
}

/// The set that a value of the variable asks for.
fn choose(asked: Option<&std::ffi::OsStr>) -> Result<(InstructionSet, Arch)> {
    let available = InstructionSet::available();
    let set = match asked {
        None => available.last().copied(),
        Some(name) => available.iter().find(|set| name == set.name()).copied(),
    };
    let found = set.and_then(|set| Some((set, set.arch()?)));
    found.ok_or_else(|| {
        let name = asked.map_or_else(String::new, |a| a.to_string_lossy().into_owned());
        let names = available.iter().map(|set| set.name());
        LinalgError::InstructionSet {
            known: InstructionSet::ALL.iter().any(|set| set.name() == name),
            found: name,
            available: names.collect::<Vec<_>>().join(", "),
        }
    })
}

/// Returns the instructions of the chosen set.
///
/// # Errors
/// Where `STIEFEL_SIMD` names no set, or one that this CPU lacks.
#[doc(hidden)]
pub fn chosen_arch() -> Result<Arch> {
    chosen().map(|(_, arch)| arch)
}

/// Returns the instructions for rows of `n` numbers: half registers where a row does not fill a
/// whole one.
pub(crate) fn widest_for<T>(n: usize) -> Result<Arch> {
    let (set, arch) = chosen()?;
    match InstructionSet::Avx2.arch() {
        Some(half) if set == InstructionSet::Avx512 && n < set.lanes::<T>() => Ok(half),
        _ => Ok(arch),
    }
}

/// Returns the instructions for so many matrices, one in each lane, and how many lanes they have.
/// A lane's result does not depend on the other lanes, nor on their number, and half a register is
/// divided in half the time.
pub(crate) fn lanes_for<T>(matrices: usize) -> Result<(Arch, usize)> {
    let (set, arch) = chosen()?;
    let wide = set.lanes::<T>();
    let narrow = InstructionSet::Avx2;
    match narrow.arch() {
        Some(half) if set == InstructionSet::Avx512 && matrices <= narrow.lanes::<T>() => {
            Ok((half, narrow.lanes::<T>()))
        }
        _ => Ok((arch, wide)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &str) -> Result<InstructionSet> {
        choose(Some(name.as_ref())).map(|(set, _)| set)
    }

    #[test]
    fn without_a_wish_the_widest() {
        let widest = choose(None).expect("plain scalars at least").0;
        assert_eq!(Some(&widest), InstructionSet::available().last());
    }

    #[test]
    fn every_set_of_the_cpu_can_be_asked_for() {
        for set in InstructionSet::available() {
            assert_eq!(asked(set.name()), Ok(set));
        }
    }

    #[test]
    fn what_cannot_be_had_is_refused() {
        for name in ["", "AVX2", "sse9"] {
            let error = asked(name).expect_err("no such set").to_string();
            assert!(error.contains("no instruction set has"), "{error}");
            assert!(error.contains("scalar"), "{error}");
        }
        let absent = InstructionSet::ALL
            .into_iter()
            .find(|set| set.arch().is_none());
        let absent = absent.expect("no CPU has both NEON and AVX").name();
        let error = asked(absent).expect_err("not on this CPU").to_string();
        assert!(error.contains("this CPU does not have"), "{error}");
    }
}
