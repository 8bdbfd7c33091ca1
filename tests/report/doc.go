// Package report tests what `mpi-queues report' makes of whole jobs: the page in headless Chromium (build
// tag browser), and the report of a job with a hundred thousand ranks.
package report
