package render

import (
	"fmt"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// remarks returns what the other columns do not show: the actual values if they say more than the
// desired ones, and the extra text.
func remarks(class mqs.OpClass, op *mqs.PendingOperation) string {
	parts := op.ExtraText
	if actual := actualText(class, op); actual != "" {
		parts = append([]string{actual}, parts...)
	}
	return printable.Line(strings.Join(parts, "; "))
}

// actualText says which message a receive has got. For a send or an unexpected message, it names the
// actual values that are known and differ from the desired ones.
func actualText(class mqs.OpClass, op *mqs.PendingOperation) string {
	if class == mqs.PendingReceives {
		if !op.ActualLocalRank.Known && !op.ActualTag.Known && !op.ActualLength.Known {
			return ""
		}
		return fmt.Sprintf("got %s bytes from %s%s, tag %s", number(op.ActualLength), rank(op.ActualLocalRank), actualGlobal(op), number(op.ActualTag))
	}
	var parts []string
	if differs(op.ActualLocalRank, op.DesiredLocalRank) || differs(op.ActualGlobalRank, op.DesiredGlobalRank) {
		parts = append(parts, "rank "+rank(op.ActualLocalRank)+actualGlobal(op))
	}
	if differs(op.ActualTag, op.DesiredTag) {
		parts = append(parts, "tag "+number(op.ActualTag))
	}
	if differs(op.ActualLength, op.DesiredLength) {
		parts = append(parts, number(op.ActualLength)+" bytes")
	}
	if parts == nil {
		return ""
	}
	return "actual: " + strings.Join(parts, ", ")
}

// actualGlobal names the actual global rank if it differs from the local rank and no column shows it.
func actualGlobal(op *mqs.PendingOperation) string {
	if !differs(op.ActualGlobalRank, op.ActualLocalRank) || op.ActualLocalRank == op.DesiredLocalRank && op.ActualGlobalRank == op.DesiredGlobalRank {
		return ""
	}
	return fmt.Sprintf(" (global %s)", rank(op.ActualGlobalRank))
}

// differs says whether an actual value is known and is not the desired one.
func differs[T comparable](actual, desired mqs.Maybe[T]) bool {
	return actual.Known && actual != desired
}
