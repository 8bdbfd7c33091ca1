package helper

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// TakeStdio takes standard input and output for the protocol: whatever else
// the process prints (a vendor's DLL does) goes to stderr from now on.
func TakeStdio() (io.ReadWriteCloser, error) {
	in, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	out, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer func() { _ = null.Close() }()
	if err := unix.Dup2(int(null.Fd()), 0); err != nil {
		return nil, err
	}
	if err := unix.Dup2(2, 1); err != nil {
		return nil, err
	}
	return &stdio{os.NewFile(uintptr(in), "stdin"), os.NewFile(uintptr(out), "stdout")}, nil
}

type stdio struct{ in, out *os.File }

func (s *stdio) Read(b []byte) (int, error)  { return s.in.Read(b) }
func (s *stdio) Write(b []byte) (int, error) { return s.out.Write(b) }

func (s *stdio) Close() error {
	_ = s.in.Close()
	return s.out.Close()
}
