/*
 * cudart: stands in for the run time of CUDA (libcudart.so) where there is no GPU. Its stream is
 * never done.
 */
#include <unistd.h>

int cudaStreamSynchronize(void *stream) {
  while (!stream) pause();
  return 0;
}
