//go:build browser

package report

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// browser is a headless Chromium, driven through the pipes of its DevTools
// protocol: a page is little more than load, evaluate and what went wrong, which
// needs no library.
type browser struct {
	t       *testing.T
	send    *os.File
	replies chan message
	session string
	last    int
	// complaints are what the page wrote to the console, and its errors.
	complaints []string
}

// message is a reply or an event of the protocol.
type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

const patience = time.Minute

func startBrowser(t *testing.T) *browser {
	t.Helper()
	in, send, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	receive, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := os.MkdirTemp("", "mpi-queues-chromium-")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
		"--window-size=1280,1600", "--hide-scrollbars", "--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{in, out}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: install the package chromium", err)
	}
	_, _ = in.Close(), out.Close()
	b := &browser{t: t, send: send, replies: make(chan message, 1000)}
	go b.listen(receive)
	t.Cleanup(func() {
		b.session = ""
		_, _ = b.try("Browser.close", nil)
		late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		late.Stop()
		_, _ = send.Close(), receive.Close()
		_ = os.RemoveAll(profile) // what its processes still write there is of no use
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// listen takes messages apart: each ends with a zero byte.
func (b *browser) listen(receive *os.File) {
	defer close(b.replies)
	r := bufio.NewReader(receive)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) == nil {
			b.replies <- m
		}
	}
}

// try calls a method and waits for its reply.
func (b *browser) try(method string, params any) (json.RawMessage, error) {
	b.last++
	request := map[string]any{"id": b.last, "method": method}
	if params != nil {
		request["params"] = params
	}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	text, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	if _, err := b.send.Write(append(text, 0)); err != nil {
		return nil, err
	}
	m, err := b.await(func(m *message) bool { return m.ID == b.last })
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", method, err)
	case m.Error != nil:
		return nil, fmt.Errorf("%s: %s", method, m.Error.Message)
	}
	return m.Result, nil
}

// await waits for a message, and keeps what the page complains of meanwhile.
func (b *browser) await(is func(*message) bool) (*message, error) {
	end := time.After(patience)
	for {
		select {
		case m, ok := <-b.replies:
			switch {
			case !ok:
				return nil, errors.New("chromium has ended")
			case m.Method == "Runtime.exceptionThrown", m.Method == "Runtime.consoleAPICalled", m.Method == "Log.entryAdded", m.Method == "Page.javascriptDialogOpening":
				b.complaints = append(b.complaints, m.Method+" "+string(m.Params))
			}
			if is(&m) {
				return &m, nil
			}
		case <-end:
			return nil, errors.New("chromium does not answer")
		}
	}
}

func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	text, err := b.try(method, params)
	if err == nil && result != nil {
		err = json.Unmarshal(text, result)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// open loads a file. The page has run its script then.
func (b *browser) open(path string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	if _, err := b.await(func(m *message) bool { return m.Method == "Page.loadEventFired" }); err != nil {
		b.t.Fatalf("%s: %v", path, err)
	}
}

// evaluate is the value of an expression in the page.
func evaluate[T any](b *browser, expression string) T {
	b.t.Helper()
	var reply struct {
		Result           struct{ Value T }
		ExceptionDetails *json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &reply)
	if reply.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, *reply.ExceptionDetails)
	}
	return reply.Result.Value
}

// is holds the value of an expression against what it should be.
func is[T comparable](b *browser, expression string, want T) {
	b.t.Helper()
	if got := evaluate[T](b, expression); got != want {
		b.t.Errorf("%s is %v, not %v", expression, got, want)
	}
}

// picture keeps what the page looks like in $REPORT_PICTURES, if that is set.
func (b *browser) picture(name string) {
	b.t.Helper()
	folder := os.Getenv("REPORT_PICTURES")
	if folder == "" {
		return
	}
	for _, scheme := range []string{"light", "dark"} {
		b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
		var shot struct{ Data string }
		b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &shot)
		png, err := base64.StdEncoding.DecodeString(shot.Data)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name+"-"+scheme+".png"), png, 0o666)
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
}
