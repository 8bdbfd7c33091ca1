package oracle

import "slices"

// smallest removes from a failing list what it does not need to fail: half of it, a quarter, and so on down
// to single items. The rest still fails, and would not without any one of its items.
func smallest(list []int, fails func([]int) bool) []int {
	for size := (len(list) + 1) / 2; size > 0 && len(list) > 1; {
		less := false
		for at := 0; at < len(list); {
			some := slices.Delete(slices.Clone(list), at, min(at+size, len(list)))
			if len(some) > 0 && fails(some) {
				list, less = some, true
			} else {
				at += size
			}
		}
		if size > 1 {
			size = (size + 1) / 2
		} else if !less {
			break
		}
	}
	return list
}
