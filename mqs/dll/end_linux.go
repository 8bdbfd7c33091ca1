package dll

import "syscall"

// endWithUs ends a host when the helper does: a host that has stopped itself
// would not notice.
var endWithUs = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
