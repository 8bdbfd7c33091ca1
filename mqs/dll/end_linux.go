package dll

import "syscall"

// endWithUs ends a host when the helper ends. A host that has stopped itself would not notice that.
var endWithUs = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
