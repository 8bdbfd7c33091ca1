// Package report tests what `mpi-queues report` makes of whole jobs: the page in
// headless Chromium (build tag browser), and a job of a hundred thousand ranks.
package report
