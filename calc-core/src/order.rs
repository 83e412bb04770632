//! Insertion sort for short lists. Each instance of the standard library's sort adds kilobytes to the web page's
//! download, and none of our lists has more rows than the catalog has devices.

/// Sorts by insertion; equal rows keep their order.
pub fn sort_short<T>(rows: &mut [T], is_before: impl Fn(&T, &T) -> bool) {
    for start in 1..rows.len() {
        let mut place = start;
        while place > 0 && is_before(&rows[place], &rows[place - 1]) {
            rows.swap(place, place - 1);
            place -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sort_short;

    #[test]
    fn rows_are_in_order_and_equal_ones_stay_as_they_were() {
        let mut rows = [(3, 'a'), (1, 'b'), (3, 'c'), (2, 'd'), (1, 'e')];
        sort_short(&mut rows, |a, b| a.0 < b.0);
        assert_eq!(rows, [(1, 'b'), (1, 'e'), (2, 'd'), (3, 'a'), (3, 'c')]);
    }
}
