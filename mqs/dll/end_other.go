//go:build !linux

package dll

import "syscall"

// endWithUs is nothing: there are no hosts here.
var endWithUs *syscall.SysProcAttr
