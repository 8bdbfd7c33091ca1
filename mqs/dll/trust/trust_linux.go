package trust

import "golang.org/x/sys/unix"

// hasACL is true if a file has an access list beside its mode, or may have.
func hasACL(path string) bool {
	_, err := unix.Lgetxattr(path, "system.posix_acl_access", nil)
	return err != unix.ENODATA && err != unix.ENOTSUP
}
