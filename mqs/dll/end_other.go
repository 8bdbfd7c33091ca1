//go:build !linux

package dll

import "syscall"

// endWithUs does nothing: there are no hosts here.
var endWithUs *syscall.SysProcAttr
