//! Which vector instructions are used: found out once, at run time.

use std::sync::OnceLock;

static BEST: OnceLock<Level> = OnceLock::new();

/// A path through the kernels. Every path gives the same bits, only at another speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Plain 64-bit words.
    Scalar,
    /// 256-bit vectors.
    Avx2,
    /// 512-bit vectors with their own popcount.
    Avx512,
}

impl Level {
    /// The path that is used: the best this CPU has, unless [`Level::limit`] said less.
    pub fn best() -> Self {
        *BEST.get_or_init(|| Self::available().last().copied().unwrap_or(Self::Scalar))
    }

    /// Uses nothing better than `max` in this process, for measurements; gives the path that is used. The first use of any kernel
    /// decides, so call it before.
    pub fn limit(max: Self) -> Self {
        *BEST.get_or_init(|| {
            Self::available().into_iter().rfind(|level| *level <= max).unwrap_or(Self::Scalar)
        })
    }

    /// All paths this CPU has, the plain one first.
    pub fn available() -> Vec<Self> {
        [Self::Scalar, Self::Avx2, Self::Avx512].into_iter().filter(|level| level.is_available()).collect()
    }

    /// True if this CPU has every instruction of the path.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar => true,
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt"),
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vpopcntdq")
                    && is_x86_feature_detected!("popcnt")
            }
        }
    }

    /// True if this CPU has every instruction of the path.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn is_available(self) -> bool {
        self == Self::Scalar
    }
}
