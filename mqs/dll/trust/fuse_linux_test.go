package trust

import (
	"encoding/binary"
	"errors"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// The file system of a program of user 1234, who says that all is root's.
func TestServedFile(t *testing.T) {
	dir, _ := shelf(t)
	mount := dir + "/mount"
	must(t, os.Mkdir(mount, 0o755))
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err == nil {
		err = unix.Mount("test", mount, "fuse.test", unix.MS_NOSUID|unix.MS_NODEV,
			"fd="+strconv.Itoa(fd)+",rootmode=40000,user_id=1234,group_id=0,allow_other")
	}
	if err != nil {
		t.Skip("only root can mount what another user serves, where there is FUSE: ", err)
	}
	defer func() { must(t, unix.Unmount(mount, unix.MNT_DETACH), unix.Close(fd)) }()
	go serveFUSE(fd)
	library := mount + "/dll.so"
	_, err = File(library, nil)
	if got, want := refusal(err, dir), "mount is on a file system that a program of user 1234 serves"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if real, err := File(library, []string{mount}); real != library || err != nil {
		t.Error(real, err)
	}
}

// serveFUSE answers the kernel until nothing is mounted any more: the root, node
// 1, is a folder, and every name in it is a program, node 2. The structures are
// those of <linux/fuse.h>.
func serveFUSE(fd int) {
	const (
		opLookup, opGetAttr, opInit = 1, 3, 26
		header                      = 16 // of fuse_out_header
	)
	order := binary.NativeEndian
	attributes := func(node uint64) []byte {
		a := make([]byte, 88) // fuse_attr, whose owner and group stay 0
		mode := uint32(unix.S_IFDIR | 0o755)
		if node == 2 {
			mode = unix.S_IFREG | 0o755
		}
		order.PutUint64(a, node)
		order.PutUint32(a[60:], mode)
		order.PutUint32(a[64:], 1)
		return a
	}
	request := make([]byte, 1<<17)
	for {
		if _, err := unix.Read(fd, request); errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil {
			return
		}
		answer := make([]byte, header)
		switch node := order.Uint64(request[16:]); order.Uint32(request[4:]) {
		case opInit:
			body := make([]byte, 64) // fuse_init_out
			order.PutUint32(body, 7)
			order.PutUint32(body[4:], 31)
			order.PutUint32(body[20:], 1<<16)
			answer = append(answer, body...)
		case opGetAttr:
			answer = append(append(answer, make([]byte, 16)...), attributes(node)...)
		case opLookup:
			body := make([]byte, 40) // fuse_entry_out up to its attributes
			order.PutUint64(body, 2)
			answer = append(append(answer, body...), attributes(2)...)
		default:
			missing := -int32(unix.ENOSYS)
			order.PutUint32(answer[4:], uint32(missing))
		}
		order.PutUint32(answer, uint32(len(answer)))
		copy(answer[8:header], request[8:16])
		if _, err := unix.Write(fd, answer); err != nil {
			return
		}
	}
}
