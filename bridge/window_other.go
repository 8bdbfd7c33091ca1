//go:build !linux

package bridge

import "errors"

// newWindow has no memory files to offer here: bulk bytes travel as base64.
func newWindow(int) (*window, error) { return nil, errors.ErrUnsupported }

func (*window) close() {}
