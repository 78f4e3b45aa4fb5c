//! What can be sorted.

/// A small value with an order and a fixed size on disk.
pub trait Record: Copy + Ord + Send {
    /// Its size on disk.
    const BYTES: usize;

    /// Writes itself to exactly [`Record::BYTES`] bytes.
    fn write(&self, to: &mut [u8]);

    /// The value that was written.
    fn read(from: &[u8]) -> Self;
}

macro_rules! integer {
    ($($integer:ty)*) => {$(
        impl Record for $integer {
            const BYTES: usize = size_of::<$integer>();

            #[inline]
            fn write(&self, to: &mut [u8]) {
                to.copy_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn read(from: &[u8]) -> Self {
                Self::from_le_bytes(from.try_into().expect("the caller cuts as many bytes"))
            }
        }
    )*};
}

integer!(u8 u16 u32 u64 u128);

/// A tuple is its members one after the other, without padding.
macro_rules! tuple {
    ($($member:ident $place:tt),*) => {
        impl<$($member: Record),*> Record for ($($member,)*) {
            const BYTES: usize = 0 $(+ $member::BYTES)*;

            #[inline]
            fn write(&self, to: &mut [u8]) {
                let rest = to;
                $(
                    let (own, rest) = rest.split_at_mut($member::BYTES);
                    self.$place.write(own);
                )*
                debug_assert!(rest.is_empty());
            }

            #[inline]
            fn read(from: &[u8]) -> Self {
                let rest = from;
                $(
                    #[allow(non_snake_case)]
                    let ($member, rest) = rest.split_at($member::BYTES);
                )*
                debug_assert!(rest.is_empty());
                ($($member::read($member),)*)
            }
        }
    };
}

tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    fn check<T: Record + Debug>(record: T, expected: &[u8]) {
        let mut bytes = vec![0; T::BYTES];
        record.write(&mut bytes);
        assert_eq!(bytes, expected);
        assert_eq!(T::read(&bytes), record);
    }

    #[test]
    fn records_take_no_padding_and_are_read_back() {
        check((0x0102_0304_0506_0708u64, 0x0a0b_0c0du32), &[8, 7, 6, 5, 4, 3, 2, 1, 13, 12, 11, 10]);
        check((1u32, 2u32), &[1, 0, 0, 0, 2, 0, 0, 0]);
        check((1u128 << 120, 2u32), &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0]);
        check((9u8, 1u64, 2u32), &[9, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0]);
        check((1u32, 2u32, 3u32, 4u32), &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]);
        check(7u16, &[7, 0]);
    }
}
