package host

import (
	"runtime"
	"testing"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// The leaf answers what it has, to the thread on which the DLL is called and with results on its stack, and leaves
// everything else to the general call-backs with the arguments as they were.
func TestLeaf(t *testing.T) { onThread(func() { testLeaf(t) }) }

// onThread runs f on a thread whose stack has room above it for others: not the first one.
func onThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if unix.Gettid() == unix.Getpid() {
			onThread(f)
			return
		}
		f()
	}()
	<-done
}

func testLeaf(t *testing.T) {
	const general = 77
	var seen [4]uintptr
	calls := 0
	four := purego.NewCallback(func(a, b, c, d uintptr) uintptr {
		seen, calls = [4]uintptr{a, b, c, d}, calls+1
		return general
	})
	one := purego.NewCallback(func(a uintptr) uintptr {
		seen, calls = [4]uintptr{a}, calls+1
		return general
	})
	h := &host{}
	h.tables.process.FetchData, h.tables.process.TargetToHost, h.tables.process.GetImage = four, four, one
	h.tables.basic.GetProcessInfo, h.tables.basic.GetImageInfo = one, one
	h.newLeaf()
	if h.leaf == nil {
		t.Error("there is no memory for it")
		return
	}

	const start = 0x10000
	of := inferiortest.New()
	of.Memory[start] = make([]byte, 2*leafPageSize)
	for i := range of.Memory[start] {
		of.Memory[start][i] = byte(i*7 + i>>8)
	}
	p := h.newProcess(h.newImage("x"), inferior.Info{})
	p.info, p.image.info = 0x1234, 0x5678
	p.reader = inferior.NewReader(t.Context(), of)
	h.leaf.follow(p)
	h.leaf.keep(p, start+8)

	// A place that is as if it were the stack of the functions that call back: above where that stands now.
	const room = 1 << 16
	var result uintptr
	errno := unix.EEXIST
	for above := uintptr(1 << 16); errno == unix.EEXIST && above < 1<<36; above += 1 << 20 {
		result, _, errno = unix.Syscall6(unix.SYS_MMAP, (h.leaf.top+above)&^(leafPageSize-1), room, unix.PROT_READ|unix.PROT_WRITE,
			unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED_NOREPLACE, ^uintptr(0), 0)
	}
	if errno != 0 {
		t.Errorf("there is no place above the stack: %v", errno)
		return
	}
	defer func() { _, _, _ = unix.Syscall(unix.SYS_MUNMAP, result, room, 0) }()
	h.leaf.top = result + room
	place := at(result, room)

	call := func(f uintptr, args ...uintptr) (uintptr, bool) {
		t.Helper()
		before := calls
		r, _, _ := purego.SyscallN(f, args...)
		if calls != before {
			for i, a := range args {
				if seen[i] != a {
					t.Errorf("argument %d is %#x, not %#x", i, seen[i], a)
				}
			}
			return r, false
		}
		return r, true
	}
	fetch, toHost := h.tables.process.FetchData, h.tables.process.TargetToHost
	handle, image := uintptr(p.handle), uintptr(p.image.handle)

	for _, n := range []uintptr{1, 2, 3, 4, 5, 8, 9, 64, leafPageSize - 16} {
		clear(place)
		r, own := call(fetch, handle, start+16, n, result)
		if r != abi.OK || !own || string(place[:n]) != string(of.Memory[start][16:16+n]) || place[n] != 0 {
			t.Errorf("%d bytes: %d, by itself: %t", n, r, own)
		}
	}
	for name, args := range map[string][]uintptr{
		"no process":              {0, start + 16, 8, result},
		"another process":         {handle + 16, start + 16, 8, result},
		"no bytes":                {handle, start + 16, 0, result},
		"less than no bytes":      {handle, start + 16, 1<<32 - 1, result},
		"more than a page":        {handle, start, leafPageSize + 1, result},
		"over the end of a page":  {handle, start + leafPageSize - 4, 8, result},
		"a page that is not kept": {handle, start + leafPageSize, 8, result},
		"a page in its place":     {handle, start + 16 + leafPages*leafPageSize, 8, result},
		"address 0":               {handle, 0, 8, result},
		"result nowhere":          {handle, start + 16, 8, 0},
		"result below the stack":  {handle, start + 16, 8, 0x1000},
		"result behind the stack": {handle, start + 16, 8, result + room - 7},
		"result at the last byte": {handle, start + 16, 8, ^uintptr(0) - 3},
	} {
		if r, own := call(fetch, args...); own || r != general {
			t.Errorf("%s: %d, by itself: %t", name, r, own)
		}
	}

	copy(place, "abcdefgh")
	for _, n := range []uintptr{1, 4, 8} {
		clear(place[100:200])
		if _, own := call(toHost, handle, result, result+100, n); !own || string(place[100:100+n]) != "abcdefgh"[:n] || place[100+n] != 0 {
			t.Errorf("%d bytes to the host: by itself: %t, %q", n, own, place[100:110])
		}
	}
	for name, args := range map[string][]uintptr{
		"no process":      {0, result, result + 100, 8},
		"another process": {handle + 16, result, result + 100, 8},
		"another size":    {handle, result, result + 100, 5},
		"no bytes":        {handle, result, result + 100, 0},
		"from nowhere":    {handle, 8, result + 100, 8},
		"to nowhere":      {handle, result, 8, 8},
		"from behind":     {handle, result + room - 7, result, 8},
		"to behind":       {handle, result, result + room - 7, 8},
	} {
		if r, own := call(toHost, args...); own || r != general {
			t.Errorf("to the host, %s: %d, by itself: %t", name, r, own)
		}
	}

	infos := map[uintptr]struct{ handle, want uintptr }{
		h.tables.basic.GetProcessInfo: {handle, 0x1234},
		h.tables.basic.GetImageInfo:   {image, 0x5678},
		h.tables.process.GetImage:     {handle, image},
	}
	for f, c := range infos {
		if r, own := call(f, c.handle); !own || r != c.want {
			t.Errorf("%#x, by itself: %t", r, own)
		}
		for _, other := range []uintptr{0, c.handle + 16} {
			if r, own := call(f, other); own || r != general {
				t.Errorf("handle %#x: %#x, by itself: %t", other, r, own)
			}
		}
	}

	// Bytes in another order are not for the leaf, but for the fetch.
	p.target.BigEndian = true
	h.leaf.remember(p)
	if _, own := call(toHost, handle, result, result+100, 8); own {
		t.Error("bytes in another order are copied as they are")
	}
	if _, own := call(fetch, handle, start+16, 8, result); !own {
		t.Error("bytes in another order are not fetched")
	}

	// Another thread is told by what it is, and a process that is not open any more is nobody's.
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		before := calls
		_, _, _ = purego.SyscallN(fetch, handle, start+16, 8, result)
		for f, c := range infos {
			_, _, _ = purego.SyscallN(f, c.handle)
		}
		done <- calls == before+1+len(infos)
	}()
	if !<-done {
		t.Error("another thread is answered")
	}
	h.leaf.follow(nil)
	for f, c := range infos {
		for _, handle := range []uintptr{c.handle, 0} {
			if _, own := call(f, handle); own {
				t.Error("there is no process, and something is known of it")
			}
		}
	}
	if _, own := call(fetch, handle, start+16, 8, result); own {
		t.Error("there is no process, and something is read of it")
	}
	h.leaf.follow(p)
	if _, own := call(fetch, handle, start+16, 8, result); own {
		t.Error("what was read of the process when it stood before is read again")
	}
}
