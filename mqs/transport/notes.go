package transport

import "fmt"

// OffloadNote says what is missing where a network card matches messages, and by which setting of a job's environment
// it does not.
func OffloadNote(setting string) string {
	return fmt.Sprintf("a network card matches messages too: those that it holds are not among the unexpected ones. With %s in a job's environment it holds none", setting)
}

// LostNote says how many sends are not shown since a transport has written over what told their communicator.
func LostNote(t Transport, sends int) string {
	return fmt.Sprintf("%d sends that the receiver has answered are not shown: %s does not keep which communicator they are on", sends, t.Name())
}
