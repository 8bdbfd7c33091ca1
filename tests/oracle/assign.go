package oracle

import "math"

// assign pairs rows with columns at the least total cost. It returns the column of each row, or -1 for a
// row that stays alone. Staying alone has a cost of its own, for rows and columns. It uses the Hungarian
// method with potentials (Kuhn, 1955; Munkres, 1957).
func assign(rows, columns int, cost func(row, column int) int, row, column func(int) int) []int {
	n := rows + columns
	price := func(i, k int) int {
		switch {
		case i < rows && k < columns:
			return cost(i, k)
		case i < rows:
			return row(i)
		case k < columns:
			return column(k)
		}
		return 0
	}
	// Rows and columns are numbered from 1, and 0 stands for none.
	u, v, of, way := make([]int, n+1), make([]int, n+1), make([]int, n+1), make([]int, n+1)
	for i := 1; i <= n; i++ {
		of[0] = i
		least, used := make([]int, n+1), make([]bool, n+1)
		for k := range least {
			least[k] = math.MaxInt
		}
		at := 0
		for of[at] != 0 {
			used[at] = true
			next, delta := 0, math.MaxInt
			for k := 1; k <= n; k++ {
				if used[k] {
					continue
				}
				if c := price(of[at]-1, k-1) - u[of[at]] - v[k]; c < least[k] {
					least[k], way[k] = c, at
				}
				if least[k] < delta {
					next, delta = k, least[k]
				}
			}
			for k := range used {
				if used[k] {
					u[of[k]] += delta
					v[k] -= delta
				} else if least[k] < math.MaxInt {
					least[k] -= delta
				}
			}
			at = next
		}
		for at != 0 {
			of[at] = of[way[at]]
			at = way[at]
		}
	}
	out := make([]int, rows)
	for i := range out {
		out[i] = -1
	}
	for k := 1; k <= columns; k++ {
		if of[k] <= rows {
			out[of[k]-1] = k - 1
		}
	}
	return out
}
