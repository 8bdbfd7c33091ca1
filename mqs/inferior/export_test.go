package inferior

// What the tests from outside hold the page cache against.
const (
	SmallFetches = smallFetches
	LargeBlock   = largeBlock
	PageSize     = pageSize
)
