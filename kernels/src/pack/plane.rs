//! Cache-line-aligned bytes, so that no 64-byte load crosses a line.

/// Bytes of a cache line.
pub const LINE: usize = 64;

/// Bytes whose first one is aligned to a cache line.
pub struct Plane {
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl Plane {
    /// `len` zero bytes.
    pub fn zeroed(len: usize) -> Self {
        let memory = vec![0; len + LINE];
        let start = memory.as_ptr().align_offset(LINE);
        Self { memory, start, len }
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.len]
    }

    /// All bytes, writable.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.len]
    }
}

impl Clone for Plane {
    /// Allocates again, because the alignment depends on the allocation.
    fn clone(&self) -> Self {
        let mut copy = Self::zeroed(self.len);
        copy.bytes_mut().copy_from_slice(self.bytes());
        copy
    }
}

impl core::fmt::Debug for Plane {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Plane({} B)", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_and_its_copy_start_on_a_cache_line() {
        for len in [0, 1, 63, 64, 1000] {
            let plane = Plane::zeroed(len);
            let copy = plane.clone();
            for plane in [&plane, &copy] {
                assert_eq!(plane.bytes().as_ptr().align_offset(LINE), 0);
                assert_eq!(plane.bytes().len(), len);
            }
        }
    }
}
