package live

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Patience is for how long a condition may stay false while the processors have time to spare. A loaded machine does not use
// it up: what is waited for has not had its turn there. It ends what hangs, and is far from what the slowest machine takes.
const Patience = 2 * time.Minute

// longest is how many times its limit a wait lasts at most, however loaded the machine is.
const longest = 5

// patience is that of one wait.
type patience struct {
	limit       time.Duration
	began, last time.Time
	spent       time.Duration
	at          processors
	now         func() time.Time
	read        func() processors
}

func newPatience(limit time.Duration) *patience {
	return startPatience(limit, time.Now, readProcessors)
}

func startPatience(limit time.Duration, now func() time.Time, read func() processors) *patience {
	return &patience{limit: limit, began: now(), last: now(), at: read(), now: now, read: read}
}

// look is how often a wait looks at what the processors do.
const look = time.Second

// isOver reports whether the wait has lasted too long.
func (p *patience) isOver() bool {
	now := p.now()
	if now.Sub(p.last) < min(look, p.limit) {
		return p.spent >= p.limit
	}
	at := p.read()
	p.spent += time.Duration(float64(now.Sub(p.last)) * at.spare(p.at))
	p.last, p.at = now, at
	return p.spent >= p.limit || now.Sub(p.began) >= longest*p.limit
}

// processors is what all processors of the machine have done since it was started, in ticks. busy is what programs of at least
// this one's priority have had. Ranks that look for messages all the time have a lower one, and count by rivals: how many
// processors' worth of others a program has to share one with.
type processors struct {
	busy, all uint64
	rivals    float64
}

// spare returns which share of the time since an earlier moment was to be had.
func (p processors) spare(earlier processors) float64 {
	if p.all <= earlier.all || p.busy < earlier.busy {
		return 1 // the system does not say
	}
	return (1 - float64(p.busy-earlier.busy)/float64(p.all-earlier.all)) / (1 + p.rivals)
}

func readProcessors() processors {
	text, _ := os.ReadFile("/proc/stat")
	load, _ := os.ReadFile("/proc/loadavg")
	own, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	isNice := err == nil && own < 20 // the system call counts from 40 down to 1
	p := parseProcessors(string(text), isNice)
	p.rivals = rivals(string(load), runtime.NumCPU(), isNice)
	return p
}

// rivals are those of a program by what runs now, the fourth word of /proc/loadavg (proc_loadavg(5)). Ten steps of
// priority are a tenth of the weight (sched(7)).
func rivals(load string, count int, isNice bool) float64 {
	var running, all int
	if words := strings.Fields(load); len(words) < 4 {
		return 0
	} else if n, err := fmt.Sscanf(words[3], "%d/%d", &running, &all); err != nil || n != 2 {
		return 0
	}
	each := float64(max(running-1, 0)) / float64(count) // this program runs, too
	if isNice {
		return each
	}
	return each / 10
}

// parseProcessors reads the first line of /proc/stat (proc_stat(5)). What the kernel has done for a program counts as
// spare, since it is not known for which.
func parseProcessors(text string, isNice bool) (p processors) {
	line, _, _ := strings.Cut(text, "\n")
	const user, nice, steal, guest = 1, 2, 8, 9
	for i, word := range strings.Fields(line) {
		n, err := strconv.ParseUint(word, 10, 64)
		if err != nil || i >= guest { // a guest's time is in the user's
			continue
		}
		p.all += n
		if i == user || i == steal || i == nice && isNice {
			p.busy += n
		}
	}
	return p
}

// patient returns a context that ends when a wait of so long does.
func patient(parent context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	go func() {
		tick := time.NewTicker(look)
		defer tick.Stop()
		for p := newPatience(limit); !p.isOver(); {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
		cancel()
	}()
	return ctx, cancel
}

// AfterPatience calls a function when [Patience] is over, unless it is stopped before.
func AfterPatience(call func()) (stop func()) {
	ctx, cancel := patient(context.Background(), Patience)
	var once sync.Once
	go func() {
		<-ctx.Done()
		once.Do(call)
	}()
	return func() {
		once.Do(func() {})
		cancel()
	}
}

// Until polls a condition until it is true; it fails the test, with what was
// waited for, when [Patience] is over.
func Until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	began := time.Now()
	if !Soon(condition) {
		t.Fatalf("waited in vain, for %s: %s", time.Since(began).Round(time.Second), what)
	}
}

// Soon polls a condition until it is true, or returns false when [Patience] is over.
func Soon(condition func() bool) bool {
	p := newPatience(Patience)
	return poll(p.isOver, condition)
}

// Within is [Soon] with so much time, whatever the processors do: for what is no verdict.
func Within(limit time.Duration, condition func() bool) bool {
	deadline := time.Now().Add(limit)
	return poll(func() bool { return time.Now().After(deadline) }, condition)
}

func poll(isOver, condition func() bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for ; !isOver(); <-tick.C {
		if condition() {
			return true
		}
	}
	return condition()
}
